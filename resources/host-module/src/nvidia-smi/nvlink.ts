/** `nvidia-smi nvlink -s`, `-c`, `-e` and `-R`: the links of each GPU and how many of them are up. */
import { linesOf, type Parsed } from "./text.ts";

export interface GpuNvlinks {
  readonly index: number;
  readonly uuid: string | null;
  /** Links that are up; null where the output does not tell (capabilities, error counters, MIG mode). */
  readonly active: number | null;
  readonly total: number | null;
  /** Sum over the links of replay, recovery and CRC errors (`-e`); null where not asked. */
  readonly errors: number | null;
}

const gpuLine = /^GPU\s+(\d+):\s+.*?(?:\(UUID:\s*([^\s)]+)\s*\))?$/;
const linkLine = /^\s+Link\s+(\d+)\s*[:,]\s*(.*)$/;

export function parseNvlinks(output: Uint8Array | string): Parsed<readonly GpuNvlinks[]> {
  const gpus: {
    index: number;
    uuid: string | null;
    links: Map<number, string>;
    errors: number | null;
    none: boolean;
  }[] = [];
  let inactive = false;
  for (const line of linesOf(output)) {
    const gpu = gpuLine.exec(line);
    const link = linkLine.exec(line);
    const last = gpus.at(-1);
    if (gpu !== null) {
      gpus.push({ index: Number(gpu[1]), uuid: gpu[2] ?? null, links: new Map(), errors: null, none: false });
    } else if (last !== undefined && link !== null) {
      const said = link[2] ?? "";
      last.links.set(Number(link[1]), said);
      const errors = /Errors:\s*(\d+)$/.exec(said);
      if (errors !== null) last.errors = (last.errors ?? 0) + Number(errors[1]);
    } else if (last !== undefined && /does not have or support Nvlink/i.test(line)) {
      last.none = true;
    } else if (/all links are inActive/i.test(line)) {
      inactive = true;
    }
  }
  const facts = gpus.map(({ index, uuid, links, errors, none }) => {
    const said = [...links.values()];
    const isStatus = said.some((words) => /GB\/s|inactive/i.test(words));
    const none0 = none ? 0 : null;
    return {
      index,
      uuid,
      active: isStatus ? said.filter((words) => /GB\/s/i.test(words)).length : inactive ? 0 : none0,
      total: links.size > 0 ? links.size : none0,
      errors,
    };
  });
  return { facts, unread: [] };
}
