import fc from "fast-check";
import { expect, test } from "vitest";
import { type ColumnStore, GroupedLp } from "./lp.ts";

interface Example {
  readonly needs: readonly number[];
  readonly counts: readonly number[];
  /** By class: objective and vector of each column; the first is free and gives nothing. */
  readonly columns: readonly (readonly { readonly objective: number; readonly vector: readonly number[] }[])[];
}

const shortagePrice = 1000;
const rows = 3;

function solve({ needs, counts, columns }: Example) {
  const flat = columns.flatMap((list, owner) => list.map((column) => ({ ...column, owner })));
  const store: ColumnStore = {
    rows,
    objectives: flat.map(({ objective }) => objective),
    vectors: flat.flatMap(({ vector }) => vector),
  };
  const keys = columns.map((_, owner) => flat.findIndex((column) => column.owner === owner));
  const lp = new GroupedLp(store, needs, counts, keys, shortagePrice);
  for (;;) {
    if (lp.pivots > 2000) throw new Error("it runs in circles");
    const gains = flat.map(({ owner }, index) => ({
      entering: { kind: "column" as const, index, owner },
      gain: lp.reduced(lp.keys[owner] ?? 0) - lp.reduced(index),
    }));
    const row = lp.bestRowVariable();
    const [best] = [...gains, ...(row === null ? [] : [row])].toSorted((a, b) => b.gain - a.gain);
    if (best === undefined || best.gain <= 1e-7) break;
    lp.enter(best.entering);
  }
  const bound = flatBound(lp, needs, counts, columns);
  const x = flat.map(({ owner }, index) => {
    const inBasis = lp.basis.findIndex((one) => one.kind === "column" && one.owner === owner && one.index === index);
    return (lp.keys[owner] === index ? lp.keyValue(owner) : 0) + (inBasis < 0 ? 0 : (lp.values[inBasis] ?? 0));
  });
  return { lp, flat, x, bound };
}

/** What the prices alone prove: holds for any prices that are not negative (Lagrange). */
function flatBound(lp: GroupedLp, needs: readonly number[], counts: readonly number[], columns: Example["columns"]) {
  const worth = needs.reduce((sum, need, row) => sum + need * (lp.prices[row] ?? 0), 0);
  return columns.reduce((sum, list, owner) => {
    const reduced = list.map(
      ({ objective, vector }) =>
        objective - vector.reduce((all, amount, row) => all + amount * (lp.prices[row] ?? 0), 0),
    );
    return sum + (counts[owner] ?? 0) * Math.min(...reduced);
  }, worth);
}

const column = fc.record({
  objective: fc.integer({ min: 0, max: 9 }),
  vector: fc.array(fc.integer({ min: -2, max: 4 }), { minLength: rows, maxLength: rows }),
});
const example: fc.Arbitrary<Example> = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.array(column, { minLength: 1, maxLength: 5 })), {
    minLength: 1,
    maxLength: 6,
  })
  .chain((classes) =>
    fc.record({
      needs: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: rows, maxLength: rows }),
      counts: fc.constant(classes.map(([count]) => count)),
      columns: fc.constant(classes.map(([, list]) => [{ objective: 0, vector: [0, 0, 0] }, ...list])),
    }),
  );

test("what it finds is allowed, and its own prices prove that nothing is better", () => {
  fc.assert(
    fc.property(example, (given) => {
      const { lp, flat, x, bound } = solve(given);
      const used = given.counts.map((_, owner) =>
        flat.reduce((sum, one, index) => sum + (one.owner === owner ? (x[index] ?? 0) : 0), 0),
      );
      for (const [owner, count] of given.counts.entries()) expect(used[owner]).toBeCloseTo(count, 6);
      for (const value of x) expect(value).toBeGreaterThan(-1e-6);
      const missing = given.needs.map((need, row) =>
        Math.max(0, need - flat.reduce((sum, { vector }, index) => sum + (x[index] ?? 0) * (vector[row] ?? 0), 0)),
      );
      const total = missing.reduce((sum, amount) => sum + amount, 0);
      expect(total).toBeCloseTo(lp.shortage(), 3);
      const objective = flat.reduce((sum, one, index) => sum + one.objective * (x[index] ?? 0), shortagePrice * total);
      // The needs are eased by a hair in each row, at most at the price of a shortage.
      expect(Math.abs(objective - bound)).toBeLessThan(rows * 2e-5 * shortagePrice + 1e-6);
    }),
    { numRuns: 300 },
  );
});

test("a need that nothing can meet stays as a shortage", () => {
  const columns = [
    [
      { objective: 0, vector: [0, 0, 0] },
      { objective: 1, vector: [1, 0, 0] },
    ],
  ];
  expect(solve({ needs: [5, 0, 0], counts: [3], columns }).lp.shortage()).toBeCloseTo(2, 3);
});
