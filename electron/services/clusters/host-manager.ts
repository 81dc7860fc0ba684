/**
 * One host: connects when asked, follows its inventory, comes back by itself after a fault, and says at every
 * moment which state that is. One host's trouble never reaches another's.
 */
import type { HostState, HostView } from "../../../shared/api/snapshot.ts";
import { AppError, type AppErrorData, toErrorData } from "../../../shared/errors.ts";
import { watchHeartbeatMs } from "../../../shared/protocol/contract.ts";
import type { HostInventory } from "../../../shared/protocol/inventory.ts";
import type { TroubleLog } from "../troubleshooting/events.ts";
import type { ConnectTarget, HostConnector, HostLink } from "./connector.ts";
import { InventoryFollower, touchesLayout } from "./inventory-follower.ts";
import type { Opening } from "./opening.ts";
import { pause, refuses, retryDelayMs } from "./retry.ts";

export interface HostManagerOptions {
  readonly target: ConnectTarget;
  readonly name: string;
  readonly rack: string;
  readonly refreshMs: number;
  readonly connector: HostConnector;
  readonly trouble: TroubleLog;
  /** Shared by the hosts of a cluster. */
  readonly opening: Opening;
  readonly share: (inventory: HostInventory) => HostInventory;
  readonly changed: () => void;
  /** The inventory was read or confirmed; for whoever keeps it. */
  readonly inventoryChanged: () => void;
  readonly last: { readonly inventory: HostInventory; readonly asOf: string } | null;
}

/** The part of a host's view that the host itself, not the console's configuration, decides. */
interface Known {
  readonly inventory: HostInventory | null;
  readonly canChange: boolean | null;
  readonly openOperationId: string | null;
  readonly runningOperationId: string | null;
  readonly restoreOffered: boolean;
}

const statusDelayMs = 1_000;
/** A host whose driver answers nothing is asked again this often while the connection stands. */
const watchAgainMs = 15_000;
const watchRestartMs = 1_000;

