/** `nvidia-smi -q`, with or without `-d`: a tree by indentation, `Key : Value`. */
import { type GrowingNode, keyOf, type QueryTree } from "./query-tree.ts";
import { textOf } from "./text.ts";

const gpuHeading = /^GPU\s+([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])$/i;
const pair = /^(.*?)\s*:(?:\s+(.*))?$/;

export function parseQueryText(output: Uint8Array | string): QueryTree {
  const text = textOf(output);
  const lines = text.split("\n");
  // A line without its end may have lost a part of its value.
  const cut = lines.pop() ?? "";
  const root: GrowingNode = { key: "", value: null, children: [] };
  const open: { node: GrowingNode; indent: number }[] = [];
  for (const line of lines) {
    const content = line.trim();
    if (content === "" || /^=+NVSMI LOG=+$/.test(content)) continue;
    const indent = line.length - line.trimStart().length;
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const node = nodeOf(content);
    (open.at(-1)?.node ?? root).children.push(node);
    open.push({ node, indent });
  }
  return { root, complete: cut.trim() === "" && lines.length > 0 };
}

function nodeOf(content: string): GrowingNode {
  const heading = gpuHeading.exec(content);
  if (heading !== null) {
    return { key: "gpu", value: null, children: [{ key: "@id", value: heading[1] ?? "", children: [] }] };
  }
  const match = pair.exec(content);
  if (match === null) return { key: keyOf(content), value: null, children: [] };
  return { key: keyOf(match[1] ?? ""), value: (match[2] ?? "").trim(), children: [] };
}
