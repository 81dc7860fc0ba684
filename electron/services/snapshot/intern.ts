/**
 * One copy of what many hosts say alike. A thousand hosts of one model carry the same geometry table (several
 * kilobytes each), the same links between GPUs, and the same few names.
 */
import type { GpuGeometry } from "../../../shared/mig/types.ts";
import type { HostInventory, TopologyLink } from "../../../shared/protocol/inventory.ts";

export class Interner {
  readonly #geometries = new Map<string, GpuGeometry>();
  readonly #links = new Map<string, readonly TopologyLink[]>();
  readonly #strings = new Map<string, string>();

  /** The same inventory; its geometries, links and names are shared with all others that went through here. */
  inventory(inventory: HostInventory): HostInventory {
    return {
      ...inventory,
      geometries: Object.fromEntries(
        Object.entries(inventory.geometries).map(([key, geometry]) => [
          this.#string(key),
          one(this.#geometries, geometry),
        ]),
      ),
      links: one(this.#links, inventory.links),
      gpus: inventory.gpus.map((gpu) => ({
        ...gpu,
        name: this.#string(gpu.name),
        geometry: gpu.geometry === null ? null : this.#string(gpu.geometry),
        instances: gpu.instances.map((instance) => ({ ...instance, profile: this.#string(instance.profile) })),
      })),
    };
  }

  #string(text: string): string {
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    this.#strings.set(text, text);
    return text;
  }
}

function one<T>(known: Map<string, T>, value: T): T {
  const text = JSON.stringify(value);
  const first = known.get(text);
  if (first !== undefined) return first;
  known.set(text, value);
  return value;
}
