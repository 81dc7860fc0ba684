/**
 * Trackable resources as Slurm writes them: `cpu=4,mem=1000M,gres/gpu:a100_1g.5gb=1,gres/gpu=1`.
 *
 * `gres/gpu` counts every GPU, and `gres/gpu:TYPE` counts those of one type again, before or after it: whoever adds up all
 * entries counts twice, and whoever takes the first has one type only. Memory is in MiB here, whatever unit is printed.
 */
import type { Reading } from "./reading.ts";

/** Counts by resource, `gres/gpu:a100` -> 4; memory (`mem`) in MiB. What is not named is not counted or not limited. */
export type TresCounts = Readonly<Record<string, number>>;

/** What `scontrol show assoc_mgr` says about one resource: `gres/gpu=4(3)`, `cpu=N(8)`. */
export interface TresLimit {
  readonly tres: string;
  /** Null for `N`: no limit. */
  readonly limit: number | null;
  readonly used: number;
}

const unitPowers: Readonly<Record<string, number>> = { "": 0, K: 1, M: 2, G: 3, T: 4, P: 5 };
const amount = /^(\d+(?:\.\d+)?)([KMGTP]?)(?:i?B)?$/i;
/** Names of resources: no spaces, no quotes, no separators. */
const tresName = /^[A-Za-z][\w./:+-]*$/;

/** No entry for a resource reads as 0. */
export function countOf(counts: TresCounts, tres: string): number {
  return Object.hasOwn(counts, tres) ? (counts[tres] ?? 0) : 0;
}

/** An amount with or without unit, in the unit of that resource: MiB for memory, else as it is (K is 1024). */
export function amountOf(tres: string, raw: string): number | null {
  const match = amount.exec(raw.trim());
  if (match === null) return null;
  const unit = match[2]?.toUpperCase() ?? "";
  const isMemory = tres === "mem" || tres === "vmem";
  const power = isMemory ? (unitPowers[unit === "" ? "M" : unit] ?? 2) - 2 : (unitPowers[unit] ?? 0);
  const value = Number(match[1]) * 1024 ** power;
  return value < 2 ** 63 ? value : null;
}

/** Reads `cpu=4,mem=8G,gres/gpu=1`. `N`, nothing and `-1` are no entry; what is not as it should be is listed and left out. */
export function readTres(raw: string | null | undefined, field: string, reading: Reading): TresCounts {
  const counts = new Map<string, number>();
  for (const { tres, value } of entries(raw, field, reading)) {
    if (value === "N" || value === "" || value === "-1") continue;
    const count = amountOf(tres, value);
    if (count === null) reading.reject(field, `not an amount of ${tres}`, value);
    else counts.set(tres, count);
  }
  return Object.fromEntries(counts);
}

/** Reads `cpu=128(8),gres/gpu=N(2)`: limit and use. */
export function readTresLimits(raw: string | null | undefined, field: string, reading: Reading): readonly TresLimit[] {
  return entries(raw, field, reading).flatMap(({ tres, value }) => {
    const match = /^([^()]*)\(([^()]*)\)$/.exec(value);
    const used = match === null ? null : amountOf(tres, match[2] ?? "");
    const limit = match?.[1] === "N" ? null : amountOf(tres, match?.[1] ?? "");
    if (match !== null && used !== null && (limit !== null || match[1] === "N")) return [{ tres, limit, used }];
    reading.reject(field, `not limit(used) of ${tres}`, value);
    return [];
  });
}

function entries(raw: string | null | undefined, field: string, reading: Reading) {
  if (raw === null || raw === undefined || /^(\(null\)|N\/A)?$/.test(raw.trim())) return [];
  return raw
    .trim()
    .split(",")
    .filter((part) => part !== "")
    .flatMap((part) => {
      const equals = part.indexOf("=");
      const tres = normalName(part.slice(0, equals));
      if (equals > 0 && isTresName(tres)) return [{ tres, value: part.slice(equals + 1) }];
      reading.reject(field, "not RESOURCE=AMOUNT", part);
      return [];
    });
}

function normalName(name: string): string {
  return name.replace(/^(CPU|Mem|Node|Energy|Billing|GRES|License|VMem|Pages)(?=$|\/)/i, (word) => word.toLowerCase());
}

/** Whether this can be the name of a resource, or its number in the database. */
export function isTresName(name: string): boolean {
  return name.length <= 128 && (tresName.test(name) || /^\d+$/.test(name));
}

