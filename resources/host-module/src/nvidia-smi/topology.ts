/**
 * `nvidia-smi topo -m` and `topo -mp`: how GPUs and NICs reach each other, and which CPUs are near.
 * The header is underlined by escape sequences even when it is piped (removed in `textOf`).
 */
import type { LinkKind, TopologyLink } from "../../../../shared/protocol/inventory.ts";
import { linesOf, type Parsed, type PartialRead, partialRead } from "./text.ts";

export interface Topology {
  /** Each pair once; NICs by the name that the legend gives them. */
  readonly links: readonly TopologyLink[];
  /** By index, for the GPUs that were listed. */
  readonly gpus: readonly ListedAffinity[];
  /** Kernel names of the NICs, `mlx5_0`. */
  readonly nics: readonly string[];
}

export interface ListedAffinity {
  readonly index: number;
  /** Kernel list format, `0-31,64-95`. */
  readonly cpuAffinity: string | null;
  readonly numaNode: number | null;
}

const headerCell = /CPU Affinity|NUMA Affinity|GPU NUMA ID|\S+/g;
const legendLine = /^\s*(NIC\d+)\s*:\s*(\S+)/;
const cpuList = /^\d+(-\d+)?(,\d+(-\d+)?)*$/;

export function parseTopology(output: Uint8Array | string): Parsed<Topology> {
  const lines = linesOf(output);
  // Rows begin with the device in the first column, the header with an empty one.
  const headerAt = lines.findIndex((line) => /^\s*GPU\d+\b.*Affinity|^\s+GPU\d+(\s+\S+\d+)*$/.test(line));
  const unread: PartialRead[] = [];
  const nothing = { links: [], gpus: [], nics: [] };
  if (headerAt < 0) return { facts: nothing, unread };
  const header = (lines[headerAt]?.match(headerCell) ?? []).map((cell) => cell.trim());
  const devices = header.filter((cell) => !/Affinity|NUMA ID/.test(cell));
  const legend = new Map(
    lines.flatMap((line) => {
      const match = legendLine.exec(line);
      return match === null ? [] : [[match[1] ?? "", match[2] ?? ""] as const];
    }),
  );
  const nameOf = (device: string) => legend.get(device) ?? device;
  const links: TopologyLink[] = [];
  const gpus: ListedAffinity[] = [];
  for (const line of lines.slice(headerAt + 1)) {
    const cells = line.includes("\t") ? line.split("\t").map((cell) => cell.trim()) : line.trim().split(/\s+/);
    const name = cells[0] ?? "";
    const row = devices.indexOf(name);
    if (row < 0) continue;
    const kinds = cells.slice(1, devices.length + 1);
    if (kinds.length < devices.length) unread.push(partialRead(`links of ${name}`, "the row is cut", line));
    for (const [column, cell] of kinds.entries()) {
      const other = devices[column];
      if (column <= row || other === undefined || cell === "") continue;
      links.push({ a: nameOf(name), b: nameOf(other), ...linkOf(cell) });
    }
    const gpu = /^GPU(\d+)$/.exec(name);
    if (gpu !== null) gpus.push(affinityOf(Number(gpu[1]), header, cells.slice(devices.length + 1)));
  }
  const nics = devices.filter((device) => !/^GPU\d+$/.test(device)).map(nameOf);
  return { facts: { links, gpus, nics }, unread };
}

function linkOf(cell: string): { readonly kind: LinkKind; readonly nvlinkCount: number | null } {
  const nvlink = /^NV(\d+)$/.exec(cell);
  if (nvlink !== null) return { kind: "NVLINK", nvlinkCount: Number(nvlink[1]) };
  const kinds: Readonly<Record<string, LinkKind>> = {
    PIX: "PIX",
    PXB: "PXB",
    PHB: "PHB",
    NODE: "NODE",
    SYS: "SYS",
    SOC: "SYS", // before 390
  };
  return { kind: kinds[cell] ?? "unknown", nvlinkCount: null };
}

/** The columns after the matrix: CPU and NUMA affinity, empty where the machine has no NUMA. */
function affinityOf(index: number, header: readonly string[], cells: readonly string[]): ListedAffinity {
  const columns = header.filter((cell) => /Affinity/.test(cell));
  const cpus = cells[columns.indexOf("CPU Affinity")] ?? "";
  const node = cells[columns.indexOf("NUMA Affinity")] ?? "";
  return {
    index,
    cpuAffinity: cpuList.test(cpus) ? cpus : null,
    numaNode: /^\d+$/.test(node) ? Number(node) : null,
  };
}
