/** An operation under way or ended: applying a plan, undoing, recovering, restoring. One at a time. */
import { create } from "zustand";
import type { ApiInput, HostApplyResult, PartitionProgress, TaskName } from "../../shared/api/contract.ts";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { ApplyResult, StepProgress } from "../../shared/protocol/contract.ts";
import { client } from "../client/index.ts";
import { t } from "../i18n/index.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { announce } from "./announce.ts";
import { useDraft } from "./draft.ts";
import { forgetRunning, rememberRunning } from "./left-running.ts";
import { learn } from "./outlook.ts";
import { type PlannedGpu, requestOf } from "./plan.ts";

export type RunKind = "apply" | "undo" | "recover" | "restore";

export interface RunHost {
  readonly hostId: string;
  /** By GPU and position; the newest word on each. */
  readonly steps: ReadonlyMap<string, StepProgress>;
  readonly result: ApplyResult | null;
  readonly error: AppErrorData | null;
}

export interface HostOperation {
  readonly hostId: string;
  readonly operationId: string;
}

export interface Run {
  readonly kind: RunKind;
  readonly clusterId: string;
  /** The plan as it was when it was applied; empty for what has none of ours. */
  readonly gpus: readonly PlannedGpu[];
  /** What an undo takes back: where it is stopped, that can still be undone. */
  readonly undoes: readonly HostOperation[];
  readonly hosts: ReadonlyMap<string, RunHost>;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly stopping: boolean;
  /** The whole call failed. */
  readonly error: AppErrorData | null;
}

interface RunState {
  readonly run: Run | null;
}

export const useRun = create<RunState>(() => ({ run: null }));

export function stepKey(progress: Pick<StepProgress, "gpuUuid" | "stepIndex" | "rollingBack">): string {
  return `${progress.gpuUuid} ${progress.stepIndex}${progress.rollingBack ? " back" : ""}`;
}

function hostOf(run: Run, hostId: string): RunHost {
  return run.hosts.get(hostId) ?? { hostId, steps: new Map(), result: null, error: null };
}

/** The run after one word of progress. */
export function withProgress(run: Run, progress: PartitionProgress): Run {
  const host = hostOf(run, progress.hostId);
  const next: RunHost =
    progress.kind === "step"
      ? { ...host, steps: new Map(host.steps).set(stepKey(progress.progress), progress.progress) }
      : progress.kind === "host-done"
        ? { ...host, result: progress.result }
        : { ...host, error: progress.error };
  return { ...run, hosts: new Map(run.hosts).set(progress.hostId, next) };
}

export function withResults(run: Run, results: readonly HostApplyResult[], endedAt: number): Run {
  const hosts = new Map(run.hosts);
  for (const result of results) {
    const host = hostOf(run, result.hostId);
    hosts.set(result.hostId, result.ok ? { ...host, result: result.result } : { ...host, error: result.error });
  }
  return { ...run, hosts, endedAt };
}

/** Steps that ended well, of those announced. */
export function stepCounts(run: Run): { readonly done: number; readonly total: number } {
  let done = 0;
  let total = 0;
  const planned = run.gpus.reduce((sum, gpu) => sum + (gpu.plan?.steps.length ?? 0), 0);
  for (const host of run.hosts.values()) {
    const perGpu = new Map<string, number>();
    for (const progress of host.steps.values()) {
      if (progress.rollingBack) continue;
      perGpu.set(progress.gpuUuid, progress.stepCount);
      if (progress.outcome.kind === "done") done += 1;
    }
    for (const count of perGpu.values()) total += count;
  }
  return { done, total: Math.max(planned, total) };
}

/** What can be undone of a run that ended. */
export function operationsOf(run: Run): readonly HostOperation[] {
  if (run.kind === "undo") {
    const undone = (hostId: string) => {
      const outcome = run.hosts.get(hostId)?.result?.outcome;
      return outcome === "applied" || outcome === "unchanged";
    };
    return run.undoes.filter(({ hostId }) => !undone(hostId));
  }
  return [...run.hosts.values()].flatMap(({ hostId, result }) =>
    result !== null && result.outcome === "applied" && result.operationId !== null
      ? [{ hostId, operationId: result.operationId }]
      : [],
  );
}

/** Steps were begun and nothing says how it ended: the host or the services were lost on the way, or stand in the middle. */
export function isUnknown(run: Run): boolean {
  return [...run.hosts.values()].some((host) => isHostUnknown(host) || (run.error !== null && isBegun(host)));
}

/** A host that came to an end says which, also where it rolled back: an error after a step says that it did not. */
function isHostUnknown({ error, steps }: RunHost): boolean {
  return error !== null && steps.size > 0;
}

