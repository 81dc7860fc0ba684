/**
 * `scontrol show node -d` (with or without `-o`) and `scontrol show nodes --json` (23.02 on), `sinfo --json` of 22.05:
 * what a node has, and what of it is in use.
 *
 * GPUs are counted by CfgTRES and AllocTRES where Slurm tracks them there (`AccountingStorageTRES` has gres/gpu), else by
 * Gres and GresUsed; without `-d` the older text has no GresUsed. Type `pad` fills places of cards that are divided
 * otherwise: it is no capacity and no use.
 */
import { type Gres, readGres } from "./gres.ts";
import { at, finiteIn, list, readJson, string, strings, timeIn } from "./json.ts";
import { isAbsent, listOf, Reading, type ReadOptions, type SlurmFacts } from "./reading.ts";
import { readRecords, type ScontrolRecord } from "./records.ts";
import { gresTotal, readTres, type TresCounts } from "./tres.ts";

/** The type of gres.conf that stands for nothing. */
export const padType = "pad";

export interface GpuCount {
  readonly configured: number;
  /** Null where this output does not tell it. */
  readonly used: number | null;
}

export interface SlurmNode {
  readonly name: string;
  readonly hostName: string | null;
  /** The first word, upper case: `IDLE`, `MIXED`, `ALLOCATED`, `DOWN`. */
  readonly state: string | null;
  /** The rest: `DRAIN`, `INVALID_REG`, `NOT_RESPONDING` (a `*` behind the state). */
  readonly flags: readonly string[];
  readonly reason: string | null;
  readonly partitions: readonly string[];
  readonly version: string | null;
  readonly cpus: number | null;
  readonly cpusAllocated: number | null;
  readonly memoryMiB: number | null;
  readonly memoryAllocatedMiB: number | null;
  readonly gres: readonly Gres[];
  /** With the places in gres.conf that are held; null where this output does not say it. */
  readonly gresUsed: readonly Gres[] | null;
  readonly configuredTres: TresCounts;
  readonly allocatedTres: TresCounts;
  /** All GPUs, without `pad`. */
  readonly gpus: GpuCount;
  /** By type as in gres.conf; GPUs without a type are in `gpus` only. */
  readonly gpusByType: Readonly<Record<string, GpuCount>>;
  readonly bootedAt: number | null;
}

/** The text. */
export function readNodes(output: Uint8Array | string, options: ReadOptions = {}): SlurmFacts<readonly SlurmNode[]> {
  const reading = new Reading(options.source ?? "scontrol show node -d");
  const facts = readRecords(output, "NodeName", reading).map((record) =>
    nodeOf(record, reading, options.utcOffsetMinutes ?? 0),
  );
  return { facts, unread: reading.unread };
}

function nodeOf(record: ScontrolRecord, reading: Reading, utcOffsetMinutes: number): SlurmNode {
  const name = record.get("NodeName") ?? "";
  const field = `nodes[${name}]`;
  const text = (key: string) => reading.text(record.get(key));
  const count = (key: string) => reading.count(`${field}.${key}`, record.get(key));
  const usedWords = record.get("GresUsed");
  return withGpus(
    {
      name,
      hostName: text("NodeHostName"),
      ...stateOf(record.get("State")?.split("+") ?? []),
      reason: text("Reason"),
      partitions: listOf(record.get("Partitions")),
      version: text("Version"),
      cpus: count("CPUTot"),
      cpusAllocated: count("CPUAlloc"),
      memoryMiB: count("RealMemory"),
      memoryAllocatedMiB: count("AllocMem"),
      gres: readGres(record.get("Gres"), `${field}.Gres`, reading),
      gresUsed: usedWords === undefined ? null : readGres(usedWords, `${field}.GresUsed`, reading),
      configuredTres: readTres(record.get("CfgTRES"), `${field}.CfgTRES`, reading),
      allocatedTres: readTres(record.get("AllocTRES"), `${field}.AllocTRES`, reading),
      bootedAt: reading.time(`${field}.BootTime`, record.get("BootTime"), utcOffsetMinutes),
    },
    field,
    reading,
  );
}

/** The JSON; null facts where this is none. */
export function readNodesJson(
  output: Uint8Array | string,
  options: ReadOptions = {},
): SlurmFacts<readonly SlurmNode[] | null> {
  const reading = new Reading(options.source ?? "scontrol show nodes --json");
  const json = readJson(output, reading);
  if (json === null) return { facts: null, unread: reading.unread };
  const nodes = json.root.nodes;
  // `sinfo --json` groups nodes of one kind from 23.02 on: no facts about one node.
  if (nodes === undefined)
    return { facts: reading.reject("nodes", "the answer has no list of nodes", json.parser), unread: reading.unread };
  const facts = list(nodes).flatMap((value) => {
    const name = string(at(value, "name"));
    if (name !== null) return [nodeOfJson(value, name, reading)];
    reading.reject("nodes", "an entry without name", JSON.stringify(value));
    return [];
  });
  return { facts, unread: reading.unread };
}

