/** Hosts as operators type them: separated by commas, spaces or lines, with Slurm's ranges `gpu[01-08,12]`. */
import { bareHost } from "./racks.ts";

export type HostList =
  | { readonly ok: true; readonly hosts: readonly string[]; readonly repeated: number }
  | { readonly ok: false; readonly problem: HostListProblem; readonly part: string };

export type HostListProblem =
  | "unclosed"
  | "range"
  | "too-many"
  | "characters"
  | "too-long"
  | "password"
  | "nameless"
  | "port";

/** As long as the services take a host with its user and port. */
const longestHost = 255;

const maxHosts = 10_000;

/** Splits on white space and commas outside brackets. Text after `#` on a line is a comment. */
function split(text: string): string[] {
  const parts: string[] = [];
  let part = "";
  let depth = 0;
  for (const character of text.replace(/#.*$/gm, "")) {
    if (character === "[") depth += 1;
    if (character === "]") depth = Math.max(0, depth - 1);
    if (depth === 0 && /[\s,;]/.test(character)) {
      if (part !== "") parts.push(part);
      part = "";
    } else part += character;
  }
  if (part !== "") parts.push(part);
  return parts;
}

type Expansion = readonly string[] | HostListProblem;

/** `01-03,7` as `01`, `02`, `03`, `7`: leading zeros keep the width, as Slurm writes them. */
function numbersOf(list: string): Expansion {
  const numbers: string[] = [];
  for (const piece of list.split(",")) {
    const match = /^\s*(\d+)(?:\s*-\s*(\d+))?\s*$/.exec(piece);
    const first = match?.[1];
    if (first === undefined) return "range";
    const from = Number(first);
    const to = Number(match?.[2] ?? first);
    if (to < from) return "range";
    if (to - from >= maxHosts) return "too-many";
    for (let number = from; number <= to; number += 1) numbers.push(String(number).padStart(first.length, "0"));
  }
  return numbers;
}

/** An IPv6 address stands in brackets too: `[2001:db8::7]:2222` is one host, not a range. */
function isAddress(inside: string): boolean {
  return inside.includes(":");
}

function expand(part: string): Expansion {
  const open = part.indexOf("[");
  if (open === -1) return part.includes("]") ? "unclosed" : [part];
  const close = part.indexOf("]", open);
  if (close === -1) return "unclosed";
  const inside = part.slice(open + 1, close);
  const rest = expand(part.slice(close + 1));
  if (typeof rest === "string") return rest;
  const numbers = isAddress(inside) ? [`[${inside}]`] : numbersOf(inside);
  if (typeof numbers === "string") return numbers;
  if (numbers.length * rest.length > maxHosts) return "too-many";
  return numbers.flatMap((number) => rest.map((tail) => `${part.slice(0, open)}${number}${tail}`));
}

/** What the services would refuse of one host, said while it is typed. */
function problemOf(host: string): HostListProblem | null {
  if (host.length > longestHost) return "too-long";
  // The console keeps no password with a cluster, and ssh takes none this way.
  if (/^[^@]*:[^@]*@/.test(host)) return "password";
  const name = bareHost(host);
  if (name === "") return "nameless";
  // A leading dash would be read as an option by ssh.
  if (host.startsWith("-") || name.startsWith("-") || /[^\w.@:%+~[\]-]/u.test(host)) return "characters";
  const port = /(?:^[^:]*|\]):([^:]*)$/.exec(host)?.[1];
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)) return "port";
  return null;
}

export function parseHosts(text: string): HostList {
  const hosts = new Set<string>();
  let count = 0;
  for (const part of split(text)) {
    const expanded = expand(part);
    if (typeof expanded === "string") return { ok: false, problem: expanded, part };
    for (const host of expanded) {
      const problem = problemOf(host);
      if (problem !== null) return { ok: false, problem, part: host };
      count += 1;
      hosts.add(host);
    }
    if (hosts.size > maxHosts) return { ok: false, problem: "too-many", part };
  }
  return { ok: true, hosts: [...hosts], repeated: count - hosts.size };
}

interface Run {
  readonly head: string;
  readonly first: string;
  readonly last: string;
  readonly tail: string;
}

function runOf(host: string): Run | null {
  const [, head, digits, tail] = /^([^[\]:]*?)(\d+)([^\d[\]:]*)$/.exec(host) ?? [];
  if (head === undefined || digits === undefined || tail === undefined) return null;
  return { head, first: digits, last: digits, tail };
}

function follows(run: Run, next: Run): boolean {
  return (
    run.head === next.head &&
    run.tail === next.tail &&
    run.first.length === next.first.length &&
    Number(run.last) + 1 === Number(next.first)
  );
}

/** Writes hosts back the short way, `gpu[01-24]`, one entry a line, for editing. Order is kept. */
export function writeHosts(hosts: readonly string[]): string {
  const runs: (Run | string)[] = [];
  for (const host of hosts) {
    const next = runOf(host);
    const open = runs.at(-1);
    if (next !== null && typeof open === "object" && follows(open, next)) {
      runs[runs.length - 1] = { ...open, last: next.last };
    } else runs.push(next ?? host);
  }
  return runs
    .map((run) => {
      if (typeof run === "string") return run;
      return `${run.head}${run.first === run.last ? run.first : `[${run.first}-${run.last}]`}${run.tail}`;
    })
    .join("\n");
}
