/**
 * Single values as nvidia-smi prints them. What the driver does not give is null and never zero.
 *
 * "N/A" and "Not Supported" are answers: this product, or this mode, has no such thing. They become null and
 * nothing more. An error word or a sentinel is a value that should be there and is not: null, and listed as unread.
 */
import { type PartialRead, partialRead } from "./text.ts";

const absent =
  /^\[?(N\/A|Not Supported|Not Available|Feature Not Supported|Not available in WDDM driver model|Requested functionality has been deprecated|None|-+)?\]?$/i;
const errorWords =
  /^\[?(ERR!?|Unknown Error|Unknown|GPU is lost|GPU requires reset|Reset Required|Insufficient Permissions|No Permissions?|Invalid Argument|Not Found|Deprecated\b.*|Function Not Found|Timeout|In use by another client|Uninitialized)\]?$/i;

/** The largest values of the driver's integer types, printed where a counter was never filled in. */
const sentinels: ReadonlySet<string> = new Set([
  "9223372036854775807",
  "18446744073709551615",
  "18446744073709551614",
  "9223372036854776000",
  "4294967295",
  "4294967294",
  "0xffffffff",
  "0xffffffffffffffff",
]);

export interface NumberLimits {
  readonly min?: number;
  readonly max?: number;
}

export const percentLimits: NumberLimits = { min: 0, max: 100 };
export const countLimits: NumberLimits = { min: 0, max: 2 ** 53 };
/** No GPU, and no host of GPUs, has an exbibyte: more than this is a sentinel in disguise. */
export const memoryLimits: NumberLimits = { min: 0, max: 2 ** 30 };

/** Whether the driver says that there is no such value: `[N/A]`, `Not Supported`, `-`, nothing. */
export function isAbsent(raw: string | undefined): boolean {
  return raw === undefined || absent.test(raw.trim());
}

/** Whether the text stands for a failure to read: `ERR!`, `[Unknown Error]`, `GPU is lost`, `[Insufficient Permissions]`. */
export function isErrorWord(raw: string): boolean {
  return errorWords.test(raw.trim());
}

/** Reads values, and keeps the list of what it could not read. */
export class ValueReader {
  readonly unread: PartialRead[] = [];

  /** A number in the unit that is printed, `34 C`, `95.20 W`, `0 %`; null where there is none. */
  number(field: string, raw: string | undefined, limits: NumberLimits = {}): number | null {
    const text = this.text(field, raw);
    if (text === null) return null;
    const match = /^(-?\d+(?:\.\d+)?)\s*([%A-Za-z/°]*)$/.exec(text);
    if (match === null) return this.reject(field, "not a number", text);
    if (sentinels.has(match[1] ?? "")) return this.reject(field, "a value that the driver never filled in", text);
    const value = Number(match[1]);
    if (value < (limits.min ?? -Infinity) || value > (limits.max ?? Infinity)) {
      return this.reject(field, "out of range", text);
    }
    return value;
  }

  /** A size in MiB, whatever unit it is printed with; a bare number is MiB, as with `nounits`. */
  mebibytes(field: string, raw: string | undefined): number | null {
    const unit = /\s*([KMGT])i?B$/i.exec(raw ?? "");
    const value = this.number(field, unit === null ? raw : raw?.slice(0, unit.index), memoryLimits);
    if (value === null) return null;
    const factor = { K: 1 / 1024, M: 1, G: 1024, T: 1024 * 1024 }[unit?.[1]?.toUpperCase() ?? "M"] ?? 1;
    return value * factor;
  }

  whole(field: string, raw: string | undefined, limits: NumberLimits = countLimits): number | null {
    const value = this.number(field, raw, limits);
    if (value === null || Number.isInteger(value)) return value;
    return this.reject(field, "not a whole number", raw ?? "");
  }

  /** `Enabled`, `On`, `Yes`, `Active` against their opposites. */
  flag(field: string, raw: string | undefined): boolean | null {
    const text = this.text(field, raw);
    if (text === null) return null;
    if (/^(Enabled\*?|On|Yes|True|Active|1)$/i.test(text)) return true;
    if (/^(Disabled\*?|Off|No|False|Not Active|Inactive|0)$/i.test(text)) return false;
    return this.reject(field, "neither yes nor no", text);
  }

  /** Any text that is a value; null where there is none. */
  text(field: string, raw: string | undefined): string | null {
    if (raw === undefined || isAbsent(raw)) return null;
    const text = raw.trim();
    if (isErrorWord(text)) return this.reject(field, "the driver answered with an error", text);
    return text;
  }

  reject(field: string, reason: string, raw: string): null {
    this.unread.push(partialRead(field, reason, raw));
    return null;
  }
}

/** `00000000:1A:00.0` whatever the domain's width and the letters' case are in this output; null where it is none. */
export function normalBusId(raw: string | null | undefined): string | null {
  const match = /^(?:0x)?([0-9a-f]{4,8}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-9a-f])$/i.exec(raw?.trim() ?? "");
  if (match === null) return null;
  const [, domain, bus, device, fn] = match;
  return `${domain?.padStart(8, "0")}:${bus}:${device}.${fn}`.toUpperCase();
}
