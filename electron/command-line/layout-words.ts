import { InvalidArgumentError } from "commander";
import { AppError } from "../../shared/errors.ts";
import { legalStarts } from "../../shared/mig/index.ts";
import type { GpuGeometry, GpuInstanceProfile, Layout, LayoutInstance } from "../../shared/mig/types.ts";

/**
 * What `--layout` was given. An unset variable of a shell must not read as "destroy everything".
 * Throws InvalidArgumentError, which is wrong usage.
 */
export function layoutWords(words: string): string {
  if (/[^\s,]/.test(words)) return words;
  throw new InvalidArgumentError("It names no profile; say empty for no instances, off for MIG mode disabled.");
}

/**
 * A layout from words: `off`, `empty`, or profiles by name or ID with an optional first memory slice:
 * `3g.40gb@4,1g.10gb,19`. Those without one take, in the order given, the first place that is left.
 * Throws `illegal-layout`.
 */
export function parseLayoutWords(words: string, geometry: GpuGeometry): Layout {
  if (words.trim() === "off") return { migEnabled: false, instances: [] };
  if (words.trim() === "empty") return { migEnabled: true, instances: [] };
  const wanted = words
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "")
    .map((word) => parseWord(word, geometry));
  // Fixed places first, so that none of them is taken by one that could go elsewhere.
  let layout: Layout = {
    migEnabled: true,
    instances: wanted.flatMap(({ profile, start }) => (start === null ? [] : [{ profileId: profile.id, start }])),
  };
  for (const { profile, start } of wanted) {
    if (start !== null) continue;
    const [place] = legalStarts(geometry, layout, profile.id);
    if (place === undefined) throw illegal(`There is no place left for ${profile.name} beside the others.`, geometry);
    const instance: LayoutInstance = { profileId: profile.id, start: place };
    layout = { ...layout, instances: [...layout.instances, instance] };
  }
  return { ...layout, instances: layout.instances.toSorted((a, b) => a.start - b.start) };
}

function parseWord(word: string, geometry: GpuGeometry): { profile: GpuInstanceProfile; start: number | null } {
  const [name = "", start, ...more] = word.split("@");
  const profile = geometry.profiles.find((one) => one.name === name || String(one.id) === name);
  if (profile === undefined) throw illegal(`${geometry.key} has no profile '${name}'.`, geometry);
  if (more.length > 0 || (start !== undefined && !/^\d{1,2}$/.test(start))) {
    throw illegal(`'${word}' is not a profile and a memory slice.`, geometry);
  }
  return { profile, start: start === undefined ? null : Number(start) };
}

function illegal(message: string, geometry: GpuGeometry): AppError {
  return new AppError({
    code: "illegal-layout",
    message,
    remedy: `Profiles of this GPU: ${geometry.profiles.map((one) => one.name).join(", ")}.`,
  });
}
