/**
 * The commands of tenants, quotas and requests on their way to the host that has the ledger, and where that host
 * stands. Nothing is asked of a host until a page calls or follows.
 */
import type { ApiAnswer, ApiInput, ApiProgress, ControlState } from "../../../shared/api/contract.ts";
import type { HostAnswer, HostInput, HostMethod, HostProgress, HostTask } from "../../../shared/protocol/contract.ts";
import type { Clusters } from "../clusters/clusters.ts";
import type { TroubleLog } from "../troubleshooting/events.ts";
import { ControlHostFinder } from "./finder.ts";
import { ControlFollower } from "./follower.ts";
import type { ControlRequest, ControlTask } from "./methods.ts";
import { RolesCopier } from "./roles.ts";

/** What is kept of one cluster, in memory. */
interface Kept {
  readonly finder: ControlHostFinder;
  readonly follower: ControlFollower;
}

export class Control {
  readonly #clusters: Clusters;
  readonly #trouble: TroubleLog;
  readonly #kept = new Map<string, Kept>();

  constructor(clusters: Clusters, trouble: TroubleLog) {
    this.#clusters = clusters;
    this.#trouble = trouble;
  }

  /** Answers as the control host does. Throws AppError, `ssh-closed` where that host is not connected. */
  async request<M extends ControlRequest>(method: M, call: ApiInput<M>, signal: AbortSignal): Promise<ApiAnswer<M>> {
    const { finder, follower } = this.#of(call.clusterId);
    const link = await finder.link();
    const input = call.input as HostInput<Exclude<HostMethod, HostTask>>;
    const answer = await link.request(method as Exclude<HostMethod, HostTask>, input, signal);
    if (method === "ledger.create") {
      finder.forget(link);
      follower.again();
    }
    return answer as HostAnswer<HostMethod> as ApiAnswer<M>;
  }

  /** As `request`, with the host's progress. */
  async task<M extends ControlTask>(
    method: M,
    call: ApiInput<M>,
    progress: (progress: ApiProgress<M>) => void,
    signal: AbortSignal,
  ): Promise<ApiAnswer<M>> {
    const link = await this.#of(call.clusterId).finder.link();
    const input = call.input as HostInput<M>;
    const answer = await link.task<HostTask>(
      method,
      input,
      progress as (progress: HostProgress<HostTask>) => void,
      signal,
    );
    return answer as ApiAnswer<M>;
  }

  /** First where it stands, then every change; until the signal aborts. Throws `not-found`. */
  subscribe(clusterId: string, emit: (state: ControlState) => void, signal: AbortSignal): void {
    this.#of(clusterId).follower.subscribe(emit, signal);
  }

  #of(clusterId: string): Kept {
    const cluster = this.#clusters.get(clusterId);
    const kept = this.#kept.get(clusterId);
    if (kept !== undefined) return kept;
    const finder = new ControlHostFinder(cluster);
    const copier = new RolesCopier(cluster, finder, this.#trouble);
    const made = { finder, follower: new ControlFollower(cluster, finder, copier) };
    this.#kept.set(clusterId, made);
    return made;
  }
}
