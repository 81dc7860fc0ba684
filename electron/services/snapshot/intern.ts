/**
 * One copy of what many hosts say alike. A thousand hosts of one model carry the same geometry table (several
 * kilobytes each) and the same few names.
 */
import type { GpuGeometry } from "../../../shared/mig/types.ts";
import type { HostInventory } from "../../../shared/protocol/inventory.ts";

export class Interner {
  readonly #geometries = new Map<string, GpuGeometry>();
  readonly #strings = new Map<string, string>();

  /** The same inventory; its geometries and names are shared with all others that went through here. */
  inventory(inventory: HostInventory): HostInventory {
    return {
      ...inventory,
      geometries: Object.fromEntries(
        Object.entries(inventory.geometries).map(([key, geometry]) => [this.#string(key), this.#geometry(geometry)]),
      ),
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

  #geometry(geometry: GpuGeometry): GpuGeometry {
    const text = JSON.stringify(geometry);
    const known = this.#geometries.get(text);
    if (known !== undefined) return known;
    this.#geometries.set(text, geometry);
    return geometry;
  }
}
