import { expect, test } from "vitest";
import { parseDeviceList } from "./device-list.ts";

test("-L: GPUs, their MIG devices, and the one that is lost in the place where it stands", () => {
  const output = new TextEncoder().encode(`GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0a)
  MIG 3g.40gb     Device  0: (UUID: MIG-1b)
  MIG 1c.3g.40gb  Device  1: (UUID: MIG-2c)
Unable to determine the device handle for gpu pc\u0001\u0002: GPU is lost.  Reboot the system to recover this GPU


GPU 2: NVIDIA A100-SXM4-40GB (UUID: GPU-3d)
GPU 3: NVIDIA A100-SX`);
  output[output.indexOf(1)] = 0xff; // no UTF-8
  expect(parseDeviceList(output)).toEqual({
    facts: {
      gpus: [
        {
          index: 0,
          name: "NVIDIA H100 80GB HBM3",
          uuid: "GPU-0a",
          migDevices: [
            { deviceIndex: 0, profile: "3g.40gb", uuid: "MIG-1b" },
            { deviceIndex: 1, profile: "1c.3g.40gb", uuid: "MIG-2c" },
          ],
        },
        { index: 2, name: "NVIDIA A100-SXM4-40GB", uuid: "GPU-3d", migDevices: [] },
      ],
      failed: [
        {
          index: 1,
          pciBusId: null,
          reason: "lost",
          words: "GPU is lost.  Reboot the system to recover this GPU",
        },
      ],
    },
    unread: [
      { field: "devices", reason: "the line is not as the driver prints it, or is cut", raw: "GPU 3: NVIDIA A100-SX" },
    ],
  });
});

test("the only GPU has no place among others, but a bus id", () => {
  const { facts } = parseDeviceList("Unable to determine the device handle for GPU 0000:02:00.0: Unknown Error\n");
  expect(facts).toEqual({
    gpus: [],
    failed: [{ index: null, pciBusId: "00000000:02:00.0", reason: "unknown", words: "Unknown Error" }],
  });
});
