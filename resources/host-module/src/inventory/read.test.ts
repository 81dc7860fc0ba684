import { describe, expect, test } from "vitest";
import { capturedSystem } from "../testing/captured-system.ts";
import {
  computeInstanceList,
  deviceList,
  firstGpu,
  gpuInstanceList,
  hostFiles,
  hostRuns,
  secondGpu,
  xmlReport,
} from "../testing/reports.ts";
import { InventoryReader, readInventory } from "./read.ts";

describe("a healthy host", () => {
  test("says everything about itself", async () => {
    const { geometries, ...inventory } = await readInventory(capturedSystem({ runs: hostRuns, files: hostFiles }));
    expect(Object.keys(geometries)).toEqual(["H100-SXM5-80GB"]);
    const holder = {
      tenant: "vision",
      project: "detect",
      user: "ada",
      by: "process",
      allocation: null,
      since: "2026-02-28T18:33:20.000Z",
    };
    const common = {
      name: "NVIDIA H100 80GB HBM3",
      state: { kind: "ok" },
      geometry: "H100-SXM5-80GB",
      holder: null,
      memory: { totalMiB: 81559, usedMiB: 1024 },
      power: { drawWatts: 95.2, limitWatts: 700 },
      temperatureCelsius: 34,
      fanPercent: null,
      ecc: { enabled: true, volatileUncorrected: 3, aggregateUncorrected: 4 },
      memoryRepair: "none",
      persistenceMode: true,
      computeMode: "Default",
    };
    expect(inventory).toEqual({
      schema: "tessera.inventory/1",
      takenAt: "2026-03-01T12:00:00.000Z",
      host: {
        name: "gpu-01",
        bootId: "5b6ed2c0-3a5c-4e7e-9d0c-0b8f6f1f7a11",
        kernel: "6.1.0-32-amd64",
        architecture: "x86_64",
        cpuCount: 64,
        memoryMiB: 1032016,
        numaNodes: [
          { id: 0, cpus: "0-31", memoryMiB: 516008 },
          { id: 1, cpus: "32-63", memoryMiB: null },
        ],
        nics: [{ name: "mlx5_0", numaNode: 0 }],
        managers: [{ name: "nv-hostengine (DCGM)", pid: 812 }],
      },
      driver: { version: "550.163.01", cudaVersion: "12.4" },
      gpus: [
        {
          ...common,
          index: 0,
          uuid: "GPU-0a",
          pciBusId: "00000000:1A:00.0",
          numaNode: 0,
          cpuAffinity: "0-31",
          mig: { current: "enabled", pending: "enabled" },
          instances: [
            {
              id: 7,
              profileId: 19,
              profile: "1g.10gb",
              placement: { start: 0, size: 1 },
              computeInstances: [
                {
                  id: 0,
                  profileId: 0,
                  profile: "1g.10gb",
                  placement: { start: 0, size: 1 },
                  uuid: "MIG-bb",
                  deviceIndex: 1,
                },
              ],
              memory: { totalMiB: 9984, usedMiB: 11 },
              utilisationPercent: null,
              holder: null,
            },
            {
              id: 9,
              profileId: 19,
              profile: "1g.10gb",
              placement: { start: 2, size: 1 },
              computeInstances: [],
              memory: { totalMiB: null, usedMiB: null },
              utilisationPercent: null,
              holder: null,
            },
            {
              id: 2,
              profileId: 9,
              profile: "3g.40gb",
              placement: { start: 4, size: 4 },
              computeInstances: [
                {
                  id: 0,
                  profileId: 2,
                  profile: "3g.40gb",
                  placement: { start: 0, size: 3 },
                  uuid: "MIG-aa",
                  deviceIndex: 0,
                },
              ],
              memory: { totalMiB: 9984, usedMiB: 10 },
              utilisationPercent: null,
              holder,
            },
          ],
          utilisationPercent: null,
          memoryUtilisationPercent: null,
          xids: [],
          nvlinks: { active: null, total: null },
          processes: [
            {
              pid: 4711,
              name: "/usr/bin/python3",
              user: "ada",
              gpuInstanceId: 2,
              computeInstanceId: 0,
              usedMemoryMiB: 512,
              kind: "compute",
              startedAt: "2026-02-28T18:33:20.000Z",
            },
          ],
        },
        {
          ...common,
          index: 1,
          uuid: "GPU-1b",
          pciBusId: "00000000:3B:00.0",
          numaNode: 1,
          cpuAffinity: "32-63",
          mig: { current: "disabled", pending: "disabled" },
          instances: [],
          utilisationPercent: 41,
          memoryUtilisationPercent: 7,
          xids: [{ code: 79, at: "2026-03-01T11:59:00.000Z", text: "pid='<unknown>', GPU has fallen off the bus." }],
          nvlinks: { active: 1, total: 2 },
          processes: [],
        },
      ],
      links: [
        { a: "GPU0", b: "GPU1", kind: "NVLINK", nvlinkCount: 18 },
        { a: "GPU0", b: "mlx5_0", kind: "PIX", nvlinkCount: null },
        { a: "GPU1", b: "mlx5_0", kind: "SYS", nvlinkCount: null },
      ],
      unread: [],
    });
  });

  test("is asked once for what does not change, and again for what can", async () => {
    let now = Date.parse("2026-03-01T12:00:00Z");
    const runs: Record<string, string> = { ...hostRuns };
    const system = capturedSystem({ runs, files: hostFiles, now: () => new Date(now) });
    const reader = new InventoryReader(system);
    const asked = async () => {
      const before = system.calls.length;
      await reader.read();
      return system.calls.slice(before).filter((call) => call.startsWith("nvidia-smi"));
    };
    const everything = [
      "nvidia-smi -q -x",
      "nvidia-smi topo -m",
      "nvidia-smi nvlink -s",
      "nvidia-smi mig -lgip",
      "nvidia-smi mig -lgipp",
      "nvidia-smi -L",
      "nvidia-smi mig -lgi",
      "nvidia-smi mig -lci",
      "nvidia-smi mig -lcip",
      "nvidia-smi mig -lcipp",
    ];
    const instances = ["nvidia-smi -q -x", "nvidia-smi -L", "nvidia-smi mig -lgi", "nvidia-smi mig -lci"];
    expect(await asked()).toEqual(everything);
    expect(await asked()).toEqual(["nvidia-smi -q -x"]);
    runs["nvidia-smi -q -x"] = xmlReport([{ ...firstGpu, devices: [2] }, secondGpu]);
    expect(await asked()).toEqual(instances);
    now += 30_000;
    expect(await asked()).toEqual(instances);
    reader.forget();
    expect(await asked()).toEqual(instances);
  });
});

