/** `mig restore` after a reboot, MIG mode that stays pending, and journals that cannot be understood, in memory. */
import { describe, expect, test } from "vitest";
import * as operations from "../../resources/host-module/src/mig/operations.ts";
import type { ApplyRequest } from "../../shared/protocol/contract.ts";
import { outcomeOf } from "./aftermath.ts";
import { InProcessHost } from "./in-process-host.ts";

const context = { signal: new AbortController().signal, progress: () => undefined };
const h100 = "NVIDIA H100 80GB HBM3";
const a100 = "NVIDIA A100-SXM4-80GB";

function host(models: readonly string[] = [h100, a100]): InProcessHost {
  return new InProcessHost({ gpus: models.map((model) => ({ model })) });
}

const wish = (profileId: number, start: number) => ({ migEnabled: true, instances: [{ profileId, start }] });

async function applied(on: InProcessHost, ...profiles: readonly number[]): Promise<void> {
  const request: ApplyRequest = {
    gpus: profiles.map((profileId, at) => ({ gpuUuid: on.state.gpus[at]?.uuid ?? "", layout: wish(profileId, 0) })),
  };
  expect(await operations.apply(on.process().system, request, context)).toMatchObject({ outcome: "applied" });
}
const restored = (on: InProcessHost) => operations.restore(on.process().system, {}, context);
const statusOf = (on: InProcessHost) => operations.status(on.process().system);

describe("restoring after a reboot", () => {
  test("brings instances back, and MIG mode where the GPU forgot it; a new boot is noticed, and offered until it stands", async () => {
    const on = host();
    await applied(on, 9, 14);
    const before = on.layouts();
    expect(await statusOf(on)).toMatchObject({ restoreOffered: false, saved: [{ matches: true }, { matches: true }] });

    on.reboot();
    // Hopper forgets the mode as well, Ampere only the instances.
    expect(on.layouts()).toEqual(["off", "on"]);
    expect(await statusOf(on)).toMatchObject({ restoreOffered: true, saved: [{ matches: false }, { matches: false }] });
    expect(await restored(on)).toMatchObject({ outcome: "applied" });
    expect(on.layouts()).toEqual(before);
    expect((await statusOf(on)).restoreOffered).toBe(false);
    expect(await restored(on)).toMatchObject({ outcome: "unchanged" });
  });

  test("goes by UUID where the driver numbers its GPUs anew", async () => {
    const on = host();
    await applied(on, 9, 14);
    on.reboot();
    on.state.gpus.reverse();
    await restored(on);
    expect(on.layouts()).toEqual(["on 14@0[1@0]", "on 9@0[2@0]"]);
  });

  test("restores the others where a GPU is gone, is lost, is used, or can no longer have its layout", async () => {
    const gone = host();
    await applied(gone, 9, 14);
    gone.reboot();
    const [removed] = gone.state.gpus.splice(1, 1);
    expect(await restored(gone)).toMatchObject({
      outcome: "applied",
      skipped: [{ gpuUuid: removed?.uuid, error: { code: "not-found", remedy: expect.stringContaining("layouts/") } }],
    });
    expect(gone.layouts()).toEqual(["on 9@0[2@0]"]);

    const lost = host();
    await applied(lost, 9, 14);
    lost.reboot();
    const broken = lost.state.gpus[0];
    if (broken !== undefined) broken.broken = "gpu-lost";
    expect(await restored(lost)).toMatchObject({ outcome: "applied", skipped: [{ gpuUuid: broken?.uuid }] });
    expect(lost.layouts()[1]).toBe("on 14@0[1@0]");

    const illegal = host();
    await applied(illegal, 9, 14);
    illegal.reboot();
    const path = `/var/lib/tessera/layouts/${illegal.state.gpus[1]?.uuid}.json`;
    illegal.put(path, (illegal.text(path) ?? "").replace('"profileId": 14', '"profileId": 77'));
    expect(await restored(illegal)).toMatchObject({
      outcome: "applied",
      skipped: [{ gpuUuid: illegal.state.gpus[1]?.uuid, error: { code: "illegal-layout" } }],
    });
    expect(illegal.layouts()).toEqual(["on 9@0[2@0]", "on"]);
  });

  test("a gap between compute instances, which the driver closes, does not count as another layout", async () => {
    const on = new InProcessHost({ gpus: [{ instances: [{ profile: 9, start: 0, computeInstances: [0, 0, 0] }] }] });
    on.machine.gpu(0).instances[0]?.computeInstances.splice(1, 1);
    expect(on.layouts()).toEqual(["on 9@0[0@0,0@2]"]);
    await operations.save(on.process().system);
    on.reboot();
    expect((await statusOf(on)).restoreOffered).toBe(true);
    expect(await restored(on)).toMatchObject({ outcome: "applied" });
    expect(on.layouts()).toEqual(["on 9@0[0@0,0@1]"]);
    expect(await statusOf(on)).toMatchObject({ restoreOffered: false, saved: [{ matches: true }] });
    expect(await restored(on)).toMatchObject({ outcome: "unchanged" });
  });

  test("a saved layout that is damaged is named, with what to do", async () => {
    const on = host();
    await applied(on, 9);
    const path = `/var/lib/tessera/layouts/${on.state.gpus[0]?.uuid}.json`;
    on.put(path, '{"schema":"tessera.layout/9"}');
    await expect(restored(on)).rejects.toMatchObject({ code: "unreadable", message: expect.stringContaining(path) });
  });
});

