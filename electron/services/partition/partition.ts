/**
 * Plans and changes across hosts. Each host decides for itself and runs its own transaction; a host that is dead
 * or refuses has its own answer and takes nothing from the others.
 */
import type {
  HostApplyResult,
  HostPlanResult,
  PartitionDraft,
  PartitionProgress,
} from "../../../shared/api/contract.ts";
import { AppError, toErrorData } from "../../../shared/errors.ts";
import type { ApplyResult, MigStatus, RecoverRequest, StepProgress } from "../../../shared/protocol/contract.ts";
import type { Clusters } from "../clusters/clusters.ts";
import type { HostLink } from "../clusters/connector.ts";
import type { TroubleLog } from "../troubleshooting/events.ts";
import { mapLimited } from "./limit.ts";

/** Hosts that change at the same time: enough to be quick, few enough to stop when something is wrong everywhere. */
export const hostsAtOnce = 8;
/** Plans only read. */
const plansAtOnce = 32;

type Progress = (progress: PartitionProgress) => void;
type HostTaskRun = (
  link: HostLink,
  progress: (step: StepProgress) => void,
  signal: AbortSignal,
) => Promise<ApplyResult>;

export class Partition {
  readonly #clusters: Clusters;
  readonly #trouble: TroubleLog;

  constructor(clusters: Clusters, trouble: TroubleLog) {
    this.#clusters = clusters;
    this.#trouble = trouble;
  }

  async plan(draft: PartitionDraft, signal: AbortSignal): Promise<readonly HostPlanResult[]> {
    const cluster = this.#clusters.get(draft.clusterId);
    eachHostOnce(draft.hosts);
    return mapLimited(draft.hosts, plansAtOnce, async ({ hostId, gpus }): Promise<HostPlanResult> => {
      try {
        const plan = await cluster.host(hostId).link().request("mig.plan", { gpus }, signal);
        return { hostId, ok: true, plan };
      } catch (error) {
        return { hostId, ok: false, error: toErrorData(error) };
      }
    });
  }

  apply(draft: PartitionDraft, progress: Progress, signal: AbortSignal): Promise<readonly HostApplyResult[]> {
    return this.#onHosts("Applying a layout", draft.clusterId, draft.hosts, progress, signal, ({ gpus }) => {
      return (link, step, hostSignal) => link.task("mig.apply", { gpus }, step, hostSignal);
    });
  }

  undo(
    input: { readonly clusterId: string; readonly operations: readonly { hostId: string; operationId: string }[] },
    progress: Progress,
    signal: AbortSignal,
  ): Promise<readonly HostApplyResult[]> {
    return this.#onHosts("Undoing an operation", input.clusterId, input.operations, progress, signal, (operation) => {
      const { operationId } = operation;
      return (link, step, hostSignal) => link.task("mig.undo", { operationId }, step, hostSignal);
    });
  }

  recover(
    input: { readonly clusterId: string; readonly hostId: string } & RecoverRequest,
    progress: Progress,
    signal: AbortSignal,
  ): Promise<readonly HostApplyResult[]> {
    const { operationId, way } = input;
    return this.#onHosts("Recovering an operation", input.clusterId, [input], progress, signal, () => {
      return (link, step, hostSignal) => link.task("mig.recover", { operationId, way }, step, hostSignal);
    });
  }

  restore(
    input: { readonly clusterId: string; readonly hostId: string },
    progress: Progress,
    signal: AbortSignal,
  ): Promise<readonly HostApplyResult[]> {
    return this.#onHosts("Restoring saved layouts", input.clusterId, [input], progress, signal, () => {
      return (link, step, hostSignal) => link.task("mig.restore", {}, step, hostSignal);
    });
  }

  async save(clusterId: string, hostId: string, signal: AbortSignal): Promise<{ readonly savedGpus: number }> {
    const host = this.#clusters.get(clusterId).host(hostId);
    const saved = await this.#trouble.timed("Saving layouts", hostId, () =>
      host.link().request("mig.save", {}, signal),
    );
    void host.refreshStatus();
    return saved;
  }

  status(clusterId: string, hostId: string, signal: AbortSignal): Promise<MigStatus> {
    return this.#clusters.get(clusterId).host(hostId).link().request("mig.status", {}, signal);
  }

  #onHosts<Item extends { readonly hostId: string }>(
    what: string,
    clusterId: string,
    items: readonly Item[],
    progress: Progress,
    signal: AbortSignal,
    runOf: (item: Item) => HostTaskRun,
  ): Promise<readonly HostApplyResult[]> {
    const cluster = this.#clusters.get(clusterId);
    eachHostOnce(items);
    return mapLimited(items, hostsAtOnce, async (item): Promise<HostApplyResult> => {
      const { hostId } = item;
      try {
        // Asked to stop before this host was begun: it is not touched.
        if (signal.aborted) throw notBegun();
        const host = cluster.host(hostId);
        const link = host.link();
        const onStep = (step: StepProgress): void => {
          host.operationRuns(step.operationId);
          progress({ hostId, kind: "step", progress: step });
        };
        try {
          const result = await this.#trouble.timed(what, hostId, () => runOf(item)(link, onStep, signal));
          // Whoever reads that it is done sees it done.
          await host.refreshStatus();
          cluster.publisher.flush();
          progress({ hostId, kind: "host-done", result });
          return { hostId, ok: true, result };
        } catch (error) {
          void host.refreshStatus();
          throw error;
        }
      } catch (error) {
        const data = toErrorData(error);
        progress({ hostId, kind: "host-failed", error: data });
        return { hostId, ok: false, error: data };
      }
    });
  }
}

function notBegun(): AppError {
  return new AppError({
    code: "cancelled",
    message: "Cancelled before this host was begun; nothing changed on it.",
    remedy: "",
  });
}

function eachHostOnce(items: readonly { readonly hostId: string }[]): void {
  const seen = new Set<string>();
  for (const { hostId } of items) {
    if (seen.has(hostId)) {
      throw new AppError({ code: "bad-request", message: `The host '${hostId}' is named twice.`, remedy: "" });
    }
    seen.add(hostId);
  }
}
