/**
 * Every fault at every call of `mig apply`, in memory. Afterwards the layout is the old or the new one, or the
 * operation stands open, says so, refuses other changes and can be finished as well as rolled back.
 */
import { afterAll, describe, expect, test } from "vitest";
import * as operations from "../../resources/host-module/src/mig/operations.ts";
import type { System } from "../../resources/host-module/src/system.ts";
import { isErrorCode, toErrorData } from "../../shared/errors.ts";
import type { ApplyRequest, ApplyResult } from "../../shared/protocol/contract.ts";
import { type Fault, type FaultKind, type HostProcess, InProcessHost } from "./in-process-host.ts";
import { type Scenario, scenarios } from "./scenarios.ts";

const onReads: readonly FaultKind[] = [
  "crash-before",
  "driver-fails",
  "driver-lies",
  "driver-hangs",
  "cancel",
  "hang-up",
];
const onChanges: readonly FaultKind[] = [
  "crash-before",
  "crash-half",
  "crash-after",
  "driver-fails",
  "driver-fails-after",
  "driver-lies",
  "driver-hangs",
  "driver-hangs-after",
  "driver-undead",
  "cancel",
  "hang-up",
];
const onWrites: readonly FaultKind[] = ["crash-before", "crash-torn", "crash-after", "disk-full", "cancel", "hang-up"];

let cases = 0;
afterAll(() => console.log(`mig apply in memory: ${cases} fault cases`));

function prepared(scenario: Scenario): { readonly host: InProcessHost; readonly request: ApplyRequest } {
  const host = new InProcessHost(scenario.machine);
  const { gpus } = host.state;
  for (const [at, { gpuIndex, start }] of scenario.inUse.entries()) {
    const gpu = gpus[gpuIndex];
    const instance = gpu?.instances.find((candidate) => candidate.start === start);
    if (gpu === undefined || instance === undefined) throw new Error(`${scenario.name}: nothing stands at ${start}`);
    host.state.processes.push({
      pid: 4_000 + at,
      uid: 1_000,
      command: ["python3"],
      startedAtMs: 0,
      gpu: { uuid: gpu.uuid, gpuInstanceId: instance.id, computeInstanceId: 0, usedMemoryMiB: 512 },
    });
  }
  const request: ApplyRequest = {
    gpus: scenario.wanted.map(({ gpuIndex, layout }) => ({
      gpuUuid: gpus[gpuIndex]?.uuid ?? "",
      layout: structuredClone(layout) as ApplyRequest["gpus"][number]["layout"],
    })),
  };
  return { host, request };
}

type Outcome = { readonly result: ApplyResult } | { readonly code: string; readonly message: string };

async function outcomeOf(
  process: HostProcess,
  run: (system: System, context: { signal: AbortSignal; progress: () => void }) => Promise<ApplyResult>,
): Promise<Outcome> {
  try {
    return { result: await run(process.system, { signal: process.cancel.signal, progress: () => undefined }) };
  } catch (error) {
    const { code, message } = toErrorData(error);
    return { code, message };
  }
}

/** Ids of the instances that processes run in: nothing may take them away. */
function held(host: InProcessHost): readonly string[] {
  return host.state.processes.map(({ gpu }) => {
    const machineGpu = host.state.gpus.find(({ uuid }) => uuid === gpu?.uuid);
    const instance = machineGpu?.instances.find(({ id }) => id === gpu?.gpuInstanceId);
    return `${gpu?.uuid} ${instance?.id} ${instance?.profileId}@${instance?.start} ${instance?.computeInstances.length}`;
  });
}

const fresh = { signal: new AbortController().signal, progress: () => undefined };

async function check(scenario: Scenario, before: readonly string[], after: readonly string[], fault: Fault) {
  cases += 1;
  const { host, request } = prepared(scenario);
  const heldBefore = held(host);
  const process = host.process(fault);
  const outcome = await outcomeOf(process, (system, context) => operations.apply(system, request, context));
  const where = `${scenario.name}, ${fault.kind} at ${fault.at} (${process.calls[fault.at]?.words}): ${JSON.stringify(outcome).slice(0, 600)}`;
  expect(held(host), where).toEqual(heldBefore);
  process.undead?.();

  const status = await operations.status(host.process().system);
  if (status.open === null) {
    const stands = host.layouts();
    if (process.crashed) {
      expect([before, after], where).toContainEqual(stands);
    } else if ("result" in outcome) {
      const wanted = outcome.result.outcome === "applied" ? after : before;
      expect(["applied", "rolled-back", "cancelled"], where).toContain(outcome.result.outcome);
      expect(stands, where).toEqual(wanted);
    } else {
      expect(isErrorCode(outcome.code) && outcome.code !== "internal", where).toBe(true);
      expect(stands, where).toEqual(before);
    }
    return "closed";
  }

  if (!process.crashed) expect(outcome, where).toMatchObject({ code: "journal-open" });
  expect(status.open.statement, where).toBeTruthy();
  const refused = await outcomeOf(host.process(), (system, context) => operations.apply(system, request, context));
  expect(refused, where).toMatchObject({ code: "journal-open" });

  for (const way of ["finish", "roll-back"] as const) {
    const recovered = host.copy();
    const operationId = status.open.id;
    const result = await outcomeOf(recovered.process(), (system) =>
      operations.recover(system, { operationId, way }, fresh),
    );
    expect(result, `${way} after ${where}`).toMatchObject({
      result: { outcome: way === "finish" ? "applied" : "rolled-back" },
    });
    expect(recovered.layouts(), `${way} after ${where}`).toEqual(way === "finish" ? after : before);
    expect(held(recovered), `${way} after ${where}`).toEqual(heldBefore);
    expect((await operations.status(recovered.process().system)).open).toBeNull();
  }
  return "open";
}

describe.each(scenarios)("$name", (scenario) => {
  test("a fault at every call leaves the old layout, the new one, or an operation that can be completed", async () => {
    const { host, request } = prepared(scenario);
    const before = host.layouts();
    const undisturbed = host.process();
    const { result } = (await outcomeOf(undisturbed, (system, context) =>
      operations.apply(system, request, context),
    )) as { result: ApplyResult };
    expect(result.outcome).toBe("applied");
    const after = host.layouts();
    expect(after).not.toEqual(before);

    const ends = { open: 0, closed: 0 };
    for (const [at, call] of undisturbed.calls.entries()) {
      const kinds = call.kind === "read" ? onReads : call.kind === "change" ? onChanges : onWrites;
      for (const kind of kinds) {
        ends[await check(scenario, before, after, { at, kind })] += 1;
        if (kind === "disk-full") ends[await check(scenario, before, after, { at, kind, stays: true })] += 1;
      }
    }
    expect(ends.open).toBeGreaterThan(0);
    expect(ends.closed).toBeGreaterThan(0);
  });
});
