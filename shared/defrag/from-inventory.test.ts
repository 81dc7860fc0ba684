import { expect, test } from "vitest";
import type { Gpu, GpuInstance, GpuProcess, Holder, HostInventory, TopologyLink } from "../protocol/inventory.ts";
import { quietGpu } from "../protocol/testing/gpu.ts";
import { layoutFromInventories } from "./from-inventory.ts";
import { readLayout } from "./read-layout.ts";

const holder: Holder = { tenant: "nlp", project: "chat", user: "li", by: "job", allocation: "7", since: null };

function process(gpuInstanceId: number | null): GpuProcess {
  return {
    pid: 9,
    name: "python",
    user: null,
    gpuInstanceId,
    computeInstanceId: null,
    usedMemoryMiB: null,
    kind: null,
    startedAt: null,
  };
}

function instance(id: number, profile: string, start: number, by: Holder | null = null): GpuInstance {
  const size = profile.startsWith("3g") ? 4 : 1;
  return {
    id,
    profileId: 0,
    profile,
    placement: { start, size },
    computeInstances: [],
    memory: { totalMiB: null, usedMiB: null },
    utilisationPercent: null,
    holder: by,
  };
}

function gpu(index: number, given: Partial<Gpu>): Gpu {
  return { ...quietGpu, index, uuid: `GPU-${index}`, name: "NVIDIA A100-SXM4-40GB", ...given };
}

function host(name: string, gpus: readonly Gpu[], links: readonly TopologyLink[] = []): HostInventory {
  return {
    schema: "tessera.inventory/1",
    takenAt: name === "gpu02" ? "2026-11-30T22:00:00Z" : "2026-11-30T22:00:05Z",
    host: {
      name,
      bootId: null,
      kernel: null,
      architecture: null,
      cpuCount: null,
      memoryMiB: null,
      numaNodes: [],
      nics: [],
      managers: [],
    },
    driver: { version: null, cudaVersion: null },
    geometries: {},
    gpus,
    links,
    unread: [],
  };
}

const layoutOf = (...gpus: readonly Gpu[]) =>
  readLayout(layoutFromInventories([{ inventory: host("gpu01", gpus), rack: "r1" }])).hosts[0]?.gpus ?? [];

test("who holds an instance is known, whether it may move is not", () => {
  const [one] = layoutOf(gpu(0, { instances: [instance(3, "3g.20gb", 4, holder), instance(9, "1g.5gb", 0)] }));
  expect(one?.instances).toMatchObject([
    { id: 9, profile: "1g.5gb", start: 0, allocation: null },
    { id: 3, start: 4, allocation: { tenant: "nlp", project: "chat", user: "li", movable: false, cost: 1 } },
  ]);
});

test("a process holds its instance, and all of them where the driver does not say which", () => {
  const instances = [instance(1, "1g.5gb", 0), instance(2, "1g.5gb", 1)];
  const held = (given: Partial<Gpu>) =>
    layoutOf(gpu(0, { instances, ...given }))[0]?.instances.map(({ allocation }) => allocation !== null);
  expect(held({ processes: [process(2)] })).toEqual([false, true]);
  expect(held({ processes: [process(null)] })).toEqual([true, true]);
});

test("a GPU that is not divided is held by its holder or its processes", () => {
  const whole = { mig: { current: "disabled", pending: "disabled" } } as const;
  const gpus = layoutOf(gpu(0, whole), gpu(1, { ...whole, holder }), gpu(2, { ...whole, processes: [process(null)] }));
  expect(gpus.map(({ mig, allocation }) => [mig, allocation?.user ?? allocation])).toMatchObject([
    [false, null],
    [false, "li"],
    [false, { movable: false }],
  ]);
});

test.each<[string, Partial<Gpu>]>([
  ["lost", { state: { kind: "failed", reason: "lost", words: "GPU is lost" }, instances: [instance(1, "1g.5gb", 0)] }],
  ["of a model that is not known", { name: "NVIDIA Unheard-of" }],
  ["without a name", { name: "" }],
  ["with an instance whose place is not known", { instances: [instance(1, "1g.5gb", -1)] }],
  ["with an instance of which only -L tells", { instances: [instance(-1, "1g.5gb", 0)] }],
])("a GPU %s counts as held whole: no plan relies on it", (_, given) => {
  expect(layoutOf(gpu(0, given))).toMatchObject([{ mig: false, instances: [], allocation: { movable: false } }]);
});

test("GPUs that reach each other over NVLink share a word", () => {
  const link = (a: string, b: string, kind: TopologyLink["kind"] = "NVLINK"): TopologyLink => ({
    a,
    b,
    kind,
    nvlinkCount: null,
  });
  const links = [link("GPU0", "GPU1"), link("GPU3", "GPU2"), link("GPU1", "GPU2"), link("GPU3", "GPU4", "SYS")];
  const inventory = host(
    "gpu01",
    [0, 1, 2, 3, 4].map((index) => gpu(index, {})),
    links,
  );
  const groups = layoutFromInventories([{ inventory, rack: null }]).hosts[0]?.gpus.map((one) => one.nvlinkGroup) ?? [];
  expect(groups[4]).toBeNull();
  expect(groups[0]).not.toBeNull();
  expect(new Set(groups.slice(0, 4)).size).toBe(1);
});

test("of several hosts the oldest reading counts", () => {
  const hosts = ["gpu01", "gpu02"].map((name) => ({ inventory: host(name, []), rack: null }));
  expect(layoutFromInventories(hosts)).toMatchObject({
    takenAt: "2026-11-30T22:00:00Z",
    hosts: [{ name: "gpu01" }, { name: "gpu02" }],
  });
});
