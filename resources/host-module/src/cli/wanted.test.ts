import { describe, expect, test } from "vitest";
import { geometryFor } from "../../../../shared/mig/geometry.ts";
import type { LayoutInstance } from "../../../../shared/mig/types.ts";
import type { GpuReading } from "../mig/reading.ts";
import { UsageError } from "./arguments.ts";
import { chosenGpus, parseLayout, wantedFor } from "./wanted.ts";

const name = "NVIDIA H100 80GB HBM3";
const geometry = geometryFor({ name });

/** 9 is 3g.40gb, 14 is 2g.20gb, 19 is 1g.10gb; each filled by one compute instance. */
const filling: Readonly<Record<number, number>> = { 9: 2, 14: 1, 19: 0 };
function standing(profileId: number, start: number, id: number, inUse = false): LayoutInstance {
  return { profileId, start, id, inUse, computeInstances: [{ profileId: filling[profileId] ?? 0, start: 0, id: 0 }] };
}
function gpu(...instances: readonly LayoutInstance[]): GpuReading {
  return {
    uuid: "GPU-1",
    index: 0,
    name,
    geometry,
    mig: { current: "enabled", pending: "enabled" },
    layout: { migEnabled: true, instances },
    minorNumber: 0,
    processes: [],
  };
}
const places = (reading: GpuReading, preset: string, keepInUse = false) =>
  wantedFor(reading, { preset, keepInUse }).layout.instances.map(({ profileId, start }) => `${profileId}@${start}`);

describe("a preset", () => {
  test("leaves what it asks for where it stands already", () => {
    expect(places(gpu(standing(19, 3, 9)), "1g.10gb+3g")).toEqual(["19@3", "9@4"]);
    expect(places(gpu(standing(9, 0, 1)), "3g")).toEqual(["9@0"]);
  });

  test("moves an idle instance rather than one that is in use, where both cannot stay", () => {
    expect(places(gpu(standing(14, 0, 3, true), standing(14, 4, 5)), "3g+2g")).toEqual(["14@0", "9@4"]);
    expect(places(gpu(standing(14, 0, 3), standing(14, 4, 5, true)), "3g+2g")).toEqual(["9@0", "14@4"]);
  });

  test("goes its own way where what stands leaves no room", () => {
    expect(places(gpu(standing(14, 2, 4)), "2x3g")).toEqual(["9@0", "9@4"]);
  });

  test("comes beside what is in use, where asked to keep it", () => {
    expect(places(gpu(standing(9, 0, 1, true), standing(19, 5, 9)), "2g", true)).toEqual(["9@0", "14@4"]);
  });
});

test("GPUs are named by UUID, index or all; a name that is not there lists those that are", () => {
  const gpus = [
    { uuid: "GPU-a", index: 0, name },
    { uuid: "GPU-b", index: 1, name },
  ];
  expect(chosenGpus(["1,GPU-a"], gpus).map(({ index }) => index)).toEqual([1, 0]);
  expect(chosenGpus(["all", "0"], gpus)).toHaveLength(2);
  expect(() => chosenGpus(["2"], gpus)).toThrow(
    expect.objectContaining({ code: "not-found", remedy: expect.stringContaining("0 (GPU-a), 1 (GPU-b)") }),
  );
});

test("a layout names profiles and starts, and compute instances in brackets", () => {
  if (geometry === null) throw new Error("the table knows this model");
  expect(parseLayout("3g.40gb@4(1c@0, 2c@1), 19@0, 1g.10gb@1()", geometry)).toEqual([
    {
      profileId: 9,
      start: 4,
      computeInstances: [
        { profileId: 0, start: 0 },
        { profileId: 1, start: 1 },
      ],
    },
    { profileId: 19, start: 0 },
    { profileId: 19, start: 1, computeInstances: [] },
  ]);
  for (const wrong of ["3g.40gb", "9g.1gb@0", "3g.40gb@4(5c@0)", "3g.40gb@x", "3g.40gb@4("]) {
    expect(() => parseLayout(wrong, geometry), wrong).toThrow(UsageError);
  }
});
