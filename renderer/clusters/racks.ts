/** Racks in a cluster's draft: how hosts fall into them, as the services sort them. */
import type { RackRule } from "../../shared/api/contract.ts";

export interface Rack {
  readonly name: string;
  readonly hosts: readonly string[];
}

export type RackPreview =
  | { readonly ok: true; readonly racks: readonly Rack[]; readonly withoutRack: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** `[user@]host[:port]` without what is around the name. */
export function bareHost(host: string): string {
  return host
    .replace(/^[^@]*@/, "")
    .replace(/^\[(.*)\](?::\d+)?$/, "$1")
    .replace(/^([^:]+):\d+$/, "$1");
}

function rackOf(rule: RackRule, pattern: RegExp | null, host: string): string | null {
  const name = bareHost(host);
  if (rule.kind === "map") return rule.racks[host] ?? rule.racks[name] ?? null;
  if (pattern === null) return null;
  const match = pattern.exec(name);
  return match?.[1] ?? match?.[0] ?? null;
}

export function previewRacks(rule: RackRule, hosts: readonly string[]): RackPreview {
  let pattern: RegExp | null = null;
  if (rule.kind === "pattern" && rule.pattern !== "") {
    try {
      pattern = new RegExp(rule.pattern, "u");
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }
  const racks = new Map<string, string[]>();
  const withoutRack: string[] = [];
  for (const host of hosts) {
    const rack = rackOf(rule, pattern, host);
    if (rack === null || rack === "") withoutRack.push(host);
    else racks.set(rack, [...(racks.get(rack) ?? []), host]);
  }
  return { ok: true, racks: [...racks].map(([name, members]) => ({ name, hosts: members })), withoutRack };
}

export type RackFile =
  | { readonly ok: true; readonly racks: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly line: number };

/** A rack file: `host rack` a line (or `host,rack`, or a tab between); hosts may be ranges. */
export function parseRackFile(content: string, expand: (text: string) => readonly string[] | null): RackFile {
  const racks: Record<string, string> = {};
  for (const [index, line] of content.split(/\r?\n/).entries()) {
    const bare = line.replace(/#.*$/, "").trim();
    if (bare === "") continue;
    const match = /^(\S*?\[[^\]]*\][^\s,]*|[^\s,]+)[\s,]+(.+)$/.exec(bare);
    const [, written, rack] = match ?? [];
    const hosts = written === undefined ? null : expand(written);
    if (hosts === null || rack === undefined) return { ok: false, line: index + 1 };
    for (const host of hosts) racks[host] = rack.trim();
  }
  return { ok: true, racks };
}
