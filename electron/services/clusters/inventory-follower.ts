/** Puts the pushes of `watch` together into the inventory that they describe. */
import { type Json, withChanges } from "../../../shared/protocol/changes.ts";
import type { WatchEvent } from "../../../shared/protocol/contract.ts";
import { type HostInventory, inventorySchema } from "../../../shared/protocol/inventory.ts";

export class InventoryFollower {
  readonly #share: (inventory: HostInventory) => HostInventory;
  #json: Json = null;
  #revision: number | null = null;

  /** `share` replaces what other hosts say alike by one copy; later pushes leave those parts in place. */
  constructor(share: (inventory: HostInventory) => HostInventory) {
    this.#share = share;
  }

  /** The inventory after this push; null when a push was lost or leads nowhere, and the watch must begin again. */
  take(event: WatchEvent): HostInventory | null {
    const whole = event.changes.some((change) => change.path.length === 0);
    if (!whole && (this.#revision === null || event.revision !== this.#revision + 1)) return null;
    this.#revision = event.revision;
    try {
      this.#json = withChanges(this.#json, event.changes);
    } catch {
      return null;
    }
    if (!isInventory(this.#json)) return null;
    if (!whole) return this.#json;
    const shared = this.#share(this.#json);
    // An inventory is plain data by its contract, which an interface cannot say.
    this.#json = shared as unknown as Json;
    return shared;
  }
}

/** Whether a push changes how GPUs are divided, rather than temperatures. A whole one is a beginning, not a change. */
export function touchesLayout(event: WatchEvent): boolean {
  return event.changes.some(
    ({ path }) => path[0] === "gpus" && path.some((key) => key === "instances" || key === "mig"),
  );
}

/** The schema's name is the promise that the rest is as the contract says; both ends are built from one source. */
function isInventory(value: unknown): value is HostInventory {
  return (
    typeof value === "object" &&
    value !== null &&
    "schema" in value &&
    value.schema === inventorySchema &&
    "gpus" in value &&
    Array.isArray(value.gpus) &&
    "host" in value
  );
}
