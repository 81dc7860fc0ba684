import { AppError } from "../../../../shared/errors.ts";
import { fillingComputeProfile } from "../../../../shared/mig/compute-profiles.ts";
import { placeProfiles } from "../../../../shared/mig/fit.ts";
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
  if (!isRefusal(placed)) return keepingWhatStands(gpu, geometry, fixed, placed);
  throw new AppError({
    code: "illegal-layout",
    message: `GPU ${gpu.index}: ${placed.sentence}`,
    remedy: "Choose a layout that this GPU can have.",
  });
}

/**
 * The same profiles as in `placed`, around as many of the instances that stand as can be: a preset says what, not where,
 * and what need not move should not be destroyed. Those in use count before all others. At most 2^n choices are tried,
 * n being what stands of the wanted profiles, 7 on most models.
 */
function keepingWhatStands(
  gpu: GpuReading,
  geometry: GpuGeometry,
  fixed: readonly LayoutInstance[],
  placed: Layout,
): Layout {
  const wanted = placed.instances.filter((instance) => !fixed.includes(instance)).map(({ profileId }) => profileId);
  const candidates = gpu.layout.instances.filter(
    (instance) =>
      !fixed.includes(instance) &&
      wanted.includes(instance.profileId) &&
      (instance.inUse === true || isFilled(instance, geometry)),
  );
  if (candidates.length > 12) return placed;
  const worth = (kept: readonly LayoutInstance[]) =>
    kept.reduce((sum, { inUse }) => sum + (inUse === true ? 100 : 1), 0);
  const choices = Array.from({ length: 2 ** candidates.length }, (_, mask) =>
    candidates.filter((_, at) => (mask & (1 << at)) !== 0),
  ).toSorted((a, b) => worth(b) - worth(a));
  for (const kept of choices) {
    const rest = [...wanted];
    const isWanted = kept.every(({ profileId }) => {
      const at = rest.indexOf(profileId);
      if (at !== -1) rest.splice(at, 1);
      return at !== -1;
    });
    if (!isWanted) continue;
    const around = placeProfiles(geometry, [...fixed, ...kept], rest);
    if (!isRefusal(around)) return around;
  }
  return placed;
}

function isFilled({ profileId, computeInstances }: LayoutInstance, geometry: GpuGeometry): boolean {
  const profile = geometry.profiles.find(({ id }) => id === profileId);
  const [only, ...others] = computeInstances ?? [];
  return profile !== undefined && others.length === 0 && only?.profileId === fillingComputeProfile(profile)?.id;
}

/**
 * `3g.40gb@4,1g.10gb@0`, with the compute instances of one in brackets: `3g.40gb@4(1c@0,2c@1)`; empty brackets for none.
 * A profile may be named by its number as well. `empty` is no instances. Throws UsageError.
 */
export function parseLayout(text: string, geometry: GpuGeometry): readonly LayoutInstance[] {
  if (text.trim() === "empty") return [];
  const words = splitOutsideBrackets(text);
  if (words.length === 0) throw new UsageError("The layout names no profile; say empty for no instances.");
  return words.map((word) => {
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
