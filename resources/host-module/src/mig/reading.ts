import { AppError, type AppErrorData, toErrorData } from "../../../../shared/errors.ts";
import { geometryFor } from "../../../../shared/mig/geometry.ts";
import { sortedByStart } from "../../../../shared/mig/layout.ts";
import type { GpuGeometry, Layout } from "../../../../shared/mig/types.ts";
import type { MigMode } from "../../../../shared/protocol/inventory.ts";
import { geometriesOf } from "../inventory/geometries.ts";
import { gpusOf } from "../inventory/gpus.ts";
import { readOutputs } from "../inventory/outputs.ts";
import { outputOf } from "../inventory/read.ts";
import { parseCsv } from "../nvidia-smi/csv.ts";
import { failureOf } from "../nvidia-smi/failure.ts";
import { parseComputeInstances, parseGpuInstances } from "../nvidia-smi/instances.ts";
import { messagesOf } from "../nvidia-smi/messages.ts";
import type { ObservedProcess } from "../nvidia-smi/observation.ts";
import { parseQueryXmlReport } from "../nvidia-smi/query.ts";
import { runNvidiaSmi } from "../nvidia-smi/run.ts";
import { type Parsed, textOf } from "../nvidia-smi/text.ts";
import type { RunResult, System } from "../system.ts";
import { readLimitMs } from "./time-limits.ts";

export interface GpuIdentity {
  readonly uuid: string;
  readonly index: number;
  readonly name: string;
}

/** One GPU as the transaction needs to know it. */
export interface GpuReading extends GpuIdentity {
  /** Null where the GPU cannot be divided, or nothing says how. */
  readonly geometry: GpuGeometry | null;
  readonly mig: { readonly current: MigMode | null; readonly pending: MigMode | null };
  /** With IDs, and with what is in use at this moment. */
  readonly layout: Layout;
  /** N of `/dev/nvidiaN`, which is not always the index; null where the driver does not say. */
  readonly minorNumber: number | null;
  /** Of the whole GPU. */
  readonly processes: readonly ObservedProcess[];
}

/** How the transaction looks at the host: nothing but what the driver says at this moment. */
export interface HostReader {
  /** The GPUs that the driver lists, by UUID. Throws AppError with the driver's words. */
  list(): Promise<ReadonlyMap<string, GpuIdentity>>;
  /** One GPU. Throws AppError with the driver's words, `gpu-lost` where its index belongs to another UUID by now. */
  read(gpu: GpuIdentity): Promise<GpuReading>;
  /** Makes sure that the index still belongs to this UUID. Throws AppError `gpu-lost` where it does not, or the driver's words. */
  confirm(gpu: GpuIdentity): Promise<void>;
  /** Whether the tool takes UUIDs on this host, as far as is known; see `refusesUuids`. */
  readonly takesUuids: () => boolean;
  /** Told when it did not. */
  readonly uuidsRefused: () => void;
}

/**
 * To find a UUID the tool opens every GPU of the host, and gives up at the first that is lost, whichever was asked for:
 * `Problem with GPU ...: GPU is lost`, exit status 255, nothing done (550.163.01). By index it opens that GPU alone.
 */
export function refusesUuids(result: RunResult): boolean {
  return result.exitStatus === 255 && /^Problem with GPU /m.test(textOf(result.stdout));
}

const listFields = ["index", "uuid", "name"] as const;