/**
 * Reads what a job asks for, in any of its forms: `gres:gpu:a100:1` (22.05), `gres/gpu:a100:1`, `gres/gpu:2`,
 * `gres/gpu=2`, `cpu=4`, `gpu:a100:2`; a resource without number is asked for once.
 */
export function readRequest(raw: string | null | undefined, field: string, reading: Reading): TresCounts {
  const counts = new Map<string, number>();
  for (const part of (raw ?? "").split(",").filter((word) => !/^(\(null\)|N\/A)?$/.test(word.trim()))) {
    const match = /^(?:gres[:/])?([A-Za-z][\w.-]*)(?:[/:]([A-Za-z_][\w.-]*))?(?:[:=](\d+[KMGTP]?))?$/i.exec(
      part.trim(),
    );
    const [, name = "", type, amountText = "1"] = match ?? [];
    const isPlain = /^(cpu|mem|node|billing|energy)$/i.test(name);
    const tres = isPlain ? name.toLowerCase() : `gres/${name}${type === undefined ? "" : `:${type}`}`;
    const count = amountOf(tres, amountText);
    if (match === null || count === null) reading.reject(field, "not a request for a resource", part);
    else counts.set(tres, (counts.get(tres) ?? 0) + count);
  }
  return Object.fromEntries(counts);
}

/** Resource by resource. */
export function addTres(...all: readonly TresCounts[]): TresCounts {
  const sums = new Map<string, number>();
  for (const counts of all) {
    for (const [tres, count] of Object.entries(counts)) sums.set(tres, (sums.get(tres) ?? 0) + count);
  }
  return Object.fromEntries(sums);
}

/** How many of one generic resource, and of which types. */
export interface GresTotal {
  /** All of them, each once. */
  readonly total: number;
  /** By type, as far as types are tracked. */
  readonly byType: TresCounts;
  /** What no type accounts for. */
  readonly untyped: number;
}

/**
 * GPUs (or another generic resource) in a string of counts, each once: `gres/gpu` where it is given, for it counts all of
 * them; else, or where types say more, the sum of the types.
 */
export function gresTotal(counts: TresCounts, name = "gpu"): GresTotal {
  const prefix = `gres/${name}:`;
  const types = Object.entries(counts).filter(([tres]) => tres.startsWith(prefix));
  const typed = types.reduce((sum, [, count]) => sum + count, 0);
  const total = Math.max(countOf(counts, `gres/${name}`), typed);
  return {
    total,
    byType: Object.fromEntries(types.map(([tres, count]) => [tres.slice(prefix.length), count])),
    untyped: total - typed,
  };
}

/** Slurm's own order: by name, and of one resource the types before the whole. */
export function compareTres(a: string, b: string): number {
  if (b.startsWith(`${a}:`)) return 1;
  if (a.startsWith(`${b}:`)) return -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Writes counts as Slurm reads them: whole numbers, memory in MiB with its unit. Null where a name or a number is none:
 * sacctmgr takes `gres/gpu=abc` for something, says "Modified" and exits 0.
 */
export function writeTres(counts: TresCounts): string | null {
  const parts: string[] = [];
  for (const tres of Object.keys(counts).sort(compareTres)) {
    const count = countOf(counts, tres);
    if (!isTresName(tres) || !Number.isSafeInteger(count) || count < 0) return null;
    parts.push(`${tres}=${count}${tres === "mem" ? "M" : ""}`);
  }
  return parts.join(",");
}

/** Resources by their number in the database, for what is written with numbers: `1=128,2=1024000,1001=8`. */
export type TresIds = ReadonlyMap<number, string>;

/** The numbers that are the same in every database (slurmdb.h: TRES_CPU to TRES_PAGES). */
export const staticTresIds: TresIds = new Map([
  [1, "cpu"],
  [2, "mem"],
  [3, "energy"],
  [4, "node"],
  [5, "billing"],
  [6, "fs/disk"],
  [7, "vmem"],
  [8, "pages"],
]);

/** `1001=8` as `gres/gpu=8`; a number that is not known stays one. */
export function nameTres(counts: TresCounts, ids: TresIds): TresCounts {
  return Object.fromEntries(
    Object.entries(counts).map(([tres, count]) => [/^\d+$/.test(tres) ? (ids.get(Number(tres)) ?? tres) : tres, count]),
  );
}
