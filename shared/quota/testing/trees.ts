/** Quota trees for properties, and the whole of a large one. For tests only. */
import fc from "fast-check";
import { fraction } from "../fraction.ts";
import type { QuotaNode } from "../tree.ts";
import { limits, usage } from "./arbitraries.ts";

/** 1 cluster, 1 to 3 tenants, up to 3 projects each, up to 3 people each; limits and usage anywhere. In any order. */
export const quotaNodes: fc.Arbitrary<readonly QuotaNode[]> = fc
  .array(fc.array(fc.nat(3), { maxLength: 3 }), { minLength: 1, maxLength: 3 })
  .chain((tenants) => {
    const shape: Pick<QuotaNode, "id" | "level" | "parentId">[] = [{ id: "c", level: "cluster", parentId: null }];
    for (const [t, projects] of tenants.entries()) {
      shape.push({ id: `t${t}`, level: "tenant", parentId: "c" });
      for (const [p, people] of projects.entries()) {
        shape.push({ id: `t${t}p${p}`, level: "project", parentId: `t${t}` });
        for (let person = 0; person < people; person += 1) {
          shape.push({ id: `t${t}p${p}/u${person}`, level: "person", parentId: `t${t}p${p}` });
        }
      }
    }
    const parts = fc.tuple(limits, fc.option(usage, { nil: undefined, freq: 4 }));
    return fc.array(parts, { minLength: shape.length, maxLength: shape.length }).chain((drawn) => {
      const nodes = shape.map((node, index) => {
        const [nodeLimits, nodeUsage] = drawn[index] ?? [{}, undefined];
        return { ...node, limits: nodeLimits, ...(nodeUsage === undefined ? {} : { usage: nodeUsage }) };
      });
      return fc.shuffledSubarray(nodes, { minLength: nodes.length });
    });
  });

/** 200 tenants of 10 projects of 10 people, each person with half a card in use. */
export function largeTree(): readonly QuotaNode[] {
  const nodes: QuotaNode[] = [{ id: "c", level: "cluster", parentId: null, limits: { cards: fraction(9_000) } }];
  for (let t = 0; t < 200; t += 1) {
    nodes.push({ id: `t${t}`, level: "tenant", parentId: "c", limits: { cards: fraction(60) } });
    for (let p = 0; p < 10; p += 1) {
      nodes.push({ id: `t${t}p${p}`, level: "project", parentId: `t${t}`, limits: { cards: fraction(6) } });
      for (let u = 0; u < 10; u += 1) {
        const limits = u === 0 ? { cards: fraction(1) } : {};
        const person = { id: `t${t}p${p}/u${u}`, level: "person" as const, parentId: `t${t}p${p}`, limits };
        nodes.push({ ...person, usage: { cards: fraction(1, 2), cpuCores: fraction(4) } });
      }
    }
  }
  return nodes;
}

/** The tree as plain lists, for second implementations that look at everything each time. */
export function reference(nodes: readonly QuotaNode[]) {
  const find = (id: string | null) => nodes.find((node) => node.id === id);
  const chain = (node: QuotaNode): readonly QuotaNode[] => {
    const parent = find(node.parentId);
    return parent === undefined ? [node] : [node, ...chain(parent)];
  };
  const below = (top: QuotaNode) => nodes.filter((node) => chain(node).some(({ id }) => id === top.id));
  const children = (parent: QuotaNode) => nodes.filter((node) => node.parentId === parent.id);
  return { find, chain, below, children };
}
