/** Where a cluster's ledger stands, for as long as somebody wants to know. */
import type { ControlState } from "../../../shared/api/contract.ts";
import type { HostState } from "../../../shared/api/snapshot.ts";
import { toErrorData } from "../../../shared/errors.ts";
import type { ControlEvent, Me } from "../../../shared/protocol/control.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { HostLink } from "../clusters/connector.ts";
import { pause } from "../clusters/retry.ts";
import type { ControlHostFinder } from "./finder.ts";
import type { RolesCopier } from "./roles.ts";

/** A host without a ledger may get one from elsewhere, and a fault may pass. */
const againMs = 15_000;

const nowhere: ControlState = {
  controlHostId: null,
  state: "none",
  me: null,
  error: null,
  ledgerRevision: 0,
  usageRevision: 0,
  rolesBehind: [],
};

export class ControlFollower {
  readonly #cluster: Cluster;
  readonly #finder: ControlHostFinder;
  readonly #copier: RolesCopier;
  readonly #listeners = new Set<(state: ControlState) => void>();
  #state: ControlState = nowhere;
  #session: AbortController | null = null;
  #wake = Promise.withResolvers<void>();
  #kinds = "";
  /** The link that is being followed. */
  #followed: HostLink | null = null;

  constructor(cluster: Cluster, finder: ControlHostFinder, copier: RolesCopier) {
    this.#cluster = cluster;
    this.#finder = finder;
    this.#copier = copier;
  }

  subscribe(emit: (state: ControlState) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#listeners.add(emit);
    emit(this.#state);
    signal.addEventListener("abort", () => this.#left(emit), { once: true });
    if (this.#session !== null) return;
    const session = new AbortController();
    this.#session = session;
    this.#cluster.publisher.subscribe(() => this.#hostsMoved(), session.signal);
    void this.#run(session.signal);
  }

  /** Looks again now: a host came or went, or a ledger was made. */
  again(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  /** Every push of an inventory comes by here: only hosts that came or went are worth a look. */
  #hostsMoved(): void {
    const kinds = this.#cluster.publisher
      .current()
      .hosts.map(({ state }) => state.kind)
      .join();
    if (kinds === this.#kinds) return;
    this.#kinds = kinds;
    this.again();
  }

  #left(emit: (state: ControlState) => void): void {
    this.#listeners.delete(emit);
    if (this.#listeners.size > 0) return;
    this.#session?.abort();
    this.#session = null;
    this.#followed = null;
    this.#kinds = "";
    this.#state = nowhere;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const woken = this.#wake.promise;
      try {
        await this.#look(signal);
      } catch (error) {
        this.#set(signal, { state: "failed", error: toErrorData(error) });
      }
      const rest = new AbortController();
      await Promise.race([woken, pause(againMs, AbortSignal.any([signal, rest.signal]))]);
      rest.abort();
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const hostId = await this.#finder.find();
    const link = this.#finder.linkOf(hostId);
    if (link === null) {
      this.#followed = null;
      const { state } = this.#cluster.host(hostId).view();
      this.#set(signal, { controlHostId: hostId, me: null, ...withoutLink(state) });
      return;
    }
    if (this.#followed === link) {
      await this.#copyRoles(hostId, link, this.#state.me, signal);
      return;
    }
    const answer = await this.#finder.ask(link);
    if ("error" in answer) {
      // Not kept: the next look asks again, and not before its time unless a host came or went.
      this.#finder.forget(link);
      this.#set(signal, { controlHostId: hostId, state: "failed", me: null, error: answer.error });
      return;
    }
    const { me } = answer;
    if (!me.ledger) {
      this.#finder.forget(link);
      this.#set(signal, { controlHostId: hostId, state: "no-ledger", me, error: null });
      return;
    }
    this.#followed = link;
    this.#set(signal, { controlHostId: hostId, state: "ready", me, error: null });
    if (me.role !== "none") void this.#watch(hostId, link, signal);
  }

  async #watch(hostId: string, link: HostLink, signal: AbortSignal): Promise<void> {
    try {
      await link.task("control.watch", {}, (event) => this.#seen(hostId, link, event, signal), signal);
    } catch (error) {
      if (this.#followed === link) this.#set(signal, { state: "failed", error: toErrorData(error) });
    }
    this.#finder.forget(link);
    if (this.#followed === link) this.#followed = null;
  }

  #seen(hostId: string, link: HostLink, event: ControlEvent, signal: AbortSignal): void {
    if (signal.aborted || this.#followed !== link) return;
    const { ledgerRevision, usageRevision } = event;
    const changed = ledgerRevision !== this.#state.ledgerRevision;
    if (!changed) {
      this.#set(signal, { usageRevision });
      return;
    }
    // Roles may have changed with it: who the operator is comes with the new revision, never after it.
    this.#finder.forget(link);
    void this.#finder.ask(link).then((answer) => {
      if (signal.aborted || this.#followed !== link) return;
      const me = "me" in answer ? answer.me : this.#state.me;
      this.#set(signal, { ledgerRevision, usageRevision, me });
      return this.#copyRoles(hostId, link, me, signal);
    });
  }

  async #copyRoles(hostId: string, link: HostLink, me: Me | null, signal: AbortSignal): Promise<void> {
    if (me?.role !== "administrator" || me.open) return;
    if (!(await this.#copier.isDue(hostId, me.rolesRevision ?? 0))) return;
    try {
      await this.#copier.copy(hostId, await link.request("organisation.get", {}));
    } catch (error) {
      this.#copier.failed(hostId, error);
    }
    const rolesBehind = this.#copier.behind(hostId);
    if (rolesBehind.join() !== this.#state.rolesBehind.join()) this.#set(signal, { rolesBehind });
  }

  #set(signal: AbortSignal, what: Partial<ControlState>): void {
    if (signal.aborted) return;
    const before = this.#state;
    const after = { ...before, ...what };
    if (
      Object.keys(after).every((key) => Object.is(after[key as keyof ControlState], before[key as keyof ControlState]))
    )
      return;
    this.#state = after;
    for (const listener of this.#listeners) listener(after);
  }
}

function withoutLink(state: HostState): Pick<ControlState, "state" | "error"> {
  if (state.kind === "unreachable" || state.kind === "refused") return { state: "failed", error: state.error };
  return { state: state.kind === "not-connected" ? "none" : "connecting", error: null };
}
