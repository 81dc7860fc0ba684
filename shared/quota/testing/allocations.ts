/** Allocations for properties. For tests only. */
import fc from "fast-check";
import type { Allocation } from "../allocations.ts";
import type { QuotaNode } from "../tree.ts";
import { amount, limits } from "./arbitraries.ts";

/** Of the people and projects of a tree, running and waiting, no two of the same order. */
export function allocationsOf(nodes: readonly QuotaNode[]): fc.Arbitrary<readonly Allocation[]> {
  const owners = nodes.filter(({ level }) => level === "person" || level === "project").map(({ id }) => id);
  if (owners.length === 0) return fc.constant([]);
  const parts = fc.record({
    nodeId: fc.constantFrom(...owners),
    state: fc.constantFrom("running" as const, "waiting" as const),
    cardHours: fc.option(amount, { nil: undefined }),
    stated: limits,
  });
  return fc.array(parts, { maxLength: 10 }).map((drawn) =>
    drawn.map(({ nodeId, state, cardHours, stated: { cardHours: _, ...rest } }, index) => ({
      id: `j${index}`,
      nodeId,
      state,
      order: (index * 7) % 11,
      amounts: { ...rest, ...(cardHours === undefined ? {} : { cardHours }) },
    })),
  );
}
