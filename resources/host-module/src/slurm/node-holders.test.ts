import { expect, test } from "vitest";
import type { Gpu } from "../../../../shared/protocol/inventory.ts";
import type { HolderContext } from "../inventory/holders.ts";
import { readInventory } from "../inventory/read.ts";
import { type CapturedRun, type CapturedSystem, capturedSystem } from "../testing/captured-system.ts";
import { hostFiles, hostRuns } from "../testing/reports.ts";
import { askEveryMs, nodeHolders } from "./node-holders.ts";

const env = "env TZ=UTC SLURM_TIME_FORMAT=standard";
const showNode = `${env} scontrol show node -d gpu-01`;
const showJobs = `${env} scontrol show job -d`;

const jobText = (id: number, user: string, index: number) => `JobId=${id} JobName=x
   UserId=${user}(5101) GroupId=users(100)
   Account=t1_p01
   JobState=RUNNING Reason=None Dependency=(null)
   StartTime=2026-03-01T11:00:00
   NodeList=gpu-01
   AllocTRES=cpu=1,node=1,gres/gpu=1
     Nodes=gpu-01 CPU_IDs=0 Mem=1 GRES=gpu:h100:1(IDX:${index})
`;

/** A host whose slurmctld says what the test says. */
async function stage(shared = new Map<string, Uint8Array>()) {
  const { gpus } = await readInventory(capturedSystem({ runs: hostRuns, files: hostFiles }));
  const whole = gpus[1];
  if (whole === undefined) throw new Error("the fixture has two GPUs");
  const two: readonly Gpu[] = [
    { ...whole, uuid: "GPU-a" },
    { ...whole, uuid: "GPU-b" },
  ];
  const jobs = new Map<number, string>();
  const state = { used: "", silent: false, nowMs: 0 };
  const answer = (text: string | undefined): CapturedRun =>
    state.silent || text === undefined ? { stderr: "slurm_load error", exitStatus: 1 } : { stdout: text };
  const one = (id: number) => [`${showJobs} ${id}`, () => answer(jobs.get(id))] as const;
  const captured = capturedSystem({
    runs: {
      [showNode]: () =>
        answer(`NodeName=gpu-01 Arch=x86_64\n   Gres=gpu:h100:2\n   GresUsed=gpu:h100:1(IDX:${state.used})\n`),
      [showJobs]: () => answer([...jobs.values()].join("\n")),
      ...Object.fromEntries([7, 8].map(one)),
    },
    files: { "/proc/42/cmdline": "slurmd\0-D\0", "/etc/slurm/gres.conf": "Name=gpu Type=h100 File=/dev/nvidia[1,0]\n" },
    now: () => new Date(Date.UTC(2026, 2, 1, 12) + state.nowMs),
  });
  const system: CapturedSystem = {
    ...captured,
    root: true,
    files: {
      ...captured.files,
      read: async (path) => shared.get(path) ?? captured.files.read(path),
      makeDirectory: async () => undefined,
      replace: async (path, content) => void shared.set(path, content),
    },
  };
  const context: HolderContext = {
    gpus: two,
    processes: new Map(),
    minorNumbers: new Map([
      ["GPU-a", 0],
      ["GPU-b", 1],
    ]),
    managers: [{ name: "slurmd", pid: 42 }],
  };
  const source = nodeHolders(system);
  /** After the next answer of Slurm. */
  const next = async (afterMs = askEveryMs) => {
    state.nowMs += afterMs;
    await source.claims(context);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return told();
  };
  const told = async () =>
    (await source.claims(context)).map(({ gpuUuid, holder }) => `${gpuUuid} ${holder.user} ${holder.allocation}`);
  return { state, jobs, system, source, context, told, next };
}

test("a job is seen with the first answer, on the GPU of its file, and is gone when it has ended", async () => {
  const { state, jobs, told, next } = await stage();
  state.used = "0";
  jobs.set(7, jobText(7, "alice", 0));
  expect(await told()).toEqual(["GPU-b alice 7"]);
  state.used = "N/A";
  jobs.clear();
  expect(await told()).toEqual(["GPU-b alice 7"]);
  expect(await next()).toEqual([]);
});

test("while nothing changes all jobs are asked for once, then each known one by itself", async () => {
  const { state, jobs, system, told, next } = await stage();
  state.used = "0";
  jobs.set(7, jobText(7, "alice", 0));
  await told();
  await next();
  await next();
  expect(system.calls).toEqual([showNode, showJobs, ...[1, 2].flatMap(() => [showNode, `${showJobs} 7`])]);
});

test("where nothing changes slurmctld is asked every thirty seconds only", async () => {
  const { state, jobs, system, told, next } = await stage();
  state.used = "0";
  jobs.set(7, jobText(7, "alice", 0));
  await told();
  for (let seconds = 10; seconds <= 120; seconds += 10) await next();
  // At 10 to 60, then at 90 and 120.
  expect(system.calls.filter((call) => call === showNode)).toHaveLength(9);
});

test("another session on the host takes what the first was told, and asks by itself once that is old", async () => {
  const files = new Map<string, Uint8Array>();
  const [first, second] = [await stage(files), await stage(files)];
  first.state.used = "0";
  first.jobs.set(7, jobText(7, "alice", 0));
  await first.told();
  second.state.nowMs = 4_000;
  expect(await second.told()).toEqual(["GPU-b alice 7"]);
  expect(second.system.calls).toEqual([]);
  second.state.used = "1";
  second.jobs.set(8, jobText(8, "bob", 1));
  expect(await second.next()).toEqual(["GPU-a bob 8"]);
  for (const content of ["{", "null", "[]", JSON.stringify({ atMs: 14_000 })]) {
    for (const path of files.keys()) files.set(path, new TextEncoder().encode(content));
    expect(await second.next()).toEqual(["GPU-a bob 8"]);
  }
});

test("another job at the same place is seen", async () => {
  const { state, jobs, told, next } = await stage();
  state.used = "0";
  jobs.set(7, jobText(7, "alice", 0));
  await told();
  jobs.clear();
  jobs.set(8, jobText(8, "bob", 0));
  expect(await next()).toEqual(["GPU-b bob 8"]);
});

test("a job that claims a GPU that the node does not count as used is not believed", async () => {
  const { state, jobs, told } = await stage();
  state.used = "0";
  jobs.set(7, jobText(7, "alice", 0)).set(8, jobText(8, "mallory", 1));
  expect(await told()).toEqual(["GPU-b alice 7"]);
});

test("of two that claim one place only what they agree on is told", async () => {
  const { state, jobs, told } = await stage();
  state.used = "0";
  jobs.set(7, jobText(7, "alice", 0)).set(8, jobText(8, "mallory", 0));
  expect(await told()).toEqual(["GPU-b null null"]);
});

test("a silent slurmctld leaves what was known for two minutes, and no longer", async () => {
  const { state, jobs, told, next } = await stage();
  state.used = "0";
  jobs.set(7, jobText(7, "alice", 0));
  await told();
  state.silent = true;
  expect(await next()).toEqual(["GPU-b alice 7"]);
  state.nowMs += 120_000;
  expect(await told()).toEqual([]);
  state.silent = false;
  expect(await next()).toEqual(["GPU-b alice 7"]);
});

test("without slurmd nothing is asked", async () => {
  const { source, context, system } = await stage();
  expect(await source.claims({ ...context, managers: [] })).toEqual([]);
  expect(system.calls).toEqual([]);
});
