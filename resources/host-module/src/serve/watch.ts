import { toErrorData } from "../../../../shared/errors.ts";
import { type HostInput, type WatchEvent, watchHeartbeatMs } from "../../../../shared/protocol/contract.ts";
import type { HostInventory } from "../../../../shared/protocol/inventory.ts";
import { shownInventory } from "../access/shown-inventory.ts";
import { InventoryWatcher } from "../inventory/watch.ts";
import type { System } from "../system.ts";

/** One watcher a host, so that a change and whoever watches know of each other. */
const watchers = new WeakMap<System, InventoryWatcher>();

export function watcherOf(system: System): InventoryWatcher {
  const known = watchers.get(system);
  if (known !== undefined) return known;
  const watcher = new InventoryWatcher(system);
  watchers.set(system, watcher);
  return watcher;
}

/** The host as it is: one call of the driver, and the instances anew where a GPU is divided. */
export function readNow(system: System, signal: AbortSignal): Promise<HostInventory> {
  return watcherOf(system).readNow({ signal });
}

/**
 * Pushes what changed until the signal is raised: the whole first, as revision 0, then differences. While nothing differs an
 * empty push every 30 s says when the host was last read, so that a silent link is known from a quiet host.
 * Throws the AppError of the first reading.
 */
export async function watchHost(
  system: System,
  { intervalMs, untilComplete = false }: HostInput<"watch">,
  signal: AbortSignal,
  push: (event: WatchEvent) => void,
): Promise<void> {
  let revision = 0;
  let lastRead = system.now().toISOString();
  const send = (takenAt: string, changes: WatchEvent["changes"]) => {
    push({ revision, takenAt, changes });
    revision += 1;
    heartbeat.refresh();
  };
  // Somewhat earlier than promised: the promise is to whoever reads, and the line takes its time.
  const heartbeat = setInterval(() => {
    if (revision > 0) send(lastRead, []);
  }, watchHeartbeatMs * 0.9);
  const onRead = (takenAt: string) => {
    lastRead = takenAt;
  };
  const shown = (inventory: HostInventory) => shownInventory(system, inventory);
  try {
    for await (const event of watcherOf(system).events(intervalMs, signal, { onRead, untilComplete, shown })) {
      onRead(event.takenAt);
      send(event.takenAt, event.changes);
    }
  } catch (error) {
    if (!signal.aborted || toErrorData(error).code !== "cancelled") throw error;
  } finally {
    clearInterval(heartbeat);
  }
}

/**
 * Lets the watch rest while `work` changes this GPU, and look again at once afterwards. What stands then was pushed before
 * the answer, so that nobody is told of a change and shown the layout before it.
 */
export async function whileWatchRests<T>(system: System, work: () => Promise<T>): Promise<T> {
  const resume = watchers.get(system)?.pause("");
  try {
    return await work();
  } finally {
    await resume?.();
  }
}
