import { describe, expect, test } from "vitest";
import type { Gpu } from "../../../../shared/protocol/inventory.ts";
import { readInventory } from "../inventory/read.ts";
import { capturedSystem } from "../testing/captured-system.ts";
import { hostFiles, hostRuns } from "../testing/reports.ts";
import { readGres } from "./gres.ts";
import { readGresConf } from "./gres-conf.ts";
import { type GresSlots, gresSlots, type HostDevices, placesOf, readMigMinors } from "./gres-slots.ts";
import { Reading } from "./reading.ts";

function slotsOf(gres: string, content: string): GresSlots | null {
  const conf = readGresConf(content, "g1");
  if (conf === null) throw new Error("the test's gres.conf cannot be read");
  return gresSlots(readGres(gres, "Gres", new Reading("test")), conf);
}

/** Card by card, as a file is written; Slurm counts type by type. */
const twoCards = `Name=gpu Type=a100 File=/dev/nvidia0
Name=gpu Type=pad File=/dev/nvidia-caps/pad0
Name=gpu Type=a100_3g.20gb MultipleFiles=/dev/nvidia1,/dev/nvidia-caps/nvidia-cap147,/dev/nvidia-caps/nvidia-cap148
Name=gpu Type=a100 File=/dev/nvidia2
`;

describe("Slurm's numbers", () => {
  test("go by the types of slurm.conf first, then by the lines of gres.conf", () => {
    expect(slotsOf("gpu:a100:2(S:0-1),gpu:pad:1,gpu:a100_3g.20gb:1,vram:80", twoCards)).toEqual({
      kind: "listed",
      files: [
        ["/dev/nvidia0"],
        ["/dev/nvidia2"],
        ["/dev/nvidia-caps/pad0"],
        ["/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap147", "/dev/nvidia-caps/nvidia-cap148"],
      ],
    });
  });

  test("without types they go by the lines; what slurm.conf counts above them has no file", () => {
    expect(slotsOf("gpu:3", "Name=gpu Type=a100 File=/dev/nvidia[1,0]")).toEqual({
      kind: "listed",
      files: [["/dev/nvidia1"], ["/dev/nvidia0"], null],
    });
  });

  test("what slurm.conf does not count is cut off", () => {
    expect(slotsOf("gpu:a100:1", "Name=gpu Type=A100 File=/dev/nvidia[0-3]")).toEqual({
      kind: "listed",
      files: [["/dev/nvidia0"]],
    });
  });

  test.each(["gpu:2,gpu:a100:1", "gpu:a100:1,gpu:a100:2"])("%s follows no rule", (gres) => {
    expect(slotsOf(gres, twoCards)).toBeNull();
  });
});

test("mig-minors: GPU instances, and compute instances as theirs", () => {
  const text =
    "config 1\nmonitor 2\ngpu0/gi1/access 12\ngpu0/gi1/ci0/access 13\ngpu1/gi0/access 138\nx\ngpu0/gi1/access y";
  expect([...readMigMinors(text)]).toEqual([
    [12, { gpuMinor: 0, gpuInstanceId: 1 }],
    [13, { gpuMinor: 0, gpuInstanceId: 1 }],
    [138, { gpuMinor: 1, gpuInstanceId: 0 }],
  ]);
});

describe("devices", async () => {
  // The first GPU has instances, the second is whole.
  const { gpus } = await readInventory(capturedSystem({ runs: hostRuns, files: hostFiles }));
  const [divided, whole] = gpus;
  if (divided === undefined || whole === undefined) throw new Error("the fixture has two GPUs");
  const instance = divided.instances[0]?.id ?? -1;
  const minorNumbers = new Map([
    [divided.uuid, 5],
    [whole.uuid, 2],
  ]);
  const capabilities = readMigMinors(
    `gpu5/gi${instance}/access 100\ngpu5/gi${instance}/ci0/access 101\ngpu5/gi77/access 120\ngpu2/gi0/access 130`,
  );
  const devices: HostDevices = { gpus, minorNumbers, capabilities };
  const placesOfFiles = (...files: string[]) => placesOf({ kind: "listed", files: [files] }, 0, devices);
  const cap = (minor: number) => `/dev/nvidia-caps/nvidia-cap${minor}`;
  const instancePlace = { gpuUuid: divided.uuid, gpuInstanceId: instance };

  test("a file is the GPU of that minor number, not of that index", () => {
    expect(placesOfFiles("/dev/nvidia2")).toEqual([{ gpuUuid: whole.uuid, gpuInstanceId: null }]);
  });

  test.each([
    ["all three files", ["/dev/nvidia5", cap(100), cap(101)]],
    ["the instance's file alone", [cap(100)]],
  ])("an instance by %s", (_name, files) => {
    expect(placesOfFiles(...files)).toEqual([instancePlace]);
  });

  test.each([
    ["a file of another GPU", ["/dev/nvidia2", cap(100)]],
    ["an instance that is not there", ["/dev/nvidia5", cap(120)]],
    ["a number that the driver does not list", ["/dev/nvidia5", cap(999)]],
    ["two instances", ["/dev/nvidia5", cap(100), cap(120)]],
    ["the whole of a divided GPU", ["/dev/nvidia5"]],
    ["no such GPU", ["/dev/nvidia0"]],
    ["a file that is none of the driver's", ["/dev/nvidia2", "/dev/tty0"]],
  ])("nothing is said of %s", (_name, files) => {
    expect(placesOfFiles(...files)).toEqual([]);
  });

  test("nothing is said of a number beyond the list, or without files", () => {
    expect(placesOf({ kind: "listed", files: [null] }, 0, devices)).toEqual([]);
    expect(placesOf({ kind: "listed", files: [null] }, 1, devices)).toEqual([]);
  });

  describe("where slurmd detects them", () => {
    const two: readonly Gpu[] = [
      { ...whole, uuid: "GPU-a" },
      { ...whole, uuid: "GPU-b" },
    ];
    const by = (first: number, second: number) =>
      new Map([
        ["GPU-a", first],
        ["GPU-b", second],
      ]);
    const at = (gpus: readonly Gpu[], minors: ReadonlyMap<string, number>, count: number, index = 1) =>
      placesOf({ kind: "detected", count }, index, { gpus, minorNumbers: minors, capabilities });

    test("the order of bus ids and that of files being one, the number is the place in it", () => {
      expect(at(two, by(0, 1), 2)).toEqual([{ gpuUuid: "GPU-b", gpuInstanceId: null }]);
    });

    test.each([
      ["the orders differ", two, by(1, 0), 2],
      ["Slurm counts fewer", two, by(0, 1), 1],
      ["files sort otherwise than numbers", two, by(2, 10), 2],
      ["a minor number is not known", two, new Map([["GPU-a", 0]]), 2],
      ["a GPU is divided", [two[0] ?? whole, { ...divided, uuid: "GPU-b" }], by(0, 1), 2],
    ] as const)("nothing is said where %s", (_name, gpus, minors, count) => {
      expect(at(gpus, minors, count)).toEqual([]);
      expect(at(gpus, minors, count, 0)).toEqual([]);
    });
  });
});
