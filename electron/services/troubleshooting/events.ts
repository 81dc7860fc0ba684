/** The last things that happened, with how long each took: what an operator reads when something is slow or broken. */
import type { TroubleEvent } from "../../../shared/api/contract.ts";
import { type AppErrorData, toErrorData } from "../../../shared/errors.ts";

export const keptEvents = 500;
const coalesceMs = 250;

export interface Happening {
  readonly level: TroubleEvent["level"];
  readonly host?: string;
  readonly what: string;
  readonly durationMs?: number;
  readonly error?: AppErrorData;
}

export class TroubleLog {
  readonly #events: TroubleEvent[] = [];
  readonly #fresh: TroubleEvent[] = [];
  readonly #listeners = new Set<(events: readonly TroubleEvent[]) => void>();
  #timer: NodeJS.Timeout | null = null;

  add(happening: Happening): void {
    const event: TroubleEvent = {
      at: new Date().toISOString(),
      level: happening.level,
      host: happening.host ?? null,
      what: happening.what,
      durationMs: happening.durationMs === undefined ? null : Math.round(happening.durationMs),
      error: happening.error ?? null,
    };
    this.#events.push(event);
    if (this.#events.length > keptEvents) this.#events.splice(0, this.#events.length - keptEvents);
    if (this.#listeners.size === 0) return;
    this.#fresh.push(event);
    this.#timer ??= setTimeout(() => this.#flush(), coalesceMs).unref();
  }

  /** Runs the work and keeps how long it took, and how it failed. */
  async timed<T>(what: string, host: string | null, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const base = { what, ...(host === null ? {} : { host }) };
    try {
      const value = await work();
      this.add({ ...base, level: "info", durationMs: performance.now() - began });
      return value;
    } catch (error) {
      const data = toErrorData(error);
      const level = data.code === "cancelled" ? "info" : "error";
      this.add({ ...base, level, durationMs: performance.now() - began, error: data });
      throw error;
    }
  }

  /** First all that is kept, then what is new; until the signal aborts. */
  subscribe(listener: (events: readonly TroubleEvent[]) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#flush();
    listener([...this.#events]);
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener), { once: true });
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const fresh = this.#fresh.splice(0);
    if (fresh.length > 0) for (const listener of this.#listeners) listener(fresh);
  }
}
