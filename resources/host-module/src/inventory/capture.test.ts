import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  computeInstanceList,
  deviceList,
  firstGpu,
  gpuInstanceList,
  hostRuns,
  secondGpu,
  topologyMatrix,
  xmlReport,
} from "../testing/reports.ts";
import { inventoryFromCapture } from "./capture.ts";

const now = new Date("2026-05-01T00:00:00Z");
const file = (name: string, content: string) => ({ name, bytes: new TextEncoder().encode(content) });
const read = (...files: ReturnType<typeof file>[]) => inventoryFromCapture(files, { now });

async function known(...files: ReturnType<typeof file>[]) {
  const reading = await read(...files);
  if (!reading.known) throw new Error(reading.message);
  return reading;
}

describe("a folder of outputs", () => {
  test("is one inventory, whatever the files are called", async () => {
    const { inventory, recognised } = await known(
      file("a", deviceList),
      file("b.log", xmlReport([firstGpu, secondGpu])),
      file("c", computeInstanceList),
      file("d", gpuInstanceList),
      file("e", topologyMatrix),
      file("notes.txt", "It began on Tuesday.\n"),
    );
    expect(recognised).toEqual([
      { file: "a", kinds: ["device-list"] },
      { file: "b.log", kinds: ["query-xml"] },
      { file: "c", kinds: ["compute-instances"] },
      { file: "d", kinds: ["gpu-instances"] },
      { file: "e", kinds: ["topology"] },
      { file: "notes.txt", kinds: [] },
    ]);
    expect(inventory.unread).toEqual([
      { source: "notes.txt", field: "", reason: "nothing in it is known", raw: "It began on Tuesday.\n" },
    ]);
    expect(inventory.takenAt).toBe("2026-03-01T12:00:00.000Z");
    const [first] = inventory.gpus;
    expect(first?.instances.map((instance) => [instance.id, instance.computeInstances.map((ci) => ci.uuid)])).toEqual([
      [7, ["MIG-bb"]],
      [9, []],
      [2, ["MIG-aa"]],
    ]);
    expect(inventory.links).toHaveLength(3);
  });

  test("the table gives the index, -q the rest; both are one GPU though the UUIDs are masked", async () => {
    const masked = "GPU-00000000-0000-0000-0000-000000000000";
    const table = `| NVIDIA-SMI 590.48.01              Driver Version: 590.48.01      CUDA Version: 13.1     |
|   5  NVIDIA H100 80GB HBM3          On  |   00000000:3B:00.0 Off |                    0 |
| N/A   52C    P0            432W /  700W |   11125MiB /  81559MiB |      9%      Default |
|                                         |                        |             Disabled |
`;
    const report = xmlReport([{ ...secondGpu, uuid: masked }], 8);
    const { inventory } = await known(file("t", table), file("x", report));
    expect(inventory.gpus.map((gpu) => [gpu.index, gpu.uuid, gpu.temperatureCelsius, gpu.power.drawWatts])).toEqual([
      [5, masked, 34, 95.2],
    ]);
  });

  test("one file with a header before each output", async () => {
    const text = [
      "### [1 list] nvidia-smi -L -> rc=0 err=0",
      deviceList,
      "$ sudo nvidia-smi mig -lgi | head -n 40",
      gpuInstanceList,
      "==== nvidia-smi mig -lci ====",
      computeInstanceList,
      "################################################################################",
      "# capabilities :: topo -m",
      "# $ nvidia-smi topo -m",
      "################################################################################",
      topologyMatrix,
      "### [9] nvidia-smi -q -x -i 0 -> rc=0",
      xmlReport([firstGpu], 2),
    ].join("\n");
    const { inventory, recognised } = await known(file("all.txt", text));
    expect(recognised[0]?.kinds).toEqual([
      "device-list",
      "gpu-instances",
      "compute-instances",
      "topology",
      "query-xml",
    ]);
    expect(inventory.gpus.map((gpu) => [gpu.uuid, gpu.instances.length, gpu.cpuAffinity])).toEqual([
      ["GPU-0a", 3, "0-31"],
      ["GPU-1b", 0, "32-63"],
    ]);
    expect(inventory.unread).toEqual([]);
  });

  test("what is listed later replaces what was listed before, for the GPUs that were asked", async () => {
    const later = gpuInstanceList.replace("|   0  MIG 1g.10gb         19        9          2:1     |\n", "");
    const text = `### [1] nvidia-smi mig -lgi -> rc=0\n${gpuInstanceList}### [2] nvidia-smi mig -lgi -i 0 -> rc=0\n${later}`;
    const { inventory } = await known(file("x", text));
    expect(inventory.gpus[0]?.instances.map((instance) => instance.id)).toEqual([7, 2]);
    const emptied = `${text}### [3] nvidia-smi mig -lgi -> rc=6\nNo GPU instances found: Not Found\n`;
    expect((await known(file("x", `${emptied}\n${deviceList}`))).inventory.gpus[0]?.instances).toHaveLength(2);
  });
});

