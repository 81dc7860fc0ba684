/**
 * Generic resources of a node or a job: `gpu:a100:4(S:0-1),shard:a100:32,vram:235` as configured,
 * `gpu:a100:1(IDX:0)`, `shard:a100:8(-/5,5/5,3/5)` as used. The index is the place in gres.conf: the only link between a
 * job and the device that it holds.
 */

import type { Reading } from "./reading.ts";
import { amountOf } from "./tres.ts";

export interface Gres {
  /** `gpu`, `shard`, `vram`. */
  readonly name: string;
  /** `a100_1g.5gb`; null where none is configured. */
  readonly type: string | null;
  readonly count: number;
  /** Devices held, by their place in gres.conf; empty for `(IDX:N/A)`, null where the text does not say. */
  readonly index: readonly number[] | null;
}

/** Reads one such string; `(null)`, `N/A` and nothing are an empty list. An entry that is not one is listed. */
export function readGres(raw: string | null | undefined, field: string, reading: Reading): readonly Gres[] {
  if (raw === null || raw === undefined || /^(\(null\)|N\/A)?$/.test(raw.trim())) return [];
  return splitOutside(raw.trim()).flatMap((part) => {
    const gres = gresOf(part);
    if (gres !== null) return [gres];
    reading.reject(field, "not NAME[:TYPE]:COUNT", part);
    return [];
  });
}

/** Commas inside parentheses belong to the entry: `gpu:a:2(IDX:0,3)`. */
function splitOutside(text: string): readonly string[] {
  return text.match(/(?:[^,(]|\([^)]*\)?)+/g) ?? [];
}

function gresOf(part: string): Gres | null {
  const match = /^(?:gres[:/])?([^(]*)(?:\((.*)\))?$/.exec(part.trim());
  const words = (match?.[1] ?? "").split(":").filter((word) => word !== "no_consume");
  const last = words.at(-1) ?? "";
  const hasCount = /^\d/.test(last) && words.length > 1;
  const [name = "", ...type] = hasCount ? words.slice(0, -1) : words;
  const count = hasCount ? amountOf(name, last) : 1;
  if (!/^[A-Za-z]\w*$/.test(name) || count === null || type.some((word) => !/^[\w.+-]+$/.test(word))) return null;
  if (!hasCount && words.length > 1 && type.length === 0) return null;
  return { name, type: type.length === 0 ? null : type.join(":"), count, index: indexOf(match?.[2]) };
}

function indexOf(note: string | undefined): readonly number[] | null {
  const text = /^IDX:(.*)$/.exec(note ?? "")?.[1];
  if (text === undefined) return null;
  return rangesOf(text);
}

/** `0-3,5` -> 0 1 2 3 5; what is no number is left out. At most 4096 numbers: no node has more devices. */
export function rangesOf(text: string): readonly number[] {
  const numbers: number[] = [];
  for (const part of text.split(",")) {
    const match = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part.trim());
    if (match === null) continue;
    const last = Number(match[2] ?? match[1]);
    for (let number = Number(match[1]); number <= last && numbers.length < 4096; number += 1) numbers.push(number);
  }
  return numbers;
}
