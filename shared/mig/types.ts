/**
 * The vocabulary of MIG, in NVIDIA's words. Plain immutable data: it travels over JSON-RPC as it stands.
 *
 * A GPU's memory is divided into memory slices (8 on most models, 12 on RTX PRO 6000, 4 on A30).
 * A GPU instance covers `size` memory slices from `start`; a compute instance covers compute slices
 * inside a GPU instance.
 */

export interface Placement {
  /** First slice covered. */
  readonly start: number;
  /** Number of slices covered. */
  readonly size: number;
}

/** Which media engines a profile brings: `extended` is `+me`, `all` is `+me.all`, `none` is `-me`. */
export type MediaEngines = "default" | "extended" | "all" | "none";

export interface ComputeInstanceProfile {
  /** `nvidia-smi mig -lcip` "Profile ID". */
  readonly id: number;
  /** As the driver prints it without "MIG ": `1c.3g.40gb`, or `3g.40gb` for the one that fills the instance. */
  readonly name: string;
  readonly computeSlices: number;
  readonly maxInstances: number;
  /** Compute slices inside the GPU instance at which one may start (`-lcipp`). */
  readonly starts: readonly number[];
  readonly multiprocessors: number | null;
}

export interface GpuInstanceProfile {
  /** `nvidia-smi mig -lgip` "ID", the number that `-cgi` takes. Names drift between drivers, ids do not. */
  readonly id: number;
  /** As the driver prints it without "MIG ": `3g.40gb`, `1g.10gb+me`. */
  readonly name: string;
  readonly computeSlices: number;
  /** Width of every placement. */
  readonly memorySlices: number;
  readonly memoryMiB: number | null;
  readonly multiprocessors: number | null;
  readonly maxInstances: number;
  /** Memory slices at which an instance may start (`-lgipp`), ascending. */
  readonly starts: readonly number[];
  readonly media: MediaEngines;
  readonly graphics: boolean;
  readonly engines: {
    readonly copy: number | null;
    readonly decoder: number | null;
    readonly encoder: number | null;
    readonly jpeg: number | null;
    readonly opticalFlow: number | null;
  };
  /** Ascending by id; the one with `computeSlices` equal to the GPU instance's is what `-C` makes. */
  readonly computeInstanceProfiles: readonly ComputeInstanceProfile[];
}

/** What one GPU model can be divided into. */
export interface GpuGeometry {
  /** Stable key of our table, `H100-SXM5-80GB`; for a model that only the driver knows, the product name. */
  readonly key: string;
  readonly memorySlices: number;
  readonly computeSlices: number;
  /** Where the numbers come from; what a live driver says overrides the table. */
  readonly source: "table" | "driver" | "driver-and-table";
  readonly profiles: readonly GpuInstanceProfile[];
}

/** A compute instance in a layout. */
export interface LayoutComputeInstance {
  readonly profileId: number;
  /** First compute slice inside the GPU instance. */
  readonly start: number;
  /** Compute instance ID, where it exists already. */
  readonly id?: number;
}

/** A GPU instance in a layout. */
export interface LayoutInstance {
  readonly profileId: number;
  /** First memory slice. */
  readonly start: number;
  /** GPU instance ID, where it exists already. Absent in a wish. */
  readonly id?: number;
  /**
   * Empty in a current layout: an instance without compute instance, which nothing can use.
   * Absent in a wish: one compute instance that fills the GPU instance.
   */
  readonly computeInstances?: readonly LayoutComputeInstance[];
  /** A process, lease or job holds it: it is never destroyed. */
  readonly inUse?: boolean;
}

/** How one GPU is divided, or should be. */
export interface Layout {
  readonly migEnabled: boolean;
  /** Ascending by start. */
  readonly instances: readonly LayoutInstance[];
}