export class HostManager {
  readonly #options: HostManagerOptions;
  #state: HostState = { kind: "not-connected" };
  #known: Known;
  #asOf: string | null;
  #view: HostView | null = null;
  #link: HostLink | null = null;
  #session: AbortController | null = null;
  #wake: (() => void) | null = null;
  #statusTimer: NodeJS.Timeout | null = null;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: HostManagerOptions) {
    this.#options = options;
    this.#known = {
      inventory: options.last?.inventory ?? null,
      canChange: null,
      openOperationId: null,
      runningOperationId: null,
      restoreOffered: false,
    };
    this.#asOf = options.last?.asOf ?? null;
  }

  get id(): string {
    return this.#options.target.hostId;
  }

  get connected(): boolean {
    return this.#session !== null;
  }

  view(): HostView {
    this.#view ??= {
      id: this.id,
      name: this.#options.name,
      rack: this.#options.rack,
      state: this.#state,
      asOf: this.#asOf,
      ...this.#known,
    };
    return this.#view;
  }

  /** The running tessera-host. Throws the reason why there is none. */
  link(): HostLink {
    if (this.#link !== null) return this.#link;
    const state = this.#state;
    if ((state.kind === "unreachable" || state.kind === "refused") && state.error.code !== "cancelled") {
      throw new AppError(state.error);
    }
    throw new AppError({
      code: "ssh-closed",
      message: `${this.#options.name} is not connected.`,
      remedy: "Connect the cluster first, and wait until the host is live.",
      evidence: { host: this.#options.name },
    });
  }

  connect(): void {
    if (this.#session !== null) return;
    const session = new AbortController();
    this.#session = session;
    this.#ended = this.#run(session.signal);
  }

  async disconnect(): Promise<void> {
    this.#session?.abort();
    this.#session = null;
    this.#link?.close();
    await this.#ended;
  }

  /** Ends a waiting period now; a host that nobody asked for is connected. */
  retry(): void {
    if (this.#session === null) this.connect();
    else this.#wake?.();
  }

  /** One of ours: the host's own watch rests until it has ended. */
  operationRuns(operationId: string): void {
    if (this.#known.runningOperationId !== operationId) this.#learn({ runningOperationId: operationId });
  }

  /** Asks again what waits on the host: after a change made here or elsewhere. */
  async refreshStatus(): Promise<void> {
    const link = this.#link;
    if (link === null) return;
    try {
      const status = await link.request("mig.status", {});
      if (this.#link !== link) return;
      const openId = status.open?.id ?? null;
      this.#learn({
        openOperationId: status.running ? null : openId,
        runningOperationId: status.running ? openId : null,
        restoreOffered: status.restoreOffered,
      });
      // Its end may change no layout: it is asked after until it has ended.
      if (status.running) this.#statusSoon();
    } catch (error) {
      if (toErrorData(error).code === "forbidden") {
        // A lead or a member: the host shows what is theirs, and takes no change of GPUs from them.
        this.#learn({ canChange: false });
        return;
      }
      // Without the right to read the journal the host can still be looked at.
      this.#options.trouble.add({
        level: "warning",
        host: this.#options.name,
        what: "Reading the state of operations",
        error: toErrorData(error),
      });
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        const link = await this.#open(signal);
        failures = 0;
        await this.#follow(link, signal);
      } catch (error) {
        if (signal.aborted) break;
        const data = toErrorData(error);
        if (refuses(data)) {
          this.#set({ kind: "refused", error: data });
          await this.#pause(null, signal);
        } else {
          const delayMs = retryDelayMs(failures);
          failures += 1;
          this.#set({ kind: "unreachable", error: data, retryAt: new Date(Date.now() + delayMs).toISOString() });
          await this.#pause(delayMs, signal);
        }
      } finally {
        this.#link?.close();
        this.#link = null;
        this.#options.opening.left(this.id);
        this.#stopStatusTimer();
      }
    }
    this.#set({ kind: "not-connected" });
  }

  async #open(signal: AbortSignal): Promise<HostLink> {
    const { connector, target, trouble, name, opening } = this.#options;
    this.#set({ kind: "connecting", phase: "resolving" });
    opening.begin(this.id);
    const link = await trouble.timed("Connecting", name, () =>
      connector.connect(target, (phase) => this.#set({ kind: "connecting", phase }), signal),
    );
    if (signal.aborted) {
      link.close();
      throw new AppError({ code: "cancelled", message: "Disconnected.", remedy: "" });
    }
    this.#link = link;
    this.#set({ kind: "loading" });
    this.#learn({ canChange: link.hello.root });
    void this.refreshStatus();
    return link;
  }

  /** Watches until the link goes; then throws why. */
  async #follow(link: HostLink, signal: AbortSignal): Promise<never> {
    const gone = link.closed.then((error) => ({ gone: error }));
    for (;;) {
      const watch = new AbortController();
      const ended = this.#watch(link, AbortSignal.any([signal, watch.signal])).then((error) => ({ ended: error }));
      const first = await Promise.race([gone, ended]);
      watch.abort();
      if ("gone" in first) throw new AppError(first.gone);
      signal.throwIfAborted();
      this.#options.opening.left(this.id);
      // The connection stands but the watch ended: the driver's trouble, not the network's.
      const error = first.ended;
      if (error === "again") {
        await pause(watchRestartMs, signal);
        void this.refreshStatus();
        continue;
      }
      if (error.code === "ssh-closed") throw new AppError(error);
      this.#set(this.#known.inventory === null ? { kind: "refused", error } : { kind: "stale", error });
      const waited = this.#pause(watchAgainMs, signal).then(() => null);
      const during = await Promise.race([gone, waited]);
      if (during !== null) throw new AppError(during.gone);
      signal.throwIfAborted();
    }
  }

  /** Resolves with why the watch ended; a silent one first shows as stale and then ends. */
  async #watch(link: HostLink, outer: AbortSignal): Promise<AppErrorData | "again"> {
    const { refreshMs } = this.#options;
    const silence = new AbortController();
    const signal = AbortSignal.any([outer, silence.signal]);
    const follower = new InventoryFollower(this.#options.share);
    const limitMs = silenceLimitMs(refreshMs);
    let timer: NodeJS.Timeout | undefined;
    let silent = false;
    const heard = (): void => {
      silent = false;
      clearTimeout(timer);
      timer = setTimeout(() => {
        silent = true;
        this.#set({ kind: "stale", error: silentError(this.#options.name, limitMs) });
        timer = setTimeout(() => silence.abort(), limitMs);
      }, limitMs);
    };
    heard();
    try {
      const running = link.task(
        "watch",
        { intervalMs: refreshMs, untilComplete: true },
        (event) => {
          if (signal.aborted) return;
          const inventory = follower.take(event);
          heard();
          if (event.revision === 0) this.#firstSeen(link);
          this.#asOf = new Date().toISOString();
          if (inventory === null) {
            // A lost push: this watch's picture is no longer the host's.
            silence.abort();
            return;
          }
          this.#seen(inventory, event.changes.length === 0, touchesLayout(event));
        },
        signal,
      );
      const aborted = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null)));
      running.catch(() => undefined);
      await Promise.race([running, aborted]);
      // After silence the host may not even answer the cancellation: the link itself is given up.
      if (silent) return { ...silentError(this.#options.name, 2 * limitMs), code: "ssh-closed" };
      return "again";
    } catch (error) {
      return toErrorData(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #firstSeen(link: HostLink): void {
    // An older tessera-host does not know the request, and reads the rest by itself.
    this.#options.opening.seen(this.id, () => void link.request("watch.complete", {}).catch(() => undefined));
  }

  #seen(inventory: HostInventory, heartbeat: boolean, layoutChanged: boolean): void {
    if (!heartbeat || this.#known.inventory === null) {
      const before = this.#known.inventory;
      const rebooted = before !== null && before.host.bootId !== inventory.host.bootId;
      this.#known = { ...this.#known, inventory };
      this.#options.inventoryChanged();
      if (layoutChanged || rebooted) this.#statusSoon();
    }
    // A heartbeat too: the page shows how old the oldest of what it shows is.
    this.#view = null;
    if (this.#state.kind === "live") this.#options.changed();
    else this.#set({ kind: "live" });
  }

  #learn(what: Partial<Omit<Known, "inventory">>): void {
    const known: Partial<Known> = this.#known;
    if (Object.entries(what).every(([key, value]) => known[key as keyof Known] === value)) return;
    this.#known = { ...this.#known, ...what };
    this.#view = null;
    this.#options.changed();
  }

  #set(state: HostState): void {
    this.#state = state;
    this.#view = null;
    this.#options.changed();
  }

  async #pause(delayMs: number | null, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    // Without a delay only a person ends it; 24 days and again is as good as for ever.
    await pause(delayMs ?? 2 ** 31 - 1, AbortSignal.any([signal, woken.signal]));
    this.#wake = null;
  }

  #statusSoon(): void {
    this.#statusTimer ??= setTimeout(() => {
      this.#statusTimer = null;
      void this.refreshStatus();
    }, statusDelayMs);
  }

  #stopStatusTimer(): void {
    if (this.#statusTimer !== null) clearTimeout(this.#statusTimer);
    this.#statusTimer = null;
  }
}

/** Two lost looks are bad luck, three are silence; never less than two heartbeats and some. */
export function silenceLimitMs(refreshMs: number): number {
  return Math.max(3 * refreshMs, 2.5 * watchHeartbeatMs);
}

function silentError(host: string, silentMs: number): AppErrorData {
  return {
    code: "timeout",
    message: `${host} has said nothing for ${Math.round(silentMs / 1_000)} s.`,
    remedy: "What is shown may be out of date; the connection is made anew if it stays silent.",
    evidence: { host },
  };
}