describe("MIG mode that another client keeps from changing", () => {
  test("is put back, and the error lists who holds the GPU", async () => {
    const on = host([h100]);
    const gpu = on.machine.gpu(0);
    on.state.plannedErrors.push({ operation: "set-mig-mode", gpuIndex: 0, error: "in-use", pending: true });
    on.addProcess(733, "nv-hostengine", 999, "/dev/nvidia0");
    const request: ApplyRequest = { gpus: [{ gpuUuid: gpu.uuid, layout: wish(9, 0) }] };
    const result = await operations.apply(on.process().system, request, context);
    expect(result).toMatchObject({
      outcome: "rolled-back",
      failure: {
        code: "driver-failed",
        message: expect.stringContaining("pending enabled"),
        evidence: { details: "nv-hostengine (pid 733), user 999, /dev/nvidia0 open" },
      },
    });
    expect(on.layouts()).toEqual(["off"]);
    expect((await statusOf(on)).open).toBeNull();
  });

  test("is not even tried while a process computes on the GPU", async () => {
    const on = host([h100]);
    const gpu = on.machine.gpu(0);
    on.state.processes.push({
      pid: 4_000,
      uid: 1_000,
      command: ["python3"],
      startedAtMs: 0,
      gpu: { uuid: gpu.uuid, gpuInstanceId: null, computeInstanceId: null, usedMemoryMiB: 512 },
    });
    const process = on.process();
    const request: ApplyRequest = { gpus: [{ gpuUuid: gpu.uuid, layout: wish(9, 0) }] };
    await expect(operations.apply(process.system, request, context)).rejects.toMatchObject({
      code: "in-use",
      evidence: { details: expect.stringContaining("(pid 4000)") },
    });
    expect(process.calls.filter(({ kind }) => kind !== "read")).toEqual([]);
  });
});

test("a process whose GPU instance the driver does not name keeps every instance of its GPU", async () => {
  const on = new InProcessHost({ gpus: [{ instances: [{ profile: 9, start: 0 }] }] });
  const gpu = on.machine.gpu(0);
  on.state.processes.push({
    pid: 4_000,
    uid: 1_000,
    command: ["python3"],
    startedAtMs: 0,
    gpu: { uuid: gpu.uuid, gpuInstanceId: null, computeInstanceId: null, usedMemoryMiB: 512 },
  });
  const request: ApplyRequest = { gpus: [{ gpuUuid: gpu.uuid, layout: { migEnabled: true, instances: [] } }] };
  await expect(operations.apply(on.process().system, request, context)).rejects.toMatchObject({ code: "in-use" });
  expect(on.layouts()).toEqual(["on 9@0[2@0]"]);
});

test("beside a lost GPU changes go by index, each made sure of just before", async () => {
  const on = host([h100, h100]);
  const lost = on.machine.gpu(1);
  lost.broken = "gpu-lost";
  const { uuid } = on.machine.gpu(0);
  const process = on.process();
  const request: ApplyRequest = { gpus: [{ gpuUuid: uuid, layout: wish(9, 4) }] };
  expect(await operations.apply(process.system, request, context)).toMatchObject({ outcome: "applied" });
  const words = process.calls.map((call) => call.words);
  const changes = process.calls.flatMap((call, at) => (call.kind === "change" ? [[words[at - 1], call.words]] : []));
  const asked = "nvidia-smi --query-gpu=index,uuid,name --format=csv -i 0";
  expect(changes).toEqual([
    [asked, "nvidia-smi -i 0 -mig 1"],
    [asked, "nvidia-smi mig -cgi 9:4 -C -i 0"],
  ]);
  expect(on.layouts()[0]).toBe("on 9@4[2@0]");
});