describe("one GPU that fails", () => {
  const lost =
    "Unable to determine the device handle for GPU\u0001: GPU is lost.  Reboot the system to recover this GPU\n\n\n";
  const list = deviceList.replace(/^GPU 1.*$/m, lost.trim());

  test("does not hide the others: each is read alone, by index", async () => {
    const system = capturedSystem({
      runs: {
        "nvidia-smi -q -x": { stdout: lost, exitStatus: 15 },
        "nvidia-smi -L": { stdout: list, exitStatus: 15 },
        "nvidia-smi -q -x -i 0": xmlReport([firstGpu], 2),
        "nvidia-smi -q -x -i 1": { stdout: lost, exitStatus: 15 },
        "nvidia-smi mig -lgi -i 0": gpuInstanceList,
        "nvidia-smi mig -lci -i 0": computeInstanceList,
        "nvidia-smi topo -m": { stdout: "Failed to run topology matrix\n", exitStatus: 255 },
      },
      files: {
        "/proc/driver/nvidia/gpus/0000:1a:00.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\nGPU UUID: \t GPU-0a\n",
        "/proc/driver/nvidia/gpus/0000:3b:00.0/information": "Model: \t\t NVIDIA H100 80GB HBM3\nGPU UUID: \t GPU-1b\n",
      },
    });
    const inventory = await readInventory(system);
    expect(inventory.gpus.map((gpu) => [gpu.index, gpu.uuid, gpu.pciBusId, gpu.state, gpu.instances.length])).toEqual([
      [0, "GPU-0a", "00000000:1A:00.0", { kind: "ok" }, 3],
      [
        1,
        "GPU-1b",
        "00000000:3B:00.0",
        { kind: "failed", reason: "lost", words: "GPU is lost.  Reboot the system to recover this GPU" },
        0,
      ],
    ]);
    expect(inventory.unread.map((entry) => entry.reason)).toContain("driver: lost");
  });

  test("keeps the name that it had, where nothing says it any more", async () => {
    const runs: Record<string, string | { stdout: string; exitStatus: number }> = { ...hostRuns };
    const reader = new InventoryReader(capturedSystem({ runs, files: hostFiles }));
    await reader.read();
    Object.assign(runs, {
      "nvidia-smi -q -x": { stdout: lost, exitStatus: 15 },
      "nvidia-smi -L": { stdout: list, exitStatus: 15 },
      "nvidia-smi -q -x -i 0": xmlReport([firstGpu], 2),
      "nvidia-smi -q -x -i 1": { stdout: lost, exitStatus: 15 },
    });
    const { gpus } = await reader.read();
    expect(gpus.map((gpu) => [gpu.uuid, gpu.name, gpu.pciBusId, gpu.state.kind])).toEqual([
      ["GPU-0a", "NVIDIA H100 80GB HBM3", "00000000:1A:00.0", "ok"],
      ["GPU-1b", "NVIDIA H100 80GB HBM3", "00000000:3B:00.0", "failed"],
    ]);
  });

  test("may drop out without a word: it is shown, with the reason", async () => {
    const denied = "Unable to determine the device handle for gpu x: Insufficient Permissions";
    const system = capturedSystem({
      runs: {
        ...hostRuns,
        "nvidia-smi -q -x": xmlReport([secondGpu], 2),
        "nvidia-smi nvlink -s": "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-1b)\n\t Link 0: 26.562 GB/s\n",
        "nvidia-smi -L": { stdout: `${denied}\n${deviceList.split("\n").slice(3).join("\n")}`, exitStatus: 4 },
        "nvidia-smi -q -x -i 0": {
          stdout: "No devices were found. Please make sure /dev/nvidia* files are readable by current user.\n",
          exitStatus: 6,
        },
      },
    });
    const { gpus } = await readInventory(system);
    expect(gpus.map((gpu) => [gpu.index, gpu.uuid, gpu.state])).toEqual([
      [0, "unknown:0", { kind: "failed", reason: "no-permission", words: "Insufficient Permissions" }],
      [1, "GPU-1b", { kind: "ok" }],
    ]);
  });

  test("an index that answers for another GPU is not believed", async () => {
    const system = capturedSystem({
      runs: {
        "nvidia-smi -q -x": { stdout: lost, exitStatus: 15 },
        "nvidia-smi -L": deviceList,
        "nvidia-smi -q -x -i 0": xmlReport([secondGpu], 2),
        "nvidia-smi -q -x -i 1": xmlReport([secondGpu], 2),
      },
    });
    const { gpus, unread } = await readInventory(system);
    expect(gpus.map((gpu) => [gpu.index, gpu.uuid, gpu.temperatureCelsius])).toEqual([
      [0, "GPU-0a", null],
      [1, "GPU-1b", 34],
    ]);
    expect(unread.map((entry) => [entry.field, entry.raw])).toContainEqual(["gpus[0]", "GPU-1b instead of GPU-0a"]);
  });

  test("a report that breaks off in the middle is completed GPU by GPU", async () => {
    const whole = xmlReport([firstGpu, secondGpu]);
    const system = capturedSystem({
      runs: {
        ...hostRuns,
        "nvidia-smi -q -x": { stdout: whole.slice(0, whole.length / 2), exitStatus: 139 },
        "nvidia-smi -q -x -i 0": xmlReport([firstGpu], 2),
        "nvidia-smi -q -x -i 1": xmlReport([secondGpu], 2),
        "nvidia-smi mig -lgi -i 0": gpuInstanceList,
      },
    });
    const { gpus } = await readInventory(system);
    expect(gpus.map((gpu) => [gpu.uuid, gpu.temperatureCelsius, gpu.instances.length])).toEqual([
      ["GPU-0a", 34, 3],
      ["GPU-1b", 34, 0],
    ]);
  });
});