function nodeOfJson(value: unknown, name: string, reading: Reading): SlurmNode {
  const field = `nodes[${name}]`;
  const text = (key: string) => string(at(value, key));
  const number = (key: string) => finiteIn(at(value, key));
  const used = at(value, "gres_used");
  return withGpus(
    {
      name,
      hostName: text("hostname"),
      ...stateOf([
        ...strings(at(value, "state")).flatMap((word) => word.split("+")),
        ...strings(at(value, "state_flags")),
      ]),
      reason: text("reason"),
      partitions: strings(at(value, "partitions")),
      version: text("version") ?? text("slurmd_version"),
      cpus: number("cpus"),
      cpusAllocated: number("alloc_cpus"),
      memoryMiB: number("real_memory"),
      memoryAllocatedMiB: number("alloc_memory"),
      gres: readGres(text("gres"), `${field}.gres`, reading),
      gresUsed: typeof used === "string" ? readGres(used, `${field}.gres_used`, reading) : null,
      configuredTres: readTres(text("tres"), `${field}.tres`, reading),
      allocatedTres: readTres(text("tres_used"), `${field}.tres_used`, reading),
      bootedAt: timeIn(at(value, "boot_time")),
    },
    field,
    reading,
  );
}

/** `MIXED+DRAIN`, `IDLE*`, `["MIXED", "DRAIN"]`, `mixed` (22.05). */
function stateOf(words: readonly string[]): Pick<SlurmNode, "state" | "flags"> {
  const marks: Readonly<Record<string, string>> = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "%": "POWERING_DOWN",
    $: "MAINTENANCE",
    "@": "REBOOT_REQUESTED",
    "!": "POWERING_DOWN",
    "-": "PLANNED",
  };
  const plain = words.filter((word) => !isAbsent(word)).map((word) => word.toUpperCase());
  const flags = plain.flatMap((word, place) => {
    const mark = marks[word.at(-1) ?? ""];
    const rest = mark === undefined ? word : word.slice(0, -1);
    return [...(place === 0 ? [] : [rest]), ...(mark === undefined ? [] : [mark])];
  });
  const state = plain[0]?.replace(/[*~#%$@!-]$/, "") ?? null;
  return { state, flags: [...new Set(flags)].toSorted() };
}

function withGpus(node: Omit<SlurmNode, "gpus" | "gpusByType">, field: string, reading: Reading): SlurmNode {
  const isTracked = Object.hasOwn(node.configuredTres, "gres/gpu");
  const configured = gpusIn(node.gres);
  const used = node.gresUsed === null ? null : gpusIn(node.gresUsed);
  const tracked = gresTotal(node.configuredTres);
  const allocated = gresTotal(node.allocatedTres);
  const pads = configured.byType.get(padType) ?? 0;
  const padsUsed = used?.byType.get(padType) ?? 0;
  const total = isTracked ? tracked.total : configured.total;
  const usedTotal = isTracked ? allocated.total : (used?.total ?? null);
  if (isTracked && used !== null && used.total !== allocated.total) {
    reading.reject(
      `${field}.gpus.used`,
      "AllocTRES and GresUsed do not agree; AllocTRES is taken",
      `${allocated.total} and ${used.total}`,
    );
  }
  const types = [...configured.byType.keys()].filter((type) => type !== padType);
  const byType = types.map((type) => [
    type,
    {
      configured: configured.byType.get(type) ?? 0,
      used: used?.byType.get(type) ?? typeUse(type, tracked.byType, allocated.byType, used !== null),
    },
  ]);
  return {
    ...node,
    gpus: { configured: total - pads, used: usedTotal === null ? null : usedTotal - padsUsed },
    gpusByType: Object.fromEntries(byType),
  };
}

/** What AllocTRES says about a type, where that type is tracked at all. */
function typeUse(type: string, tracked: TresCounts, allocated: TresCounts, isListed: boolean): number | null {
  if (Object.hasOwn(tracked, type)) return Object.hasOwn(allocated, type) ? (allocated[type] ?? 0) : 0;
  return isListed ? 0 : null;
}

function gpusIn(gres: readonly Gres[]): { readonly total: number; readonly byType: ReadonlyMap<string, number> } {
  const byType = new Map<string, number>();
  let total = 0;
  for (const { name, type, count } of gres) {
    if (name !== "gpu") continue;
    total += count;
    if (type !== null) byType.set(type, (byType.get(type) ?? 0) + count);
  }
  return { total, byType };
}
