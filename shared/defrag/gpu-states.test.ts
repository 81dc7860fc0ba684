import { expect, test } from "vitest";
import { geometryOfKey } from "../mig/index.ts";
import { allLayouts } from "../mig/testing/layouts.ts";
import type { GpuGeometry } from "../mig/types.ts";
import { Completions, GpuStates, type SlotKind } from "./gpu-states.ts";

function geometry(key: string): GpuGeometry {
  const found = geometryOfKey(key);
  if (found === null) throw new Error(`the table has no ${key}`);
  return found;
}

const kindsOf = (model: GpuGeometry, isWanted: (name: string) => boolean): readonly SlotKind[] =>
  model.profiles.flatMap(({ name }, profile) => (isWanted(name) ? [{ row: profile, profile, anywhere: true }] : []));

/** Count vectors of all legal layouts that no other layout beats, the slow and plain way. */
function bestCounts(model: GpuGeometry, kinds: readonly SlotKind[]): readonly string[] {
  const ids = kinds.map(({ profile }) => model.profiles[profile]?.id ?? -1);
  const layouts = allLayouts(model).filter((places) => places.every(({ profileId }) => ids.includes(profileId)));
  const vectors = layouts.map((places) => ids.map((id) => places.filter((place) => place.profileId === id).length));
  const distinct = [...new Map(vectors.map((vector) => [vector.join(), vector])).values()];
  const beats = (a: readonly number[], b: readonly number[]) =>
    a !== b && a.every((count, at) => count >= (b[at] ?? 0));
  return distinct
    .filter((vector) => !distinct.some((other) => beats(other, vector)))
    .map((vector) => vector.join())
    .sort();
}

test("an empty A100 has 28 best fillings with six profiles and 12 without 1g at double memory", () => {
  const model = geometry("A100-80GB");
  const six = kindsOf(model, (name) => !name.includes("+"));
  const five = kindsOf(model, (name) => !name.includes("+") && name !== "1g.20gb");
  expect(new Completions(new GpuStates(model), six).of(0, 0)).toHaveLength(28);
  expect(new Completions(new GpuStates(model), five).of(0, 0)).toHaveLength(12);
});

test.each(["A100-40GB", "A30-24GB", "RTX-PRO-6000-Blackwell"])(
  "the best fillings of %s are those of a full search",
  (key) => {
    const model = geometry(key);
    const names = new Set(
      model.profiles.filter(({ graphics, media }) => !graphics && media !== "none").map(({ name }) => name),
    );
    const kinds = kindsOf(model, (name) => names.has(name));
    const found = new Completions(new GpuStates(model), kinds)
      .of(0, 0)
      .map(({ counts }) => counts.join())
      .sort();
    expect(found).toEqual(bestCounts(model, kinds));
  },
);

test("kinds that may not lie anywhere stay within the slices named", () => {
  const model = geometry("A100-40GB");
  const small = model.profiles.findIndex(({ name }) => name === "1g.5gb");
  const fillings = new Completions(new GpuStates(model), [{ row: 0, profile: small, anywhere: false }]).of(
    0,
    0b0011_0000,
  );
  expect(fillings.map(({ slots }) => slots.map(({ start }) => start))).toEqual([[4, 5]]);
});

test("a state is the same in whatever order its instances came, and illegal ones have none", () => {
  const states = new GpuStates(geometry("H100-SXM5-80GB"));
  const at = (name: string) => states.geometry.profiles.findIndex((profile) => profile.name === name);
  const oneWay = states.add(states.add(states.empty, at("3g.40gb"), 4), at("1g.10gb"), 0);
  const other = states.add(states.add(states.empty, at("1g.10gb"), 0), at("3g.40gb"), 4);
  expect(oneWay).toBe(other);
  expect(states.memory(oneWay)).toBe(0b1111_0001);
  expect(states.add(oneWay, at("4g.40gb"), 0)).toBe(-1);
});
