/**
 * The tree that `nvidia-smi -q` prints, as text by indentation or as XML. Both become the same nodes,
 * so that one reader (`query.ts`) turns either into facts.
 */

export interface QueryNode {
  /** Lower case, words joined by `_`: `FB Memory Usage` and `fb_memory_usage` are the same. */
  readonly key: string;
  /** Null for a node that has only children, or whose value was cut off. */
  readonly value: string | null;
  readonly children: readonly QueryNode[];
}

/** A tree under construction; parsers fill it and hand it out as QueryNode. */
export interface GrowingNode {
  key: string;
  value: string | null;
  children: GrowingNode[];
}

export interface QueryTree {
  readonly root: QueryNode;
  /** False where the output stops before its end: a crash, a full disk, a killed pipe. */
  readonly complete: boolean;
}

/** A report says the same few hundred labels for every GPU. Bounded, since a damaged one may say anything. */
const knownKeys = new Map<string, string>();
const mostKnownKeys = 5_000;

export function keyOf(label: string): string {
  const known = knownKeys.get(label);
  if (known !== undefined) return known;
  const key = newKeyOf(label);
  if (knownKeys.size < mostKnownKeys) knownKeys.set(label, key);
  return key;
}

function newKeyOf(label: string): string {
  return label
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
}

export function childOf(node: QueryNode | undefined, key: string): QueryNode | undefined {
  return node?.children.find((child) => child.key === key);
}

/** The first of several paths that leads to a value: drivers and formats name the same thing differently. */
export function valueAt(node: QueryNode, ...paths: readonly (readonly string[])[]): string | undefined {
  for (const path of paths) {
    let at: QueryNode | undefined = node;
    for (const key of path) at = childOf(at, key);
    if (at?.value !== undefined && at.value !== null) return at.value;
  }
  return undefined;
}

/** Like `valueAt`, but a path whose value is "N/A" gives way to a later one. */
export function firstPresent(
  node: QueryNode,
  absent: (raw: string | undefined) => boolean,
  ...paths: readonly (readonly string[])[]
): string | undefined {
  const values = paths.map((path) => valueAt(node, path)).filter((value) => value !== undefined);
  return values.find((value) => !absent(value)) ?? values[0];
}