describe("a single file gives what it holds", () => {
  test("-lgi: the instances and where they are", async () => {
    const { inventory } = await known(file("x", gpuInstanceList));
    expect(inventory.gpus.map((gpu) => [gpu.index, gpu.uuid, gpu.mig.current, gpu.instances.length])).toEqual([
      [0, "unknown:0", "enabled", 3],
    ]);
    expect(inventory.unread.map((entry) => entry.reason)).toEqual([
      "not read: which compute instances there are is not known",
    ]);
  });

  test("-L: GPUs and devices, nothing about placements", async () => {
    const { inventory } = await known(file("x", deviceList));
    expect(inventory.gpus[0]?.instances.map((gi) => [gi.id, gi.profile, gi.profileId, gi.placement.start])).toEqual([
      [-1, "3g.40gb", 9, -1],
      [-2, "1g.10gb", 19, -1],
    ]);
  });

  test("-lgip: what the GPU can be divided into, from the driver's word alone", async () => {
    const listing = `| GPU instance profiles:                                                        |
|   6  MIG 1g.18gb         19     7/7        16.00      No     16     1     0   |
|                                                               1     1     0   |
`;
    const { inventory } = await known(file("x", listing));
    expect(inventory.gpus.map((gpu) => [gpu.index, gpu.geometry])).toEqual([[6, "GPU 6"]]);
    expect(inventory.geometries["GPU 6"]?.profiles.map((profile) => [profile.id, profile.name])).toEqual([
      [19, "1g.18gb"],
    ]);
  });

  test("an error: the driver's words", async () => {
    const { inventory } = await known(file("x", "Failed to initialize NVML: Driver/library version mismatch\n"));
    expect(inventory.gpus).toEqual([]);
    expect(inventory.unread).toEqual([
      {
        source: "x",
        field: "",
        reason: "driver: version-mismatch",
        raw: "Failed to initialize NVML: Driver/library version mismatch",
      },
    ]);
  });

  test("a report of what was created: instances without placement", async () => {
    const { inventory } = await known(
      file("x", "Successfully created GPU instance ID  7 on GPU  2 using profile MIG 1g.10gb (ID 19)\n"),
    );
    expect(inventory.gpus.map((gpu) => [gpu.index, gpu.mig.current, gpu.instances.map((gi) => gi.id)])).toEqual([
      [2, "enabled", [7]],
    ]);
  });
});

describe("nothing known", () => {
  test.each([
    [[], "There is no file to read."],
    [[file("a.txt", "")], "a.txt is empty."],
    [
      [file("a.txt", "hello\n")],
      "Nothing in a.txt is known: it is no output of nvidia-smi and no part of a support bundle.",
    ],
    [[file("a", "hello\n"), file("b", "you\n")], "None of the 2 files holds output of nvidia-smi or facts of a host."],
  ])("%j: %s", async (files, message) => {
    expect(await read(...files)).toMatchObject({ known: false, message });
  });
});

describe("whatever the bytes are, nothing is thrown", () => {
  const samples = Object.values(hostRuns);

  test("cut anywhere", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...samples), fc.nat(), async (sample, at) => {
        await read(file("x", sample.slice(0, at % (sample.length + 1))));
      }),
      { numRuns: 300 },
    );
  });

  test("changed anywhere", async () => {
    const edit = fc.record({ at: fc.nat(), bytes: fc.uint8Array({ maxLength: 8 }), drop: fc.nat(40) });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...samples), edit, async (sample, { at, bytes, drop }) => {
        const whole = new TextEncoder().encode(sample);
        const from = at % (whole.length + 1);
        const edited = new Uint8Array([...whole.slice(0, from), ...bytes, ...whole.slice(from + drop)]);
        await inventoryFromCapture([{ name: "x", bytes: edited }], { now });
      }),
      { numRuns: 300 },
    );
  });

  test("any bytes at all", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        await inventoryFromCapture([{ name: "x", bytes }], { now });
      }),
    );
  });
});
