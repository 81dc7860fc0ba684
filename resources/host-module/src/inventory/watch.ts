/**
 * Pushes what changed on a host. The first event is the whole inventory; then only differences, and nothing at all while
 * nothing differs. A reading's time is no difference.
 */
import { toErrorData } from "../../../../shared/errors.ts";
import { changesBetween, type Json } from "../../../../shared/protocol/changes.ts";
import type { WatchEvent } from "../../../../shared/protocol/contract.ts";
import type { HostInventory } from "../../../../shared/protocol/inventory.ts";
import type { System } from "../system.ts";
import { InventoryReader, type ReadOptions } from "./read.ts";

export interface WatchOptions extends ReadOptions {
  /** Called after every reading that succeeded, also where nothing differs: what is still true, and since when. */
  readonly onRead?: (takenAt: string) => void;
  /** What the first push leaves out is read when `complete` is called, not after a while. */
  readonly untilComplete?: boolean;
  /** What of a reading is shown to whoever watches; all of it when absent. */
  readonly shown?: (inventory: HostInventory) => Promise<HostInventory>;
}

/** After the first push, for what it left out: the GPUs are on the screen before their links are read. */
const restAfterMs = 3_000;
/** The same for a caller that says when it wants the rest: should it never come to say so. */
const restAtLastAfterMs = 30_000;

/** A driver that takes longer to be read than this after a change does not hold up the answer about the change. */
const saidWithinMs = 10_000;

/** Ends early, without an error, when the signal is given. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export class InventoryWatcher {
  private readonly system: System;
  private readonly reader: InventoryReader;
  private readonly sleep: Sleep;
  private readonly pauses = new Map<symbol, string>();
  private wake: AbortController = new AbortController();
  private refreshes = 0;
  /** Watches under way, and who waits until one of them has said what stands now. */
  private watches = 0;
  private awaiting: (() => void)[] = [];

  constructor(system: System, sleep: Sleep = sleepFor) {
    this.system = system;
    this.reader = new InventoryReader(system);
    this.sleep = sleep;
  }

  /** One reading for somebody who asks, with what cannot have changed since an earlier one. */
  readNow(options: ReadOptions = {}): Promise<HostInventory> {
    this.reader.forget();
    return this.reader.read(options);
  }

  /**
   * Stops reading while the MIG mode of a GPU changes: our own nvidia-smi would be the client that it is "in use" by. Every
   * start of the tool opens all GPUs of the host, so that the whole host rests. Call the answer to go on; it waits until
   * whoever watches was told what stands now, where somebody does, and no longer than `saidWithinMs`.
   */
  pause(gpuUuid: string): () => Promise<void> {
    const token = Symbol(gpuUuid);
    this.pauses.set(token, gpuUuid);
    return async () => {
      this.pauses.delete(token);
      if (this.pauses.size > 0) return;
      const said = this.said();
      this.refresh();
      await said;
    };
  }

  private async said(): Promise<void> {
    if (this.watches === 0) return;
    const limit = new AbortController();
    const said = new Promise<void>((resolve) => this.awaiting.push(resolve));
    await Promise.race([said, sleepFor(saidWithinMs, limit.signal)]);
    limit.abort();
  }

  /** UUIDs of the GPUs for which reading rests. */
  get paused(): readonly string[] {
    return [...new Set(this.pauses.values())];
  }

  /** Reads again at once, MIG included: after every change of our own. */
  refresh(): void {
    this.reader.forget();
    this.complete();
  }

  /** Reads again at once what may have changed, and what the first push left out. */
  complete(): void {
    this.refreshes += 1;
    const before = this.wake;
    this.wake = new AbortController();
    before.abort();
  }

  /**
   * Throws the AppError of the first reading. A later one that fails does not end the watch: the GPUs are then shown as
   * failed, in the words of the error, until one succeeds.
   */
  async *events(intervalMs: number, signal: AbortSignal, options: WatchOptions = {}): AsyncGenerator<WatchEvent> {
    this.watches += 1;
    let told: readonly (() => void)[] = [];
    const shown = options.shown ?? (async (reading: HostInventory) => reading);
    try {
      let inventory = await this.reader.read({ ...options, signal, first: true });
      let before = toJson(await shown(inventory));
      let revision = 0;
      let refreshes = this.refreshes;
      yield { revision, takenAt: inventory.takenAt, changes: [{ path: [], value: before }] };
      const restMs = options.untilComplete === true ? restAtLastAfterMs : Math.min(restAfterMs, intervalMs);
      for (let pauseMs = restMs; !signal.aborted; pauseMs = intervalMs) {
        for (const tell of told) tell();
        told = [];
        // A change that ended while the last reading was under way is read at once.
        if (refreshes === this.refreshes) {
          await this.sleep(pauseMs, AbortSignal.any([signal, this.wake.signal]));
        }
        if (signal.aborted) return;
        refreshes = this.refreshes;
        if (this.pauses.size > 0) continue;
        told = this.awaiting.splice(0);
        let takenAt: string;
        try {
          inventory = await this.reader.read({ ...options, signal });
          takenAt = inventory.takenAt;
          options.onRead?.(takenAt);
        } catch (error) {
          if (signal.aborted) return;
          takenAt = this.system.now().toISOString();
          inventory = failedInventory(inventory, error);
        }
        const after = toJson({ ...(await shown(inventory)), takenAt: takenAtOf(before) });
        const changes = changesBetween(before, after);
        if (changes.length === 0) continue;
        before = after;
        revision += 1;
        yield { revision, takenAt, changes };
      }
    } finally {
      this.watches -= 1;
      for (const tell of told) tell();
      if (this.watches === 0) for (const tell of this.awaiting.splice(0)) tell();
    }
  }
}

/** Events of one host until the signal is given. */
export function watchInventory(system: System, intervalMs: number, signal: AbortSignal): AsyncIterable<WatchEvent> {
  return new InventoryWatcher(system).events(intervalMs, signal);
}

function failedInventory(last: HostInventory, error: unknown): HostInventory {
  const { message, evidence } = toErrorData(error);
  const source = evidence?.command?.join(" ") ?? "nvidia-smi";
  const entry = { source, field: "gpus", reason: message, raw: (evidence?.stdout ?? "").slice(0, 200) };
  return {
    ...last,
    gpus: last.gpus.map((gpu) => ({ ...gpu, state: { kind: "failed", reason: "unknown", words: message } as const })),
    unread: [...last.unread.filter((known) => known.field !== "gpus" || known.source !== source), entry],
  };
}

function takenAtOf(inventory: Json): string {
  if (typeof inventory !== "object" || inventory === null || !("takenAt" in inventory)) return "";
  return typeof inventory.takenAt === "string" ? inventory.takenAt : "";
}

/** Plain data as the type of plain data; what is no JSON does not get through. */
export function toJson(value: unknown): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== "object") return null;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [key, toJson(member)]),
  );
}

function sleepFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done, { once: true });
  });
}
