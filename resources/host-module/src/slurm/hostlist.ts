/** Slurm's lists of names, `g[1-3,07],login`: hosts, and the device files of gres.conf. Source: hostlist.c. */
import { rangesOf } from "./gres.ts";

const maxNames = 65_536;

/** Every name, in order; zeros in front of a number are kept. Null for what is no such list, or one of over 65536 names. */
export function expandHostlist(list: string): readonly string[] | null {
  const names: string[] = [];
  for (const part of list.trim().match(/(?:[^,[\]]|\[[^[\]]*\])+|[[\]]/g) ?? []) {
    const expanded = expandName(part);
    if (expanded === null || names.length + expanded.length > maxNames) return null;
    names.push(...expanded);
  }
  return names.length === 0 ? null : names;
}

/** Each bracket is a number to put in: `r[1-2]n[1-2]` are four names. */
function expandName(part: string): readonly string[] | null {
  let names: readonly string[] = [""];
  for (const piece of part.match(/\[[^[\]]*\]|[^[\]]+|[[\]]/g) ?? []) {
    const choices = /^[[\]]/.test(piece) ? numbersIn(piece) : [piece];
    if (choices === null || names.length * choices.length > maxNames) return null;
    names = names.flatMap((name) => choices.map((choice) => name + choice));
  }
  return names;
}

function numbersIn(bracket: string): readonly string[] | null {
  const inside = /^\[([\d,-]+)\]$/.exec(bracket)?.[1];
  if (inside === undefined) return null;
  const numbers: string[] = [];
  for (const range of inside.split(",")) {
    const width = /^(\d{1,6})(-\d{1,6})?$/.exec(range)?.[1]?.length;
    if (width === undefined) return null;
    const found = rangesOf(range);
    if (found.length === 0) return null;
    numbers.push(...found.map((number) => String(number).padStart(width, "0")));
  }
  return numbers;
}
