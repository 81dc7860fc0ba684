import { describe, expect, test } from "vitest";
import type { Gpu } from "../../../../shared/protocol/inventory.ts";
import { capturedSystem } from "../testing/captured-system.ts";
import { hostFiles, hostRuns } from "../testing/reports.ts";
import { type HolderSource, processHolders, withHolders } from "./holders.ts";
import { memoryTotalMiB, numbersOfList } from "./host-files.ts";
import { parseXidEvents } from "./kernel-log.ts";
import { ProcessReader } from "./processes.ts";
import { readInventory } from "./read.ts";
import { sectionsOf } from "./sections.ts";

describe("who holds a GPU", () => {
  const owner = (user: string, group: string, groups: readonly string[] = [], uid = 1000) => ({
    owner: { uid, user, group, groups },
    startedAt: null,
  });

  async function wholeGpu(kinds: readonly ("compute" | "graphics")[]): Promise<Gpu> {
    const { gpus } = await readInventory(capturedSystem({ runs: hostRuns, files: hostFiles }));
    const second = gpus[1];
    if (second === undefined) throw new Error("the fixture has two GPUs");
    return {
      ...second,
      processes: kinds.map((kind, at) => ({
        pid: at + 1,
        name: "x",
        user: null,
        gpuInstanceId: null,
        computeInstanceId: null,
        usedMemoryMiB: null,
        kind,
        startedAt: null,
      })),
    };
  }

  test.each([
    ["one project", [owner("ada", "vision", ["vision-detect", "docker"])], ["vision", "detect", "ada"]],
    ["two projects say nothing", [owner("ada", "vision", ["vision-a", "vision-b"])], ["vision", null, "ada"]],
    ["two users of one tenant", [owner("ada", "vision"), owner("bob", "vision")], ["vision", null, null]],
    ["two tenants", [owner("ada", "vision"), owner("eve", "speech")], [null, null, null]],
    ["root in a container is no tenant", [owner("root", "root", [], 0)], [null, null, "root"]],
  ])("%s", async (_name, facts, [tenant, project, user]) => {
    const gpu = await wholeGpu(facts.map(() => "compute"));
    const processes = new Map(facts.map((fact, at) => [at + 1, fact]));
    const [held] = await withHolders({ gpus: [gpu], processes, minorNumbers: new Map(), managers: [] }, [
      processHolders,
    ]);
    expect(held?.holder).toEqual({ tenant, project, user, by: "process", allocation: null, since: null });
  });

  test("a desktop holds nothing", async () => {
    const [held] = await withHolders(
      { gpus: [await wholeGpu(["graphics"])], processes: new Map(), minorNumbers: new Map(), managers: [] },
      [processHolders],
    );
    expect(held?.holder).toBeNull();
  });

  test("a job overrides what the processes say", async () => {
    const holder = {
      tenant: "speech",
      project: "asr",
      user: "eve",
      by: "job",
      allocation: "4242",
      since: null,
    } as const;
    const jobs: HolderSource = { claims: async () => [{ gpuUuid: "GPU-1b", gpuInstanceId: null, holder }] };
    const context = {
      gpus: [await wholeGpu(["compute"])],
      processes: new Map(),
      minorNumbers: new Map(),
      managers: [],
    };
    const [held] = await withHolders(context, [processHolders, jobs]);
    expect(held?.holder).toEqual(holder);
  });
});

describe("processes", () => {
  test("a user whom only the directory service knows", async () => {
    const system = capturedSystem({
      files: { "/proc/7/status": "Name:\tx\nUid:\t90001\t90001\nGid:\t90002\nGroups:\t90002 90003\n" },
    });
    const asked: string[] = [];
    const reader = new ProcessReader(
      system.files,
      async (database, key) => {
        asked.push(`${database} ${key}`);
        const known = new Map([
          ["passwd 90001", "lin:*:90001:90002:Lin:/h:/sh\n"],
          ["group 90002", "speech:*:90002:lin\n"],
        ]);
        return known.get(`${database} ${key}`) ?? null;
      },
      null,
    );
    expect(await reader.read(7)).toEqual({
      owner: { uid: 90001, user: "lin", group: "speech", groups: [] },
      startedAt: null,
    });
    await reader.read(7);
    expect(asked).toEqual(["passwd 90001", "group 90003", "group 90002"]);
  });

  test("one that is gone", async () => {
    const reader = new ProcessReader(capturedSystem().files, async () => null, null);
    expect(await reader.read(7)).toBeNull();
  });
});

test("Xid events with every kind of time", () => {
  const log = `[  100.500000] NVRM: Xid (PCI:0000:1a:00): 31, pid=99, name=x, MMU Fault
2026-03-01T12:00:00,123456+01:00 NVRM: Xid (PCI:0000:1A:00): 79, GPU has fallen off the bus.
2026-03-01T12:00:00+0100 host kernel: NVRM: Xid (PCI:0001:1a:00.0): 48
[Sun Mar  1 12:00:00 2026] NVRM: Xid (PCI:0000:1a:00): 63, Row remapper
[  101.000000] NVRM: loading NVIDIA UNIX Kernel Module`;
  expect(parseXidEvents(log, 1_772_300_000)).toEqual([
    { pciBusId: "00000000:1A:00.0", code: 31, at: "2026-02-28T17:35:00.000Z", text: "pid=99, name=x, MMU Fault" },
    { pciBusId: "00000000:1A:00.0", code: 79, at: "2026-03-01T11:00:00.123Z", text: "GPU has fallen off the bus." },
    { pciBusId: "00000001:1A:00.0", code: 48, at: "2026-03-01T11:00:00.000Z", text: "" },
    { pciBusId: "00000000:1A:00.0", code: 63, at: null, text: "Row remapper" },
  ]);
});

test("kernel lists and sizes", () => {
  expect(["0", "0-3,8", "", "x", "5-1"].map(numbersOfList)).toEqual([[0], [0, 1, 2, 3, 8], null, null, []]);
  expect(["MemTotal:  2048 kB", "Node 1 MemTotal:  1024 kB", "x", null].map(memoryTotalMiB)).toEqual([
    2,
    1,
    null,
    null,
  ]);
});

test("headers of every kind cut a capture into its outputs", () => {
  const capture = `before
[root@gpu-01 ~]# /usr/bin/nvidia-smi -L 2>&1
a
### [3] nvidia-smi mig -lgi -> rc=killed
b
### file /proc/meminfo
c
########################################
# idle :: pmon (per-process monitor)
# $ nvidia-smi pmon -c 5
########################################
# gpu         pid
d`;
  expect(sectionsOf(capture)).toEqual([
    { argv: null, exitStatus: undefined, path: null, text: "before" },
    { argv: ["nvidia-smi", "-L"], exitStatus: undefined, path: null, text: "a" },
    { argv: ["nvidia-smi", "mig", "-lgi"], exitStatus: null, path: null, text: "b" },
    { argv: null, exitStatus: undefined, path: "/proc/meminfo", text: "c" },
    { argv: ["nvidia-smi", "pmon", "-c", "5"], exitStatus: undefined, path: null, text: "# gpu         pid\nd" },
  ]);
});
