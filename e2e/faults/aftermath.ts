/** A host and a request from a scenario, and what must hold whatever fault struck. */
import { expect } from "vitest";
import * as operations from "../../resources/host-module/src/mig/operations.ts";
import type { System } from "../../resources/host-module/src/system.ts";
import { isErrorCode, toErrorData } from "../../shared/errors.ts";
import type { ApplyRequest, ApplyResult } from "../../shared/protocol/contract.ts";
import { type HostProcess, InProcessHost } from "./in-process-host.ts";
import type { Scenario } from "./scenarios.ts";

export function prepared(scenario: Scenario): { readonly host: InProcessHost; readonly request: ApplyRequest } {
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

export type Outcome = { readonly result: ApplyResult } | { readonly code: string; readonly message: string };

export async function outcomeOf(
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

/** The layouts before and after, and the calls that an undisturbed run makes. */
export async function undisturbed(scenario: Scenario) {
  const { host, request } = prepared(scenario);
  const before = host.layouts();
  const process = host.process();
  const outcome = await outcomeOf(process, (system, context) => operations.apply(system, request, context));
  expect(outcome, scenario.name).toMatchObject({ result: { outcome: "applied" } });
  const after = host.layouts();
  expect(after, scenario.name).not.toEqual(before);
  return { before, after, calls: process.calls };
}

/** The instances that processes run in, by ID: nothing may take them away. */
export function held(host: InProcessHost): readonly string[] {
  return host.state.processes.map(({ gpu }) => {
    const machineGpu = host.state.gpus.find(({ uuid }) => uuid === gpu?.uuid);
    const instance = machineGpu?.instances.find(({ id }) => id === gpu?.gpuInstanceId);
    return `${gpu?.uuid} ${instance?.id} ${instance?.profileId}@${instance?.start} ${instance?.computeInstances.length}`;
  });
}

export interface Ends {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly heldBefore: readonly string[];
  /** Rolling back was what the operator asked for, and is not for want of something better. */
  readonly rollBackAsked?: boolean;
}

/**
 * What must hold after a process that met faults: nothing in use was touched; a closed operation left the old or the new
 * layout, the one that it reported; an open one says where it stands, refuses other changes, and can be completed both ways.
 */
export async function checkAftermath(
  host: InProcessHost,
  process: HostProcess,
  outcome: Outcome,
  request: ApplyRequest,
  { before, after, heldBefore, rollBackAsked = false }: Ends,
  where: string,
): Promise<"open" | "closed"> {
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
      const { failure } = outcome.result;
      expect(failure?.code, where).not.toBe("internal");
      if (!rollBackAsked) expect(failure !== undefined, where).toBe(outcome.result.outcome === "rolled-back");
    } else {
      expect(isErrorCode(outcome.code) && outcome.code !== "internal", where).toBe(true);
      expect(stands, where).toEqual(before);
    }
    return "closed";
  }

  // A read-only question before the recovery had begun answers for itself; all else is told to stand open.
  if (!process.crashed) expect("result" in outcome, where).toBe(false);
  expect(status.open.statement, where).toBeTruthy();
  const refused = await outcomeOf(host.process(), (system, context) => operations.apply(system, request, context));
  expect(refused, where).toMatchObject({ code: "journal-open" });

  for (const way of ["finish", "roll-back"] as const) {
    const recovered = host.copy();
    const operationId = status.open.id;
    const result = await outcomeOf(recovered.process(), (system, context) =>
      operations.recover(system, { operationId, way }, context),
    );
    expect(result, `${way} after ${where}`).toMatchObject({
      result: { outcome: way === "finish" ? "applied" : "rolled-back" },
    });
    expect(recovered.layouts(), `${way} after ${where}`).toEqual(way === "finish" ? after : before);
    expect(held(recovered), `${way} after ${where}`).toEqual(heldBefore);
    expect((await operations.status(recovered.process().system)).open, where).toBeNull();
  }
  return "open";
}
