/** What an output is, told by its content alone: a support bundle's file names say nothing reliable. */
import { csvHeaderAt, isCsvRow, parseCsv } from "./csv.ts";
import { messagesOf } from "./messages.ts";
import { linesOf, textOf } from "./text.ts";

export const outputKinds = [
  "query-xml", // -q -x
  "query-text", // -q
  "device-list", // -L
  "table", // without options
  "gpu-instances", // mig -lgi
  "compute-instances", // mig -lci
  "gpu-instance-profiles", // mig -lgip
  "gpu-instance-placements", // mig -lgipp
  "compute-instance-profiles", // mig -lcip
  "compute-instance-placements", // mig -lcipp
  "topology", // topo -m, -mp
  "peer-to-peer", // topo -p2p
  "query-gpu", // --query-gpu
  "query-compute-apps",
  "query-accounted-apps",
  "query-retired-pages",
  "nvlink", // nvlink -s, -c, -e, -R
  "device-monitor", // dmon
  "process-monitor", // pmon
  "version", // --version
  "vgpu", // vgpu -q, -u
  "compute-policy", // compute-policy -l
  "help",
  "kernel-log", // Xid events
  "messages", // failures, changes, "there is none"
] as const;

export type OutputKind = (typeof outputKinds)[number];

const xmlMark = /<nvidia_smi_log\b|<!DOCTYPE nvidia_smi_log|<gpu id="/;

/** By a line that nothing else prints. The order is the order of the answer. */
const marks: readonly (readonly [OutputKind, RegExp])[] = [
  [
    "query-text",
    /^\s*=+NVSMI LOG=+$|^GPU [0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]$|^\s+Product Name\s+: |^\s+GPU UUID\s+: /im,
  ],
  [
    "table",
    /^\s*\| NVIDIA-SMI \S+\s+(Driver|KMD) Version|^\s*\|\s*(GPU|Fan)\s+(Name\s+(Persistence-M|Driver-Model|TCC)|Temp)|^\|\s*\d+\s+\S.*\|\s*[0-9a-f]{8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]\s/im,
  ],
  ["gpu-instances", /^\|\s*GPU instances:|^\|\s*\d+\s+MIG \S+\s+\d+\s+\d+\s+\d+:\d+\s*\|$/m],
  ["compute-instances", /^\|\s*Compute instances:|^\|\s*\d+\s+\d+\s+MIG \S+\s+\d+\*?\s+\d+\s+\d+:\d+\s*\|$/m],
  ["gpu-instance-profiles", /^\|\s*GPU instance profiles:|^\|\s*\d+\s+MIG \S+\s+\d+\s+\d+\/\d+\s/m],
  ["compute-instance-profiles", /^\|\s*Compute instance profiles:|^\|\s*\d+\s+\d+\s+MIG \S+\s+\d+\*?\s+\d+\/\d+\s/m],
  ["gpu-instance-placements", /^GPU\s+\d+\s+Profile ID\s+\d+\s+Placements?\s*:/m],
  ["compute-instance-placements", /^GPU\s+\d+\s+GI\s+\d+\s+Profile ID\s+\d+\s+Placements?\s*:/m],
  ["nvlink", /^\s+Link \d+[:,] |Nvlink queries are not supported|support Nvlink$|all links are inActive/m],
  ["device-list", /^\s*GPU \d+: .*\(UUID: |^\s+MIG \S+\s+Device\s+\d+: \(UUID/m],
  ["peer-to-peer", /^\s*GPU0\t.*\b(OK|CNS|GNS|TNS|NS)\b/m],
  ["topology", /^\s*GPU\d+.*CPU Affinity|^\s*(GPU\d+|NIC\d+|mlx\d_\d+)\t\s*(X|NV\d+|PIX|PXB|PHB|NODE|SYS)\s/m],
  ["process-monitor", /^\s*#\s*gpu\s+pid\b/m],
  ["vgpu", /^\s*#\s*gpu\s+vgpu\b|^No supported devices in vGPU mode|^\s+vGPU ID\s+:|\bvGPU Name\b/m],
  ["device-monitor", /^\s*#\s*gpu\s+(?!pid\b|vgpu\b)\S/m],
  ["version", /^NVIDIA-SMI version\s*:/im],
  ["compute-policy", /^\|\s*GPU compute policies:/m],
  ["kernel-log", /NVRM: Xid \(/],
];

/** Every mark of these is also found in the manual, which quotes the tool's output. */
const helpMarks =
  /^List of valid properties to query for the switch|^\s*Usage: nvidia-smi \S|^nvidia-smi \[OPTION1 \[ARG1\]\]|^\s+nvidia-smi \S+ \[OPTION1|^List of properties that can be queried are|^\s+\[-h \| --help\]/m;

/**
 * The kinds of output that a text holds, the most telling first; empty where nothing in it is known.
 * A file may hold several (a table, and `-L` after it).
 */
export function recognise(output: Uint8Array | string): readonly OutputKind[] {
  const text = textOf(output);
  // By far the largest, and nothing else looks like it: no other mark has to be looked for in it.
  if (xmlMark.test(text)) return ["query-xml"];
  if (helpMarks.test(text)) return ["help"];
  const kinds = marks.filter(([, mark]) => mark.test(text)).map(([kind]) => kind);
  const isPeerToPeer = kinds.includes("peer-to-peer");
  const found = kinds.filter((kind) => !(kind === "topology" && isPeerToPeer));
  const csv = csvKindOf(text, found.length === 0);
  if (csv !== null) found.push(csv);
  if (messagesOf(text).length > 0) found.push("messages");
  return found;
}

function csvKindOf(text: string, isAlone: boolean): OutputKind | null {
  const lines = linesOf(text).map((line) => line.trim());
  if (csvHeaderAt(lines) < 0 && !(isAlone && lines.some(isCsvRow))) return null;
  return parseCsv(text).facts?.query ?? null;
}