/** Why a layout or a plan is refused; the console turns it into a sentence, with what would fit instead. */
export type RuleViolation =
  | { readonly rule: "unknown-profile"; readonly profileId: number; readonly known: readonly string[] }
  /** A preset or a saved layout names a profile that this GPU does not have. */
  | { readonly rule: "unknown-profile-name"; readonly profile: string; readonly known: readonly string[] }
  | {
      readonly rule: "illegal-start";
      readonly profile: string;
      readonly start: number;
      readonly legalStarts: readonly number[];
    }
  | {
      readonly rule: "overlap";
      readonly profile: string;
      readonly start: number;
      readonly otherProfile: string;
      readonly otherStart: number;
      readonly otherInUse: boolean;
    }
  | {
      readonly rule: "too-many";
      readonly profile: string;
      readonly maxInstances: number;
      /** How many a preset asks for in all; absent where one more is put to those that are there. */
      readonly wanted?: number;
    }
  | { readonly rule: "media-engines"; readonly profile: string; readonly otherProfile: string }
  | { readonly rule: "compute-slices"; readonly wanted: number; readonly available: number }
  | {
      readonly rule: "unknown-compute-profile";
      readonly profile: string;
      readonly profileId: number;
      readonly known: readonly string[];
    }
  | {
      readonly rule: "illegal-compute-start";
      readonly profile: string;
      readonly start: number;
      readonly legalStarts: readonly number[];
    }
  | { readonly rule: "compute-overlap"; readonly profile: string; readonly start: number }
  | {
      readonly rule: "instance-in-use";
      readonly profile: string;
      readonly start: number;
      readonly gpuInstanceId: number | null;
    }
  | { readonly rule: "mig-mode-in-use"; readonly instances: number }
  /** Instances were wanted on a GPU that is to be left undivided. */
  | { readonly rule: "mig-mode-off"; readonly instances: number }
  /** Each profile is legal on its own, but together they do not fit around what stays. */
  | { readonly rule: "no-room"; readonly profile: string; readonly wanted: number; readonly fits: number }
  | { readonly rule: "not-mig-capable"; readonly model: string };

/** A refusal: the rule, a plain sentence in English, and what would be legal instead. */
export interface Refusal {
  readonly violation: RuleViolation;
  readonly sentence: string;
  /** What NVIDIA's tool would answer, where it has words for it: "Insufficient Resources". */
  readonly driverWords: string | null;
  /** Legal alternatives, the closest first; empty where there is none. */
  readonly instead: readonly { readonly profile: string; readonly start: number }[];
}

/**
 * One step of a plan. Each is one thing that can fail or be undone on its own, and
 * becomes the commands of `commandsOf`.
 */
export type PlanStep =
  | {
      readonly kind: "set-mig-mode";
      readonly enabled: boolean;
      /** Ampere needs a GPU reset for the mode to take effect; Hopper and newer do not. */
      readonly needsReset: boolean;
    }
  | {
      readonly kind: "destroy-instance";
      readonly gpuInstanceId: number;
      readonly profileId: number;
      readonly profile: string;
      readonly placement: Placement;
      /** Destroyed first, in this order. */
      readonly computeInstances: readonly LayoutComputeInstance[];
    }
  | {
      readonly kind: "create-instance";
      readonly profileId: number;
      readonly profile: string;
      readonly placement: Placement;
      /** One that fills the instance is made together with it (`-C`); others after it, one by one. */
      readonly computeInstances: readonly LayoutComputeInstance[];
      /** Whether `computeInstances` is the one that fills it, which `-C` makes. */
      readonly defaultComputeInstance: boolean;
    }
  | {
      readonly kind: "destroy-compute-instance";
      readonly gpuInstanceId: number;
      readonly profile: string;
      readonly computeInstance: LayoutComputeInstance;
    }
  | {
      readonly kind: "create-compute-instance";
      readonly gpuInstanceId: number;
      readonly profile: string;
      readonly computeInstance: LayoutComputeInstance;
    };

/** The steps for one GPU. */
export interface GpuPlan {
  readonly gpuUuid: string;
  readonly gpuIndex: number;
  readonly gpuName: string;
  /** `layoutVersion` of the layout that the plan was made for. */
  readonly basedOn: string;
  readonly before: Layout;
  readonly after: Layout;
  readonly steps: readonly PlanStep[];
  /** Instances that stay as they are, with id and UUID. */
  readonly kept: readonly LayoutInstance[];
}
