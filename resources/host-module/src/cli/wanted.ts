import { AppError } from "../../../../shared/errors.ts";
import { parsePreset } from "../../../../shared/mig/preset.ts";
import { isRefusal } from "../../../../shared/mig/refusal.ts";
import type { GpuGeometry, GpuInstanceProfile, Layout, LayoutInstance } from "../../../../shared/mig/types.ts";
import type { WantedGpu } from "../../../../shared/protocol/contract.ts";
import { withoutUndefined } from "../mig/plain.ts";
import type { GpuIdentity, GpuReading } from "../mig/reading.ts";
import { UsageError } from "./arguments.ts";

/** The GPUs that `--gpu` names: UUIDs, indexes, `all`. Throws AppError `not-found`. */
export function chosenGpus(words: readonly string[], gpus: readonly GpuIdentity[]): readonly GpuIdentity[] {
  const names = words.flatMap((word) => word.split(",")).filter((name) => name !== "");
  const chosen = names.flatMap((name) => {
    const found = name === "all" ? gpus : gpus.filter(({ uuid, index }) => uuid === name || String(index) === name);
    if (found.length > 0) return found;
    throw new AppError({
      code: "not-found",
      message: `There is no GPU ${JSON.stringify(name)} on this host.`,
      remedy: `Here are: ${gpus.map(({ index, uuid }) => `${index} (${uuid})`).join(", ") || "none"}.`,
    });
  });
  return [...new Set(chosen)];
}

/** What one GPU should become, from the words of the command line. Throws AppError `illegal-layout`, `bad-request`. */
export function wantedFor(
  gpu: GpuReading,
  wish: { readonly layout?: string; readonly preset?: string; readonly keepInUse: boolean },
): WantedGpu {
  const { geometry } = gpu;
  if (geometry === null) {
    throw new AppError({
      code: "illegal-layout",
      message: `GPU ${gpu.index} (${gpu.name}) cannot be divided into GPU instances.`,
      remedy: "Choose a GPU that supports MIG.",
    });
  }
  const layout =
    wish.layout !== undefined
      ? { migEnabled: true, instances: parseLayout(wish.layout, geometry) }
      : presetFor(gpu, geometry, wish.preset ?? "empty", wish.keepInUse);
  return { gpuUuid: gpu.uuid, layout: withoutUndefined(layout) };
}

function presetFor(gpu: GpuReading, geometry: GpuGeometry, preset: string, keepInUse: boolean): Layout {
  const fixed = keepInUse ? gpu.layout.instances.filter(({ inUse }) => inUse === true) : [];
  const placed = parsePreset(preset, geometry, fixed);
  if (!isRefusal(placed)) return placed;
  throw new AppError({
    code: "illegal-layout",
    message: `GPU ${gpu.index}: ${placed.sentence}`,
    remedy: "Choose a layout that this GPU can have.",
  });
}

/**
 * `3g.40gb@4,1g.10gb@0`, with the compute instances of one in brackets: `3g.40gb@4(1c@0,2c@1)`; empty brackets for none.
 * A profile may be named by its number as well. Empty text is an empty layout. Throws UsageError.
 */
export function parseLayout(text: string, geometry: GpuGeometry): readonly LayoutInstance[] {
  return splitOutsideBrackets(text).map((word) => {
    const match = /^(?:MIG\s+)?([^@()]+)@(\d+)(?:\(([^()]*)\))?$/i.exec(word);
    if (match === null) throw new UsageError(`"${word}" is not profile@start, like 3g.40gb@4.`);
    const [, name = "", start, inside] = match;
    const profile = geometry.profiles.find((candidate) => candidate.name === name || String(candidate.id) === name);
    if (profile === undefined) {
      throw new UsageError(
        `This GPU has no profile "${name}"; it has ${geometry.profiles.map((known) => known.name).join(", ")}.`,
      );
    }
    return {
      profileId: profile.id,
      start: Number(start),
      ...(inside === undefined ? {} : { computeInstances: parseComputeInstances(inside, profile) }),
    };
  });
}

function parseComputeInstances(text: string, profile: GpuInstanceProfile) {
  const words = text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  return words.map((word) => {
    const match = /^(\d+c|\d+c\.[^@]+|[^@]+)@(\d+)$/i.exec(word);
    const name = match?.[1] ?? "";
    const known = profile.computeInstanceProfiles.find(
      (candidate) => candidate.name === name || name.toLowerCase() === `${candidate.computeSlices}c`,
    );
    if (match === null || known === undefined) {
      const names = profile.computeInstanceProfiles.map((candidate) => candidate.name).join(", ");
      throw new UsageError(`"${word}" is no compute instance of ${profile.name}; it has ${names}, written name@start.`);
    }
    return { profileId: known.id, start: Number(match[2]) };
  });
}

function splitOutsideBrackets(text: string): readonly string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map((word) => word.trim())
    .filter((word) => word !== "");
}
