import { expect, it } from "vitest";
import { move, nothingSelected, select } from "./selection.ts";

const rows = ["a", "b", "c", "d"];
const at = (subject: string) => select(nothingSelected, rows, subject, "cards", "one");

it("starts at the first cell and stays within the table", () => {
  const first = move(nothingSelected, rows, 1, 1, "one");
  expect(first.cursor).toEqual({ subject: "a", column: "cards" });
  expect(move(first, rows, -1, 0, "one").cursor?.subject).toBe("a");
  expect(move(first, rows, 99, 0, "one").cursor?.subject).toBe("d");
  expect(move(first, rows, 0, 99, "one").cursor?.column).toBe("cardHours");
  expect(move(nothingSelected, [], 1, 0, "one")).toBe(nothingSelected);
});

it("extends a range from its anchor and shrinks it again", () => {
  const two = move(at("b"), rows, 1, 0, "range");
  const three = move(two, rows, 1, 0, "range");
  expect([...three.marked]).toEqual(["b", "c", "d"]);
  expect([...move(move(three, rows, -2, 0, "range"), rows, -1, 0, "range").marked]).toEqual(["a", "b"]);
});

it("toggles single rows, and goes on with a range from the last one", () => {
  const both = select(at("a"), rows, "c", "cards", "toggle");
  expect([...both.marked]).toEqual(["a", "c"]);
  expect([...select(both, rows, "a", "cards", "toggle").marked]).toEqual(["c"]);
  expect([...select(both, rows, "d", "cards", "range").marked]).toEqual(["c", "d"]);
});

it("keeps marked rows while the cursor goes to the side", () => {
  const both = select(at("a"), rows, "b", "cards", "range");
  expect(move(both, rows, 0, 1, "one")).toEqual({ ...both, cursor: { subject: "b", column: "gpuMemoryGiB" } });
});

it("starts anew where the cursor is not shown any more, and never chooses what is not shown", () => {
  expect(move(at("d"), ["a", "b"], 1, 0, "one").cursor?.subject).toBe("a");
  expect([...select(at("d"), ["a", "b"], "b", "cards", "range").marked]).toEqual(["b"]);
  const kept = at("a");
  expect(select(kept, rows, "z", "cards", "one")).toBe(kept);
});
