/** How GPUs of a pool in daily use are cut up: with gaps, because people come and go. */
import type { InstanceDescription } from "../driver/describe.ts";

type Cut = readonly (readonly [profile: string, start: number])[];

const eightSlices: readonly Cut[] = [
  [
    ["1g", 0],
    ["2g", 2],
    ["1g", 4],
    ["1g", 6],
  ],
  [
    ["3g", 0],
    ["1g", 4],
    ["1g", 6],
  ],
  [
    ["3g", 0],
    ["3g", 4],
  ],
  [
    ["4g", 0],
    ["2g", 4],
    ["1g", 6],
  ],
  [
    ["4g", 0],
    ["3g", 4],
  ],
  [
    ["1g", 0],
    ["1g", 1],
    ["2g", 2],
    ["2g", 4],
  ],
  [
    ["2g", 0],
    ["2g", 4],
    ["1g", 6],
  ],
  [
    ["1g", 1],
    ["1g", 3],
    ["3g", 4],
  ],
  [
    ["1g", 0],
    ["1g", 1],
    ["1g", 2],
    ["1g", 3],
    ["1g", 4],
    ["1g", 5],
    ["1g", 6],
  ],
  [
    ["1g", 0],
    ["1g", 2],
    ["1g", 5],
  ],
  [
    ["2g", 2],
    ["3g", 4],
  ],
  [
    ["2g", 0],
    ["1g", 2],
    ["1g", 5],
  ],
  [
    ["1g", 1],
    ["2g", 4],
  ],
  [
    ["1gw", 0],
    ["1gw", 4],
    ["1g", 6],
  ],
  [
    ["1gm", 0],
    ["1g", 1],
    ["2g", 2],
    ["1g", 5],
  ],
  [
    ["2g", 0],
    ["2g", 2],
    ["2g", 4],
    ["1g", 6],
  ],
  [
    ["1g", 0],
    ["3g", 4],
  ],
];

const twelveSlices: readonly Cut[] = [
  [
    ["2g", 0],
    ["1g", 6],
    ["1g", 9],
  ],
  [
    ["1g", 0],
    ["1g", 6],
  ],
  [
    ["2g", 0],
    ["2g", 6],
  ],
  [
    ["1g", 3],
    ["2g", 6],
  ],
  [
    ["1g", 0],
    ["1g", 3],
    ["1g", 6],
    ["1g", 9],
  ],
  [
    ["1gm", 0],
    ["1g", 9],
  ],
];

/** Profile ids by what the cuts call them: `1gw` is the wide one with two memory slices, `1gm` the one with media engines. */
const ids: Readonly<Record<"eight" | "twelve", Readonly<Record<string, number>>>> = {
  eight: { "1g": 19, "1gm": 20, "1gw": 15, "2g": 14, "3g": 9, "4g": 5, "7g": 0 },
  twelve: { "1g": 14, "1gm": 21, "2g": 5, "4g": 0 },
};

/** All cuts of a GPU with 8 or 12 memory slices, as descriptions of its instances. */
export function cutsFor(memorySlices: number): readonly (readonly InstanceDescription[])[] {
  const kind = memorySlices === 12 ? "twelve" : "eight";
  return (kind === "twelve" ? twelveSlices : eightSlices).map((cut) =>
    cut.map(([name, start]) => ({ profile: ids[kind][name] ?? -1, start })),
  );
}