/** Reads with nvidia-smi, one command at a time: the driver serialises them anyway, and some versions dislike company. */
export function driverReader(system: System): HostReader {
  const run = (args: readonly string[]) => runNvidiaSmi(system, args, { timeoutMs: readLimitMs });

  let uuids = true;

  const list = async () => {
    const all = await run([`--query-gpu=${listFields.join(",")}`, "--format=csv"]);
    const failure = failureOf(all, system.hostName);
    if (failure === null) return identitiesIn(all);
    // One lost GPU fails the reading of the whole host: ask for one after the other. It fails every UUID as well.
    const found = new Map<string, GpuIdentity>();
    for (let index = 0; index < 32; index += 1) {
      const one = await run([...all.argv.slice(1), "-i", String(index)]);
      if (messagesOf(one.stdout).some((message) => message.kind === "nothing")) break;
      if (failureOf(one) === null) for (const [uuid, identity] of identitiesIn(one)) found.set(uuid, identity);
    }
    if (found.size === 0) throw failure;
    uuids = false;
    return found;
  };

  const confirm = async (gpu: GpuIdentity): Promise<void> => {
    const answer = await run([`--query-gpu=${listFields.join(",")}`, "--format=csv", "-i", String(gpu.index)]);
    const failure = failureOf(answer, system.hostName);
    if (failure !== null) throw failure;
    const [found] = identitiesIn(answer).values();
    if (found?.uuid !== gpu.uuid || found.index !== gpu.index) throw moved(gpu, found?.uuid ?? null, system.hostName);
  };

  const read = async (gpu: GpuIdentity): Promise<GpuReading> => {
    const report = await run(["-q", "-x", "-i", String(gpu.index)]);
    const failure = failureOf(report, system.hostName);
    if (failure !== null) throw failure;
    // A report that was cut short would show fewer processes than there are.
    if (!textOf(report.stdout).includes("</nvidia_smi_log>")) throw unreadable(report, "it stops before its end");
    const seen = parseQueryXmlReport(report.stdout).facts.gpus[0];
    if (seen === undefined) throw unreadable(report, "the report names no GPU");
    if (seen.failure !== null) throw lost(gpu, seen.failure.words, system.hostName);
    if (seen.uuid !== gpu.uuid) throw moved(gpu, seen.uuid, system.hostName);
    if (seen.processes === null) throw unreadable(report, "the report does not say which processes run");
    const mig = { current: seen.migCurrent, pending: seen.migPending };
    const geometry = await geometryOf(gpu, report, seen.migCurrent === "enabled");
    const { processes, minorNumber } = seen;
    if (mig.current === null || mig.current !== "enabled") {
      return { ...gpu, geometry, mig, layout: { migEnabled: false, instances: [] }, minorNumber, processes };
    }
    const gpuInstances = await instances(gpu, "-lgi", parseGpuInstances);
    const computeInstances = gpuInstances.length === 0 ? [] : await instances(gpu, "-lci", parseComputeInstances);
    const isOccupied = occupancy(processes);
    const layout: Layout = {
      migEnabled: true,
      instances: sortedByStart(
        gpuInstances.map((instance) => ({
          profileId: instance.profileId,
          start: instance.placement.start,
          id: instance.gpuInstanceId,
          computeInstances: sortedByStart(
            computeInstances
              .filter(({ gpuInstanceId }) => gpuInstanceId === instance.gpuInstanceId)
              .map(({ computeInstanceId, profileId, placement }) => ({
                profileId,
                start: placement.start,
                id: computeInstanceId,
              })),
          ),
          inUse: isOccupied(instance.gpuInstanceId),
        })),
      ),
    };
    return { ...gpu, geometry, mig, layout, minorNumber, processes };
  };

  const geometries = new Map<string, GpuGeometry | null>();

  /** The driver's listing over our table, asked for once in each MIG mode: what a GPU lists does not change otherwise. */
  const geometryOf = async (gpu: GpuIdentity, report: RunResult, migEnabled: boolean): Promise<GpuGeometry | null> => {
    const key = `${gpu.uuid} ${migEnabled}`;
    const known = geometries.get(key);
    if (known !== undefined) return known;
    const outputs = [outputOf(report)];
    if (migEnabled) {
      for (const option of ["-lgip", "-lgipp", "-lgi", "-lcip", "-lcipp"]) {
        outputs.push(outputOf(await run(["mig", option, "-i", String(gpu.index)])));
      }
    }
    const read = readOutputs(outputs);
    const { geometries: found, keys } = geometriesOf(gpusOf(read), read);
    const geometry = found[keys.get(gpu.index) ?? ""] ?? geometryFor({ name: gpu.name });
    geometries.set(key, geometry);
    return geometry;
  };

  /** Empty only where the driver says so: output that cannot be understood must never pass for "no instances". */
  const instances = async <Row extends { readonly gpuIndex: number }>(
    gpu: GpuIdentity,
    option: "-lgi" | "-lci",
    parse: (output: Uint8Array) => Parsed<readonly Row[]>,
  ): Promise<readonly Row[]> => {
    const result = await run(["mig", option, "-i", String(gpu.index)]);
    if (messagesOf(result.stdout).some((message) => message.kind === "nothing")) return [];
    const failure = failureOf(result, system.hostName);
    if (failure !== null) throw failure;
    const { facts, unread } = parse(result.stdout);
    const [problem] = unread;
    if (problem !== undefined) throw unreadable(result, problem.reason);
    const rows = facts.filter((row) => row.gpuIndex === gpu.index);
    if (rows.length === 0) throw unreadable(result, `${option} lists nothing for GPU ${gpu.index}`);
    return rows;
  };

  const unreadable = (result: RunResult, reason: string) =>
    new AppError({
      code: "unreadable",
      message: `The output of ${result.argv.join(" ")} cannot be understood: ${reason}.`,
      remedy: "Send a support bundle (tessera-host bundle DIR); nothing is changed on what cannot be read.",
      evidence: {
        host: system.hostName,
        command: result.argv,
        exitStatus: result.exitStatus,
        stdout: textOf(result.stdout).slice(0, 4_000),
      },
    });

  return {
    list,
    read,
    confirm,
    takesUuids: () => uuids,
    uuidsRefused: () => {
      uuids = false;
    },
  };
}

