/**
 * What all readers of Slurm's output share: the answer of a parser, single values, and the list of what could not be read.
 *
 * Slurm writes nothing, `(null)`, `N/A`, `None`, `n/a`, `Unknown` where there is no value; those become null and nothing
 * more. A value that should be one and is not becomes null and is listed.
 */
import type { Unread } from "../../../../shared/protocol/inventory.ts";
import { textOf } from "../nvidia-smi/text.ts";

export type { Unread } from "../../../../shared/protocol/inventory.ts";

/** What a reader answers, whatever the input: never an exception. */
export interface SlurmFacts<Facts> {
  readonly facts: Facts;
  /** One entry for each thing that could not be read. */
  readonly unread: readonly Unread[];
}

const rawLimit = 200;
const absent = /^(\(null\)|\(null type\)|N\/A|n\/[as]|None|NONE|Unknown|UNKNOWN|INVALID)?$/;

/** Whether Slurm says that there is no such value. */
export function isAbsent(raw: string | undefined): boolean {
  return raw === undefined || absent.test(raw.trim());
}

/** Lines of any output, without trailing white space. Bytes that are no UTF-8 become U+FFFD. */
export function linesOf(output: Uint8Array | string): readonly string[] {
  return textOf(output)
    .split("\n")
    .map((line) => line.trimEnd());
}

/** The largest values of Slurm's integer types: NO_VAL, INFINITE and their 16 and 64 bit brothers (slurm.h). */
const sentinels: ReadonlySet<number> = new Set([0xfffe, 0xffff, 0xfffffffe, 0xffffffff, 2 ** 64]);

/** Whether a number stands for "not set" or "no limit". 2^64-1 and 2^64-2 both round to 2^64. */
export function isSentinel(value: number): boolean {
  return sentinels.has(value);
}

/** Reads values of one output, and keeps the list of what it could not read. */
export class Reading {
  readonly unread: Unread[] = [];
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** Lists a thing as not read; answers null, so that it can stand where the value would. */
  reject(field: string, reason: string, raw: string): null {
    this.unread.push({ source: this.source, field, reason, raw: raw.slice(0, rawLimit) });
    return null;
  }

  text(raw: string | undefined): string | null {
    return raw === undefined || isAbsent(raw) ? null : raw.trim();
  }

  /** A number that may have decimals; null where there is none. */
  number(field: string, raw: string | undefined): number | null {
    const text = this.text(raw);
    if (text === null) return null;
    if (!/^-?\d+(\.\d+)?$/.test(text)) return this.reject(field, "not a number", text);
    return Number(text);
  }

  /** A count, null also for -1 and the sentinels, which stand for "not set". */
  count(field: string, raw: string | undefined): number | null {
    const value = this.number(field, raw);
    if (value === null || value === -1 || isSentinel(value)) return null;
    if (Number.isSafeInteger(value) && value >= 0) return value;
    return this.reject(field, "not a count", raw ?? "");
  }

  /** `2-00:00:00`, `01:00:00`, `48`, in minutes as Slurm's time fields are; `unlimited` where it says so. */
  minutes(field: string, raw: string | undefined): number | "unlimited" | null {
    const seconds = this.seconds(field, raw, 60);
    return typeof seconds === "number" ? seconds / 60 : seconds;
  }

  /** The same in seconds. A bare number is in `bareUnitSeconds`. */
  seconds(field: string, raw: string | undefined, bareUnitSeconds = 1): number | "unlimited" | null {
    const text = this.text(raw);
    if (text === null || text === "-1" || /^Partition_Limit$/i.test(text)) return null;
    if (/^(UNLIMITED|INFINITE)$/i.test(text)) return "unlimited";
    const value = durationSeconds(text, bareUnitSeconds);
    return value ?? this.reject(field, "not a duration", text);
  }

  /** Seconds since the epoch, of `2026-12-02T07:37:05` or of the digits that `SLURM_TIME_FORMAT=%s` gives. */
  time(field: string, raw: string | undefined, utcOffsetMinutes: number): number | null {
    const text = this.text(raw);
    if (text === null || /^(N\/A|None|Unknown|0)$/i.test(text)) return null;
    if (/^\d{9,11}$/.test(text)) return Number(text);
    const match = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})$/.exec(text);
    if (match === null) return this.reject(field, "not a time", text);
    const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - utcOffsetMinutes * 60;
  }
}

/** `days-hours:minutes:seconds`, and what it may be shortened to; null where it is none of them. */
export function durationSeconds(text: string, bareUnitSeconds = 1): number | null {
  const match = /^(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?(\.\d+)?$/.exec(text);
  if (match === null) return null;
  const [, days, first = "0", second, third] = match;
  if (days !== undefined) {
    return Number(days) * 86_400 + Number(first) * 3600 + Number(second ?? 0) * 60 + Number(third ?? 0);
  }
  if (third !== undefined) return Number(first) * 3600 + Number(second) * 60 + Number(third);
  if (second !== undefined) return Number(first) * 60 + Number(second);
  return Number(first) * bareUnitSeconds;
}

/** A list as Slurm prints it, `borrow,normal,owned`; empty where there is none. */
export function listOf(raw: string | null | undefined): readonly string[] {
  if (raw === null || raw === undefined || isAbsent(raw)) return [];
  return raw
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

/** What the caller of a reader may say about the text. */
export interface ReadOptions {
  /** The command or file that the output came from, for `unread`. */
  readonly source?: string;
  /** Slurm prints local times without a zone: the offset of that host's zone. 0 where it ran under `TZ=UTC`. */
  readonly utcOffsetMinutes?: number;
}
