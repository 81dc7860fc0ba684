/**
 * The plan of the draft. The page plans at once with the rules it has; the hosts plan again what they will apply,
 * a moment after the last edit, and their word replaces the page's.
 */
import { create } from "zustand";
import type { HostPlanResult, PartitionDraft } from "../../shared/api/contract.ts";
import type { AppErrorData } from "../../shared/errors.ts";
import { toErrorData } from "../../shared/errors.ts";
import { asWish } from "../../shared/mig/layout.ts";
import { planGpu } from "../../shared/mig/plan.ts";
import type { GpuPlan, Refusal } from "../../shared/mig/types.ts";
import { client } from "../client/index.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { useDraft } from "./draft.ts";
import { type Draft, type DraftEntry, type FactsOf, isStale } from "./draft-model.ts";
import { factsFor, type GpuFacts } from "./facts.ts";
import { mayPartition } from "./may-partition.ts";

export interface PlannedGpu {
  readonly entry: DraftEntry;
  readonly facts: GpuFacts | null;
  readonly stale: boolean;
  /** Null where the GPU is no longer in the inventory. */
  readonly plan: GpuPlan | null;
  readonly refusals: readonly Refusal[];
}

export interface PlannedHost {
  readonly hostId: string;
  readonly gpus: readonly PlannedGpu[];
  /** `confirmed`: this is the host's own plan. */
  readonly check: "local" | "asking" | "confirmed" | "refused";
  readonly error: AppErrorData | null;
}

/** What the page itself makes of one entry. */
export function planEntry(entry: DraftEntry, facts: GpuFacts | null): PlannedGpu {
  if (facts === null) return { entry, facts, stale: false, plan: null, refusals: [] };
  const stale = isStale(entry, facts);
  const outcome = planGpu({
    gpuUuid: entry.gpuUuid,
    gpuIndex: facts.gpu.index,
    gpuName: facts.gpu.name,
    geometry: facts.geometry,
    // A stale draft is shown as it was meant: against what it was begun on.
    current: stale ? entry.baseline : facts.current,
    wanted: entry.wanted,
    wholeGpuInUse: facts.heldWhole,
  });
  return outcome.ok
    ? { entry, facts, stale, plan: outcome.plan, refusals: [] }
    : { entry, facts, stale, plan: null, refusals: outcome.refusals };
}

export function planDraft(draft: Draft, factsOf: FactsOf): readonly PlannedHost[] {
  const byHost = new Map<string, PlannedGpu[]>();
  for (const entry of draft.values()) {
    const planned = planEntry(entry, factsOf(entry.gpuUuid));
    byHost.set(entry.hostId, [...(byHost.get(entry.hostId) ?? []), planned]);
  }
  return [...byHost].map(([hostId, gpus]) => ({
    hostId,
    gpus: gpus.sort((a, b) => (a.facts?.gpu.index ?? 0) - (b.facts?.gpu.index ?? 0)),
    check: "local",
    error: null,
  }));
}

/** The hosts' answers over the page's own plan. */
export function withAnswers(
  planned: readonly PlannedHost[],
  answers: readonly HostPlanResult[] | null,
  asking: boolean,
): readonly PlannedHost[] {
  const byHost = new Map(answers?.map((answer) => [answer.hostId, answer]));
  return planned.map((host) => {
    const answer = byHost.get(host.hostId);
    if (answer === undefined) return { ...host, check: asking ? "asking" : "local" };
    if (!answer.ok) return { ...host, check: "refused", error: answer.error };
    const plans = new Map(answer.plan.gpus.map((plan) => [plan.gpuUuid, plan]));
    const gpus = host.gpus.map((gpu) => {
      const plan = plans.get(gpu.entry.gpuUuid);
      return plan === undefined || gpu.refusals.length > 0 ? gpu : { ...gpu, plan };
    });
    return { ...host, gpus, check: "confirmed" };
  });
}