describe("a host that cannot be asked", () => {
  test.each([
    ["Failed to initialize NVML: Driver/library version mismatch\n", 18, "driver-missing"],
    ["Failed to initialize NVML: Insufficient Permissions\n", 4, "permission"],
    ["Failed to initialize NVML: Unknown Error\n", 255, "driver-failed"],
  ])("%s", async (stdout, exitStatus, code) => {
    const system = capturedSystem({ runs: { "nvidia-smi -q -x": { stdout, exitStatus } } });
    await expect(readInventory(system)).rejects.toMatchObject({ code, evidence: { host: "gpu-01", exitStatus } });
  });

  test("without nvidia-smi", async () => {
    await expect(readInventory(capturedSystem())).rejects.toMatchObject({ code: "driver-missing" });
  });

  test("without nvidia-smi, where nothing on the PCI bus is a GPU of NVIDIA's, it has none", async () => {
    const device = (place: string, vendor: string, kind: string) => ({
      [`/sys/bus/pci/devices/${place}/vendor`]: `${vendor}\n`,
      [`/sys/bus/pci/devices/${place}/class`]: `${kind}\n`,
    });
    const nic = device("0000:01:00.0", "0x15b3", "0x020000");
    const bridge = device("0000:02:00.0", "0x10de", "0x060400");
    const inventory = await readInventory(capturedSystem({ files: { ...nic, ...bridge } }));
    expect(inventory).toMatchObject({ gpus: [], driver: { version: null }, unread: [] });
    const gpu = device("0000:1a:00.0", "0x10de", "0x030200");
    const withGpu = capturedSystem({ files: { ...nic, ...gpu } });
    await expect(readInventory(withGpu)).rejects.toMatchObject({ code: "driver-missing" });
  });

  test("without GPUs it is an inventory all the same", async () => {
    const runs = { "nvidia-smi -q -x": { stdout: "No devices were found\n", exitStatus: 6 } };
    expect((await readInventory(capturedSystem({ runs }))).gpus).toEqual([]);
  });
});

test("a login that may not list instances sees them without placement", async () => {
  const denied = { stdout: "Failed to display GPU instances: Insufficient Permissions\n", exitStatus: 4 };
  const system = capturedSystem({
    runs: { ...hostRuns, "nvidia-smi mig -lgi": denied, "nvidia-smi mig -lci": denied },
  });
  const { gpus, unread } = await readInventory(system);
  expect(gpus[0]?.instances.map((instance) => [instance.id, instance.profile, instance.placement])).toEqual([
    [2, "3g.40gb", { start: -1, size: 4 }],
    [7, "1g.10gb", { start: -1, size: 1 }],
  ]);
  expect(unread.map((entry) => entry.reason)).toEqual([
    "driver: permission",
    "driver: permission",
    "not read: placements, and instances without compute instance, are not known",
  ]);
});
