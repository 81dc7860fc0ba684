/** One output of nvidia-smi, and what several of them say together. */
import type { Unread } from "../../../../shared/protocol/inventory.ts";
import type { FailedGpu } from "../nvidia-smi/device-list.ts";
import type { ListedComputeInstance, ListedGpuInstance } from "../nvidia-smi/instances.ts";
import type { GpuObservation } from "../nvidia-smi/observation.ts";
import type {
  ListedComputeInstanceProfile,
  ListedComputePlacements,
  ListedGpuInstanceProfile,
  ListedPlacements,
} from "../nvidia-smi/profiles.ts";
import { parseQueryXmlReport, type QueryReport } from "../nvidia-smi/query.ts";
import { type OutputKind, recognise } from "../nvidia-smi/recognise.ts";
import type { Parsed } from "../nvidia-smi/text.ts";
import type { Topology } from "../nvidia-smi/topology.ts";

export interface Output {
  /** The command or the file, for the list of what could not be read. */
  readonly source: string;
  /** The command line, where it is known. */
  readonly argv: readonly string[] | null;
  readonly content: Uint8Array | string;
}

/** What one output says about one GPU, and how far it is to be believed where two disagree. */
export interface RankedObservation {
  readonly rank: number;
  readonly gpu: GpuObservation;
}

/** "Successfully created GPU instance ID 7 ...": its placement is not told. */
export interface CreatedInstance {
  readonly gpuIndex: number;
  readonly gpuInstanceId: number;
  readonly profile: string;
  readonly profileId: number;
}

export interface ReadOutputs {
  readonly driverVersion: string | null;
  readonly cudaVersion: string | null;
  readonly attachedGpus: number | null;
  readonly observations: readonly RankedObservation[];
  readonly failedGpus: readonly FailedGpu[];
  /** Null where no `-lgi` was read, or it failed: then the instances are not known. */
  readonly gpuInstances: readonly ListedGpuInstance[] | null;
  readonly computeInstances: readonly ListedComputeInstance[] | null;
  /** Instances that were reported as created, and not listed since. */
  readonly createdInstances: readonly CreatedInstance[];
  readonly gpuInstanceProfiles: readonly ListedGpuInstanceProfile[];
  readonly gpuInstancePlacements: readonly ListedPlacements[];
  readonly computeInstanceProfiles: readonly ListedComputeInstanceProfile[];
  readonly computeInstancePlacements: readonly ListedComputePlacements[];
  readonly topology: Topology | null;
  /** Kinds of each output, in the order of the outputs. */
  readonly kinds: readonly (readonly OutputKind[])[];
  readonly unread: readonly Unread[];
}

// One reading looks at the same outputs two or three times, and the XML is the dearest of them.
const knownKinds = new WeakMap<Output, readonly OutputKind[]>();
const knownReports = new WeakMap<Output, Parsed<QueryReport>>();

/** What an output is, looked at once. */
export function kindsOf(output: Output): readonly OutputKind[] {
  const kinds = knownKinds.get(output) ?? recognise(output.content);
  knownKinds.set(output, kinds);
  return kinds;
}

/** The report of an output of `-q -x`, parsed once. */
export function reportOf(output: Output): Parsed<QueryReport> {
  const report = knownReports.get(output) ?? parseQueryXmlReport(output.content);
  knownReports.set(output, report);
  return report;
}