/** GPUs that can be applied as they are planned. */
export function canApply(gpu: PlannedGpu): boolean {
  return gpu.plan !== null && gpu.plan.steps.length > 0 && !gpu.stale;
}

export function requestOf(clusterId: string, gpus: readonly PlannedGpu[]): PartitionDraft {
  const byHost = new Map<string, PlannedGpu[]>();
  for (const gpu of gpus) byHost.set(gpu.entry.hostId, [...(byHost.get(gpu.entry.hostId) ?? []), gpu]);
  return {
    clusterId,
    hosts: [...byHost].map(([hostId, members]) => ({
      hostId,
      gpus: members.map(({ entry }) => ({
        gpuUuid: entry.gpuUuid,
        layout: wireLayout(entry),
        basedOn: entry.basedOn,
      })),
    })),
  };
}

function wireLayout(entry: DraftEntry): PartitionDraft["hosts"][number]["gpus"][number]["layout"] {
  const { migEnabled, instances } = asWish(entry.wanted);
  return {
    migEnabled,
    instances: instances.map(({ profileId, start, computeInstances }) => ({
      profileId,
      start,
      ...(computeInstances === undefined
        ? {}
        : {
            computeInstances: computeInstances.map((inside) => ({ profileId: inside.profileId, start: inside.start })),
          }),
    })),
  };
}

interface Answered {
  readonly draft: Draft | null;
  readonly answers: readonly HostPlanResult[] | null;
  readonly asking: boolean;
}

/** The hosts' answers to the draft they were asked about. */
export const usePlanAnswers = create<Answered>(() => ({ draft: null, answers: null, asking: false }));

const quietMs = 150;
let following = false;

/** Asks the hosts whenever the draft has rested for a moment. Later calls do nothing. */
export function followDraft(): void {
  if (following) return;
  following = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let open: AbortController | null = null;

  const ask = async (draft: Draft) => {
    const { activeClusterId, hosts } = useSnapshot.getState();
    const gpus = [...draft.values()]
      .map((entry) => planEntry(entry, factsFor(entry.gpuUuid)))
      // Only hosts that are there are asked; the others' plans stay the page's own.
      .filter((gpu) => canApply(gpu) && hosts.get(gpu.entry.hostId)?.state.kind === "live");
    if (activeClusterId === null || gpus.length === 0 || !mayPartition()) {
      usePlanAnswers.setState({ draft, answers: null, asking: false });
      return;
    }
    const controller = new AbortController();
    open = controller;
    try {
      const answers = await client().request("partition.plan", requestOf(activeClusterId, gpus), controller.signal);
      if (open === controller) usePlanAnswers.setState({ draft, answers, asking: false });
    } catch (error) {
      if (open !== controller) return;
      const failed = toErrorData(error);
      const hostIds = new Set(gpus.map((gpu) => gpu.entry.hostId));
      const answers = [...hostIds].map((hostId) => ({ hostId, ok: false, error: failed }) as const);
      usePlanAnswers.setState({ draft, answers, asking: false });
    }
  };

  const schedule = (draft: Draft) => {
    clearTimeout(timer);
    open?.abort();
    open = null;
    usePlanAnswers.setState({ draft, answers: null, asking: draft.size > 0 });
    if (draft.size > 0) timer = setTimeout(() => void ask(draft), quietMs);
  };

  useDraft.subscribe((state, before) => {
    if (state.history.present !== before.history.present) schedule(state.history.present);
  });
  // A layout that changed on a host makes its answer old.
  useSnapshot.subscribe((state, before) => {
    if (state.hosts === before.hosts) return;
    const draft = useDraft.getState().history.present;
    const moved = [...draft.values()].some(
      (entry) => factsFor(entry.gpuUuid, state.hosts)?.version !== factsFor(entry.gpuUuid, before.hosts)?.version,
    );
    if (moved) schedule(draft);
  });
}