test("a plan on an outdated basis is stale-plan with what changed, also when the wish has become impossible", async () => {
  const on = new InProcessHost({ gpus: [{ instances: [] }] });
  const { uuid } = on.machine.gpu(0);
  const planOf = (basedOn?: string) =>
    operations.plan(on.process().system, {
      gpus: [{ gpuUuid: uuid, layout: wish(9, 4), ...(basedOn === undefined ? {} : { basedOn }) }],
    });
  const [seen] = (await planOf()).gpus;
  await operations.apply(on.process().system, { gpus: [{ gpuUuid: uuid, layout: wish(19, 6) }] }, context);
  const instance = on.machine.gpu(0).instances[0];
  on.state.processes.push({
    pid: 4_000,
    uid: 1_000,
    command: ["python3"],
    startedAtMs: 0,
    gpu: { uuid, gpuInstanceId: instance?.id ?? 0, computeInstanceId: 0, usedMemoryMiB: 1 },
  });
  await expect(planOf(seen?.basedOn)).rejects.toMatchObject({
    code: "stale-plan",
    evidence: { details: expect.stringContaining("come 19@6") },
  });
  await expect(planOf()).rejects.toMatchObject({ code: "in-use" });
});

describe("a journal that cannot be understood", () => {
  const directory = "/var/lib/tessera/journal";
  async function withJournal(text: string) {
    const on = new InProcessHost({ gpus: [{ instances: [] }] });
    await applied(on, 9);
    const layouts = on.layouts();
    const path = `${directory}/20200101T000000Z-0badf00d.jsonl`;
    on.put(path, text);
    const request: ApplyRequest = { gpus: [{ gpuUuid: on.machine.gpu(0).uuid, layout: wish(14, 0) }] };
    const process = on.process();
    const outcome = await outcomeOf(process, (system, more) => operations.apply(system, request, more));
    return { on, path, outcome, layouts };
  }

  test.each([
    ["garbage", "\u0000\u0001 not a journal\n"],
    ["one of another version", `${JSON.stringify({ kind: "begin", schema: "tessera.journal/9", at: "2020" })}\n`],
    ["one that is damaged in its middle", '{"kind":"begin"\n{"kind":"end","at":"2020","outcome":"applied"}\n'],
  ])("%s stops every change, names the file and the remedy, and is kept", async (_, text) => {
    const { on, path, outcome, layouts } = await withJournal(text);
    expect(outcome).toMatchObject({ code: "unreadable", message: expect.stringContaining(path) });
    await expect(statusOf(on)).rejects.toMatchObject({ code: "unreadable", remedy: expect.stringContaining("move") });
    expect(on.layouts()).toEqual(layouts);
    expect(on.text(path)).toBe(text);
  });

  test.each([
    ["empty", ""],
    ["torn in its first line", '{"kind":"begin","at":"2020-01-01T00:00'],
  ])("one that is %s never began: nothing stands in the way", async (_, text) => {
    const { outcome } = await withJournal(text);
    expect(outcome).toMatchObject({ result: { outcome: "applied" } });
  });
});

test.each(["finish", "roll-back"] as const)(
  "an operation that a reboot cut off is led to its end all the same: %s",
  async (way) => {
    const on = new InProcessHost({ gpus: [{ instances: [{ profile: 9, start: 0 }] }] });
    const before = on.layouts();
    const { uuid } = on.machine.gpu(0);
    const request: ApplyRequest = { gpus: [{ gpuUuid: uuid, layout: wish(14, 2) }] };
    const undisturbed = on.copy().process();
    await operations.apply(undisturbed.system, request, context);
    const at = undisturbed.calls.findLastIndex(({ kind }) => kind === "change");
    await outcomeOf(on.process([{ at, kind: "crash-before" }]), (system, more) =>
      operations.apply(system, request, more),
    );
    on.reboot();
    expect(on.layouts()).toEqual(["off"]);
    const { open } = await statusOf(on);
    const result = await operations.recover(on.process().system, { operationId: open?.id ?? "", way }, context);
    expect(result.outcome).toBe(way === "finish" ? "applied" : "rolled-back");
    expect(on.layouts()).toEqual(way === "finish" ? ["on 14@2[1@0]"] : before);
  },
);