/**
 * A process of a divided GPU whose GPU instance the driver does not name may run in any of them: all count as used
 * then. What merely draws is left out: a desktop belongs to no instance, and would bar every change for ever.
 */
export function isUnplaced(process: ObservedProcess): boolean {
  return process.gpuInstanceId === null && process.kind !== "graphics";
}

function occupancy(processes: readonly ObservedProcess[]): (gpuInstanceId: number) => boolean {
  const occupied = new Set(processes.map((process) => process.gpuInstanceId));
  const unplaced = processes.some(isUnplaced);
  return (gpuInstanceId) => unplaced || occupied.has(gpuInstanceId);
}

function identitiesIn(result: RunResult): Map<string, GpuIdentity> {
  const rows = parseCsv(result.stdout, listFields).facts?.rows ?? [];
  return new Map(
    rows.flatMap((row) => {
      const index = Number(row.get("index"));
      const uuid = row.get("uuid");
      if (!Number.isInteger(index) || uuid === undefined || !uuid.startsWith("GPU-")) return [];
      return [[uuid, { index, uuid, name: row.get("name") ?? "" }] as const];
    }),
  );
}

function lost(gpu: GpuIdentity, words: string, host: string): AppError {
  return new AppError({
    code: "gpu-lost",
    message: `GPU ${gpu.index} (${gpu.uuid}) does not answer: ${words}`,
    remedy: "Drain the host and reboot it.",
    evidence: { host, details: words },
  });
}

/** Indexes are given anew at every start of the driver: acting on one that moved would hit somebody else's GPU. */
function moved(gpu: GpuIdentity, found: string | null, host: string): AppError {
  return new AppError({
    code: "gpu-lost",
    message: `GPU ${gpu.index} of ${host} was ${gpu.uuid} and is ${found ?? "unknown"} now.`,
    remedy: "Read the inventory again; the driver numbers its GPUs anew when it starts.",
    evidence: { host },
  });
}

/** The GPUs of these UUIDs, read now; what the driver does not list, or what cannot be read, stands in `failures`. */
export async function readGpus(
  reader: HostReader,
  uuids: Iterable<string>,
): Promise<{
  readonly gpus: ReadonlyMap<string, GpuReading>;
  readonly failures: ReadonlyMap<string, AppErrorData>;
  readonly listed: ReadonlyMap<string, GpuIdentity>;
}> {
  const listed = await reader.list();
  const gpus = new Map<string, GpuReading>();
  const failures = new Map<string, AppErrorData>();
  for (const uuid of new Set(uuids)) {
    const identity = listed.get(uuid);
    if (identity === undefined) continue;
    try {
      gpus.set(uuid, await reader.read(identity));
    } catch (error) {
      failures.set(uuid, toErrorData(error));
    }
  }
  return { gpus, failures, listed };
}
