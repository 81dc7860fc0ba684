/**
 * The vocabulary of defragmentation. Plain immutable data: a layout of the whole cluster comes in, a plan goes out.
 * Both cross files and links as they stand; docs/defrag.md writes them down with an example of each.
 */

export const layoutSchema = "tessera.layout/1";
export const planSchema = "tessera.defrag-plan/1";

/** Whose an instance is, and what moving it means. */
export interface Allocation {
  readonly tenant: string | null;
  readonly project: string | null;
  readonly user: string | null;
  /** False where nothing else is said: what may not be restarted waits. */
  readonly movable: boolean;
  /** Price of one move, above 0; 1 is an ordinary move. */
  readonly cost: number;
  /** ISO 8601: when it ends by itself. */
  readonly endsAt: string | null;
  /** ISO 8601: it may be moved only between these two. */
  readonly movableFrom: string | null;
  readonly movableUntil: string | null;
  /** How long one move of it takes, where that is known. */
  readonly moveSeconds: number | null;
}

export interface ClusterInstance {
  /** GPU instance ID, unique on its GPU. */
  readonly id: number;
  /** As the driver prints it without "MIG ": `3g.20gb`. */
  readonly profile: string;
  /** First memory slice. */
  readonly start: number;
  /** Null: nobody holds it, and it may be destroyed at no cost. */
  readonly allocation: Allocation | null;
}

export interface ClusterGpu {
  readonly index: number;
  readonly uuid: string | null;
  /** Product name as the driver prints it. */
  readonly model: string;
  /** Whether MIG mode is on. */
  readonly mig: boolean;
  /** GPUs of one host with the same word are joined by NVLink. */
  readonly nvlinkGroup: string | null;
  /** Who holds the whole GPU while MIG is off. */
  readonly allocation: Allocation | null;
  /** Ascending by start. */
  readonly instances: readonly ClusterInstance[];
}

export interface ClusterHost {
  readonly name: string;
  readonly rack: string | null;
  /** Nothing is moved from one pool to another; hosts without the word are one pool. */
  readonly pool: string | null;
  readonly gpus: readonly ClusterGpu[];
}

/** `tessera.layout/1`, with every default filled in. */
export interface ClusterLayout {
  /** ISO 8601: when it was read. */
  readonly takenAt: string | null;
  readonly hosts: readonly ClusterHost[];
}

/** One profile of a `fit` goal. */
export interface WantedProfile {
  readonly profile: string;
  readonly count: number;
}

/** Where everything that a `fit` goal asks for has to come together. */
export type FitScope = "anywhere" | "host" | "nvlink-group";

export type Goal =
  /** As many whole GPUs as possible, or so many in all. */
  | { readonly kind: "free-gpus"; readonly count: number | null }
  /** As long as one more GPU costs no more than this. */
  | { readonly kind: "price"; readonly price: number }
  | { readonly kind: "fit"; readonly profiles: readonly WantedProfile[]; readonly scope: FitScope }
  /** As many hosts as possible on which no GPU is held. */
  | { readonly kind: "hosts" };

/**
 * What may be done to a GPU that stays in use. `in-use`: instances come and go beside others. `empty`: its division changes
 * only while nobody holds any of it, as MIG Manager wants it; until then only instances that exist are handed on.
 * `free-space`: nothing goes where somebody was when the plan began.
 */
export type ExecutionMode = "in-use" | "empty" | "free-space";

export interface PlanOptions {
  readonly goal: Goal;
  readonly mode: ExecutionMode;
  /** Bounces count; null for no limit. */
  readonly maxMoves: number | null;
  readonly maxCost: number | null;
  /** How many GPUs that are free before and after may be used as a stop on the way. */
  readonly spareGpus: number;
  /** Only instances of these tenants move; null for all. */
  readonly tenants: readonly string[] | null;
  /** Only these hosts are touched; null for all. */
  readonly hosts: readonly string[] | null;
  /** ISO 8601: when the plan would run. Without it nothing is known to end soon or to be outside its window. */
  readonly at: string | null;
  /** What ends by itself within this time after `at` is not moved. */
  readonly leaveEndingWithinSeconds: number;
}

export const defaultOptions: PlanOptions = {
  goal: { kind: "price", price: 3 },
  mode: "in-use",
  maxMoves: null,
  maxCost: null,
  spareGpus: 0,
  tenants: null,
  hosts: null,
  at: null,
  leaveEndingWithinSeconds: 3600,
};

/** Where an instance stands at the moment of its move. */
export interface MoveSource {
  readonly host: string;
  readonly gpu: number;
  /** GPU instance ID in the layout that came in, also where the instance was moved before. */
  readonly instance: number;
  readonly start: number;
}

export interface MoveTarget {
  readonly host: string;
  readonly gpu: number;
  readonly start: number;
}

export interface Move {
  /** Ascending from 1; moves with the same order may run together. */
  readonly order: number;
  readonly profile: string;
  readonly cost: number;
  readonly from: MoveSource;
  readonly to: MoveTarget;
}

/** How much of one profile the cluster takes. */
export interface ProfileCapacity {
  readonly model: string;
  readonly profile: string;
  readonly fits: number;
}

/** What a layout is worth; the formulas stand with the functions of measures.ts. */
export interface LayoutMeasures {
  readonly freeGpus: number;
  readonly freeHosts: number;
  /** 0 to 1; null where nothing is free. */
  readonly fragmentation: number | null;
  readonly capacity: readonly ProfileCapacity[];
}

/** What no plan can beat. */
export interface Bound {
  readonly freeGpus: number;
  /** `exact`: a division that reaches it was found; `upper`: none was found, and none can be above it. */
  readonly kind: "exact" | "upper";
  /** For the goal `hosts`. */
  readonly freeHosts: number | null;
}

/** `tessera.defrag-plan/1`. */
export interface DefragPlan {
  readonly schema: typeof planSchema;
  readonly goal: string;
  readonly mode: ExecutionMode;
  readonly before: LayoutMeasures;
  readonly after: LayoutMeasures;
  readonly bound: Bound;
  /** Of all moves, bounces included. */
  readonly cost: number;
  /** No plan with as many free GPUs costs less. */
  readonly costBound: number;
  /** Of one more free GPU, by the prices of the selection; null where there is none more or it is not known. */
  readonly nextGpuPrice: number | null;
  readonly moves: readonly Move[];
  readonly bounces: number;
  /** GPUs that were held and are free afterwards. */
  readonly freed: readonly { readonly host: string; readonly gpu: number }[];
  readonly length: {
    /** Number of different orders. */
    readonly waves: number;
    /** The longest move of each wave, added up; null where the time of one is not known. */
    readonly seconds: number | null;
  };
  /** Where fewer GPUs come free than could: why, and what would help. */
  readonly shortfall: string | null;
  readonly layoutAfter: ClusterLayout;
}
