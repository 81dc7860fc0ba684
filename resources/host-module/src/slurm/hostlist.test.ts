import fc from "fast-check";
import { expect, test } from "vitest";
import { expandHostlist } from "./hostlist.ts";

test.each([
  ["g1", ["g1"]],
  ["g[1-3,7],login", ["g1", "g2", "g3", "g7", "login"]],
  ["n[08-10]", ["n08", "n09", "n10"]],
  ["r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]],
  ["/dev/nvidia[0-1,3]", ["/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia3"]],
  ["/dev/nvidia4,/dev/nvidia-caps/nvidia-cap606", ["/dev/nvidia4", "/dev/nvidia-caps/nvidia-cap606"]],
])("%s", (list, names) => {
  expect(expandHostlist(list)).toEqual(names);
});

test.each(["", "g[", "g]1", "g[a-b]", "g[1-]", "g[3-1]", "g[[1]]", "g[1-9999][1-9999]", "g[0-99999999]"])(
  "%j is no list, or too long a one",
  (list) => {
    expect(expandHostlist(list)).toBeNull();
  },
);

test("whatever the text, at most 65536 names or none", () => {
  const text = fc.string({ unit: fc.constantFrom(..."g0159[]-,/") });
  fc.assert(fc.property(text, (list) => (expandHostlist(list)?.length ?? 1) <= 65_536));
});
