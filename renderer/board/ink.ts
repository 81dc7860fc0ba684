/** Which ink a cell has under the chosen colouring, and how high it is filled. */
import { type ColourMode, markOf, type Names, profileHue } from "../stores/colouring.ts";
import { gpuBroken, gpuWarning, type HostCells, unknown } from "./cells.ts";
import { ink } from "./palette.ts";

/** Steps of the heat scale, five of them. Percent for use and memory; degrees Celsius for temperature. */
export function heatStep(mode: "use" | "memory" | "temperature", value: number): number {
  const from = mode === "temperature" ? 35 : 0;
  const step = mode === "temperature" ? 10 : 20;
  return Math.max(0, Math.min(4, Math.floor((value - from) / step)));
}

export interface Inks {
  /** Of a cell that somebody holds. */
  inkOf(cells: HostCells, gpu: number, cell: number): number;
  /** Of the GPU under its cells; -1 where it has none, and the strip stays grey. */
  gpuInkOf(cells: HostCells, gpu: number): number;
  /** Percent of the cell's height, or `unknown`. */
  fillOf(cells: HostCells, cell: number): number;
  /** 0, or which second mark tells a tenant from the one with the same hue. */
  markOf(cells: HostCells, cell: number): number;
}

export function inksFor(mode: ColourMode, profiles: Names): Inks {
  const profileInks: number[] = [];
  const inkOfProfile = (id: number) => {
    const known = profileInks[id];
    if (known !== undefined) return known;
    const name = profiles.nameOf(id);
    const found = name === null ? ink.unnamed : ink.tenant + profileHue(name) - 1;
    profileInks[id] = found;
    return found;
  };
  const inkOfTenant = (id: number) => {
    const { hue } = markOf(id);
    return hue === 0 ? ink.neutral : ink.tenant + hue - 1;
  };
  const heat = (kind: "use" | "memory", value: number) =>
    value === unknown ? ink.unnamed : ink.heat + heatStep(kind, value);
  const inkOf: Inks["inkOf"] = (cells, gpu, cell) => {
    switch (mode) {
      case "tenant":
        return inkOfTenant(cells.cellTenant[cell] ?? 1);
      case "profile":
        return inkOfProfile(cells.cellProfile[cell] ?? 0);
      case "use":
        return heat("use", cells.cellUse[cell] ?? unknown);
      case "memory":
        return heat("memory", cells.cellMemory[cell] ?? unknown);
      case "temperature": {
        const degrees = cells.gpuTemperature[gpu] ?? unknown;
        return degrees === unknown ? ink.unnamed : ink.heat + heatStep("temperature", degrees);
      }
      case "health":
        return healthInk(cells.gpuFlags[gpu] ?? 0);
    }
  };
  return {
    inkOf,
    gpuInkOf: (cells, gpu) => {
      if (mode === "health") return healthInk(cells.gpuFlags[gpu] ?? 0);
      if (mode !== "temperature") return -1;
      const degrees = cells.gpuTemperature[gpu] ?? unknown;
      return degrees === unknown ? -1 : ink.heat + heatStep("temperature", degrees);
    },
    fillOf: (cells, cell) => {
      if (mode === "temperature" || mode === "health") return 100;
      return (mode === "memory" ? cells.cellMemory[cell] : cells.cellUse[cell]) ?? unknown;
    },
    markOf: (cells, cell) => (mode === "tenant" ? markOf(cells.cellTenant[cell] ?? 0).mark : 0),
  };
}

export function healthInk(flags: number): number {
  if ((flags & gpuBroken) !== 0) return ink.bad;
  return (flags & gpuWarning) !== 0 ? ink.warning : ink.good;
}
