import { expect, test } from "vitest";
import { nothingObserved } from "../nvidia-smi/observation.ts";
import { geometriesOf } from "./geometries.ts";
import type { ReadOutputs } from "./output.ts";
import { readOutputs } from "./outputs.ts";

const name = "NVIDIA H100 80GB HBM3";
const gpu = (index: number) => ({ ...nothingObserved, index, name, migCurrent: "enabled" as const });

const profileRow = (gpuIndex: number, multiprocessors = 60) => ({
  gpuIndex,
  name: "3g.40gb",
  profileId: 9,
  free: 1,
  total: 2,
  memoryGiB: 39.5,
  peerToPeer: false,
  multiprocessors,
  decoders: 3,
  encoders: 0,
  copyEngines: 3,
  jpegEngines: 3,
  opticalFlowEngines: 0,
});

/** GPU 0 holds an instance, so that `-lcip` lists its profiles for that GPU alone. */
function read(rows: ReadOutputs["gpuInstanceProfiles"]): ReadOutputs {
  return {
    ...readOutputs([]),
    gpuInstanceProfiles: rows,
    gpuInstances: [
      { gpuIndex: 0, profile: "3g.40gb", profileId: 9, gpuInstanceId: 2, placement: { start: 0, size: 4 } },
    ],
    computeInstanceProfiles: [
      {
        gpuIndex: 0,
        gpuInstanceId: 2,
        name: "1c.3g.40gb",
        profileId: 0,
        isDefault: false,
        free: 3,
        total: 3,
        multiprocessors: 16,
      },
    ],
  };
}

test("GPUs of one model share one geometry, however they are divided", () => {
  const { geometries, keys } = geometriesOf([gpu(0), gpu(1)], read([profileRow(0), profileRow(1)]));
  expect(Object.keys(geometries)).toEqual(["H100-SXM5-80GB"]);
  expect([...keys.values()]).toEqual(["H100-SXM5-80GB", "H100-SXM5-80GB"]);
});

test("where the driver lists two of them differently, the second has a key of its own", () => {
  const { keys } = geometriesOf([gpu(0), gpu(1)], read([profileRow(0), profileRow(1, 46)]));
  expect([...keys.values()]).toEqual(["H100-SXM5-80GB", "H100-SXM5-80GB#2"]);
});