function isBegun({ result, steps }: RunHost): boolean {
  return result === null && steps.size > 0;
}

type PartitionTask = Extract<TaskName, `partition.${string}`>;

let stop: AbortController | null = null;

async function start<N extends PartitionTask>(
  kind: RunKind,
  clusterId: string,
  gpus: readonly PlannedGpu[],
  name: N,
  input: ApiInput<N>,
  undoes: readonly HostOperation[] = [],
): Promise<void> {
  if (useRun.getState().run?.endedAt === null) return;
  const controller = new AbortController();
  stop = controller;
  const hosts = new Map<string, RunHost>();
  for (const { entry } of gpus) {
    hosts.set(entry.hostId, { hostId: entry.hostId, steps: new Map(), result: null, error: null });
  }
  useRun.setState({
    run: { kind, clusterId, gpus, undoes, hosts, startedAt: Date.now(), endedAt: null, stopping: false, error: null },
  });
  const update = (change: (run: Run) => Run) =>
    useRun.setState(({ run }) => ({ run: run === null ? null : change(run) }));
  try {
    const results = await client().task(
      name,
      input,
      (progress) => {
        if (progress.kind === "step" && progress.progress.outcome.kind === "done") {
          learn(progress.progress.step, progress.progress.outcome.durationMs);
        }
        if (progress.kind === "step") rememberRunning(clusterId, progress.hostId, progress.progress.operationId);
        update((run) => withProgress(run, progress));
      },
      controller.signal,
    );
    update((run) => withResults(run, results, Date.now()));
  } catch (error) {
    update((run) => ({ ...run, error: toErrorData(error), endedAt: Date.now() }));
  } finally {
    stop = null;
    forgetRunning();
  }
  const { run } = useRun.getState();
  if (run === null) return;
  if (kind === "apply") settleDraft(run);
  else useDraft.getState().settleReached();
  announce(run.error === null || isUnknown(run) ? endWords(run) : t(`error.${run.error.code}`));
}

/** A layout may be reached by finishing an operation, or by another console. While one of ours runs, it may still go back. */
useSnapshot.subscribe(({ hosts }, before) => {
  if (hosts === before.hosts || useRun.getState().run?.endedAt === null) return;
  useDraft.getState().settleReached();
});

/** What came to be is no longer wished for. */
function settleDraft(run: Run): void {
  const reached = run.gpus.filter(({ entry }) => {
    const outcome = run.hosts.get(entry.hostId)?.result?.outcome;
    return outcome === "applied" || outcome === "unchanged";
  });
  useDraft.getState().settle(reached.map(({ entry }) => entry.gpuUuid));
}

function endWords(run: Run): string {
  if (isUnknown(run)) return t("apply.unknown", stepCounts(run));
  const failed = [...run.hosts.values()].filter(({ error }) => error !== null).length;
  if (failed > 0) return t("apply.partly", { count: failed });
  const outcomes = new Set([...run.hosts.values()].map(({ result }) => result?.outcome));
  if (outcomes.has("rolled-back")) return t("apply.rolledBack");
  if (outcomes.has("cancelled")) return t(run.kind === "undo" ? "apply.undoStopped" : "apply.cancelled");
  return t("apply.stepDone");
}

export function applyPlan(clusterId: string, gpus: readonly PlannedGpu[]): Promise<void> {
  return start("apply", clusterId, gpus, "partition.apply", requestOf(clusterId, gpus));
}

export function undoRun(run: Run): Promise<void> {
  return undo(run.clusterId, operationsOf(run));
}

export function undo(clusterId: string, operations: readonly HostOperation[]): Promise<void> {
  if (operations.length === 0) return Promise.resolve();
  const input = { clusterId, operations: operations.map((operation) => ({ ...operation })) };
  return start("undo", clusterId, [], "partition.undo", input, operations);
}

export function recover(
  clusterId: string,
  hostId: string,
  operationId: string,
  way: "finish" | "roll-back",
): Promise<void> {
  return start("recover", clusterId, [], "partition.recover", { clusterId, hostId, operationId, way });
}

export function restore(clusterId: string, hostId: string): Promise<void> {
  return start("restore", clusterId, [], "partition.restore", { clusterId, hostId });
}

/** The step under way ends, then what was done is rolled back. */
export function stopRun(): void {
  if (stop === null) return;
  stop.abort();
  useRun.setState(({ run }) => ({ run: run === null ? null : { ...run, stopping: true } }));
}

export function closeRun(): void {
  useRun.setState(({ run }) => (run?.endedAt === null ? { run } : { run: null }));
}
