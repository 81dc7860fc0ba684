/**
 * One host's GPUs as typed arrays, which is what the board draws from. A cell is an instance, or the whole
 * GPU where somebody holds it undivided.
 */
import type { Gpu, Holder, HostInventory } from "../../shared/protocol/inventory.ts";
import { colouredBy, type Names } from "../stores/colouring.ts";

/** In the percent and temperature arrays: the driver did not say. */
export const unknown = 255;

export const gpuBroken = 1;
export const gpuWarning = 2;
export const gpuDivided = 4;
export const gpuDivisible = 8;

export interface HostCells {
  readonly gpuCount: number;
  readonly gpuFlags: Uint8Array;
  /** Memory slices; 1 where the GPU cannot be divided. */
  readonly gpuSlices: Uint8Array;
  /** Degrees Celsius. */
  readonly gpuTemperature: Uint8Array;
  /** First cell of each GPU, and the end. */
  readonly cellFrom: Uint16Array;
  readonly cellStart: Uint8Array;
  readonly cellSize: Uint8Array;
  /** Percent. */
  readonly cellUse: Uint8Array;
  readonly cellMemory: Uint8Array;
  /** 0: nobody holds it. */
  readonly cellTenant: Uint16Array;
  readonly cellProfile: Uint16Array;
  /** GPU instance ID, -1 for the whole GPU. */
  readonly cellInstance: Int16Array;
  readonly totals: Totals;
}

/** Shares of GPUs, so that models with different slices add up. */
export interface Totals {
  readonly gpus: number;
  /** GPUs that work and of which nothing is held or set aside by an instance. */
  readonly wholeFree: number;
  readonly broken: number;
  readonly held: number;
  /** Of what is held, the part whose use is known, and how much of that part works. */
  readonly heldKnown: number;
  readonly used: number;
}

export function isBroken(gpu: Gpu): boolean {
  return gpu.state.kind === "failed" || gpu.memoryRepair === "failed";
}

/** Xid events after which NVIDIA's manual asks for a reset or a new card; others are the program's own fault. */
const seriousXids = new Set([48, 63, 64, 74, 79, 92, 94, 95, 119, 120]);

export function hasWarning(gpu: Gpu): boolean {
  return (
    gpu.memoryRepair === "pending" ||
    (gpu.ecc.volatileUncorrected ?? 0) > 0 ||
    gpu.xids.some((xid) => seriousXids.has(xid.code)) ||
    (gpu.nvlinks.active !== null && gpu.nvlinks.total !== null && gpu.nvlinks.active < gpu.nvlinks.total)
  );
}

function percent(value: number | null): number {
  return value === null ? unknown : Math.max(0, Math.min(100, Math.round(value)));
}

function share(part: number | null, whole: number | null): number {
  return part === null || whole === null || whole <= 0 ? unknown : percent((100 * part) / whole);
}

export function slicesOf(gpu: Gpu, inventory: HostInventory): number {
  const geometry = gpu.geometry === null ? undefined : inventory.geometries[gpu.geometry];
  return geometry?.memorySlices ?? 1;
}

export function cellsOf(inventory: HostInventory, tenants: Names, profiles: Names): HostCells {
  const gpus = inventory.gpus;
  const divided = gpus.map((gpu) => gpu.mig.current === "enabled" || gpu.instances.length > 0);
  const counts = gpus.map((gpu, at) => (divided[at] === true ? gpu.instances.length : gpu.holder === null ? 0 : 1));
  const cellCount = counts.reduce((sum, count) => sum + count, 0);
  const cells = {
    gpuCount: gpus.length,
    gpuFlags: new Uint8Array(gpus.length),
    gpuSlices: new Uint8Array(gpus.length),
    gpuTemperature: new Uint8Array(gpus.length),
    cellFrom: new Uint16Array(gpus.length + 1),
    cellStart: new Uint8Array(cellCount),
    cellSize: new Uint8Array(cellCount),
    cellUse: new Uint8Array(cellCount),
    cellMemory: new Uint8Array(cellCount),
    cellTenant: new Uint16Array(cellCount),
    cellProfile: new Uint16Array(cellCount),
    cellInstance: new Int16Array(cellCount),
  };
  const totals = { gpus: gpus.length, wholeFree: 0, broken: 0, held: 0, heldKnown: 0, used: 0 };
  let cell = 0;
  for (const [at, gpu] of gpus.entries()) {
    const slices = slicesOf(gpu, inventory);
    const broken = isBroken(gpu);
    cells.gpuFlags[at] =
      (broken ? gpuBroken : 0) |
      (hasWarning(gpu) ? gpuWarning : 0) |
      (divided[at] === true ? gpuDivided : 0) |
      (gpu.geometry === null ? 0 : gpuDivisible);
    cells.gpuSlices[at] = slices;
    cells.gpuTemperature[at] =
      gpu.temperatureCelsius === null ? unknown : Math.max(0, Math.min(254, gpu.temperatureCelsius));
    cells.cellFrom[at] = cell;
    if (broken) totals.broken += 1;
    else if (counts[at] === 0) totals.wholeFree += 1;
    const add = (start: number, size: number, use: number, memory: number, holder: Holder | null) => {
      cells.cellStart[cell] = start;
      cells.cellSize[cell] = size;
      cells.cellUse[cell] = use;
      cells.cellMemory[cell] = memory;
      cells.cellTenant[cell] = holder === null ? 0 : tenants.idOf(colouredBy(holder));
      if (holder !== null) {
        const part = size / slices;
        totals.held += part;
        if (use !== unknown) {
          totals.heldKnown += part;
          totals.used += (part * use) / 100;
        }
      }
    };
    if (divided[at] === true) {
      for (const instance of gpu.instances) {
        const memory = share(instance.memory.usedMiB, instance.memory.totalMiB);
        cells.cellInstance[cell] = instance.id;
        cells.cellProfile[cell] = profiles.idOf(instance.profile);
        add(
          instance.placement.start,
          instance.placement.size,
          percent(instance.utilisationPercent),
          memory,
          instance.holder,
        );
        cell += 1;
      }
    } else if (gpu.holder !== null) {
      cells.cellInstance[cell] = -1;
      add(0, slices, percent(gpu.utilisationPercent), share(gpu.memory.usedMiB, gpu.memory.totalMiB), gpu.holder);
      cell += 1;
    }
  }
  cells.cellFrom[gpus.length] = cell;
  return { ...cells, totals };
}

const cache = new WeakMap<HostInventory, HostCells>();

/** As `cellsOf`, once per inventory: a host that did not change costs nothing. */
export function cachedCells(inventory: HostInventory, tenants: Names, profiles: Names): HostCells {
  const known = cache.get(inventory);
  if (known !== undefined) return known;
  const cells = cellsOf(inventory, tenants, profiles);
  cache.set(inventory, cells);
  return cells;
}
