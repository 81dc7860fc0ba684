import { AppError } from "../errors.ts";
import { placeProfiles } from "./fit.ts";
import { parseProfileName } from "./profile-name.ts";
import { refuse } from "./refusal.ts";
import type { GpuGeometry, GpuInstanceProfile, Layout, LayoutInstance, MediaEngines, Refusal } from "./types.ts";

/** More instances than any GPU takes: a typing error, not a wish. */
const mostInstances = 64;

/** No preset of any GPU is near this long. */
export const longestPreset = 500;

/** Names drift by a gigabyte or two between drivers; the next size of profile is far away. */
const nameDrift = 0.05;

/** Longer text is not repeated whole: what was typed by mistake may be a page. */
function quoted(text: string): string {
  return `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`;
}

function wrong(text: string, reason: string): AppError {
  return new AppError({
    code: "bad-request",
    message: `The preset ${quoted(text)} cannot be read: ${reason}.`,
    remedy: "Write profiles with their number, like 7x1g.10gb, 3g+4g or 2x3g.40gb,1x1g.10gb.",
  });
}

interface Wanted {
  readonly computeSlices: number;
  readonly gigabytes: number | null;
  readonly media: MediaEngines;
  readonly graphics: boolean;
}

/** `2g.20gb+me`, or `2g+me` for whatever memory this GPU has there. */
function readProfile(word: string): Wanted | null {
  const exact = parseProfileName(word);
  if (exact !== null) return exact;
  const short = parseProfileName(word.replace(/^((?:MIG\s+)?\d+g)(?!\.)/i, "$1.0gb"));
  return short === null ? null : { ...short, gigabytes: null };
}

function findProfile(geometry: GpuGeometry, wanted: Wanted): GpuInstanceProfile | undefined {
  const gigabytes = (profile: GpuInstanceProfile) => parseProfileName(profile.name)?.gigabytes ?? 0;
  const alike = geometry.profiles
    .filter(
      (profile) =>
        profile.computeSlices === wanted.computeSlices &&
        profile.media === wanted.media &&
        profile.graphics === wanted.graphics,
    )
    .toSorted((a, b) => a.memorySlices - b.memorySlices);
  if (wanted.gigabytes === null) return alike[0];
  const asked = wanted.gigabytes;
  const distance = (profile: GpuInstanceProfile) => Math.abs(gigabytes(profile) - asked);
  const nearest = alike.toSorted((a, b) => distance(a) - distance(b))[0];
  return nearest !== undefined && distance(nearest) <= asked * nameDrift ? nearest : undefined;
}

/** The profile that a name means on this GPU: its own name, one of another driver, or a size alone; undefined where there is none. */
export function profileNamed(geometry: GpuGeometry, name: string): GpuInstanceProfile | undefined {
  const exact = geometry.profiles.find((profile) => profile.name === name);
  if (exact !== undefined) return exact;
  const wanted = readProfile(name);
  return wanted === null ? undefined : findProfile(geometry, wanted);
}

/**
 * Reads a preset and places it around instances that stay: `7x1g.10gb`, `3g+4g`, `2x3g.40gb,1x1g.10gb`, `1g+me`, or
 * `empty` for nothing. Words are joined by commas, spaces or plus signs; a size alone means the plain profile of that size with
 * the least memory. A name that another driver gave the same profile (`1g.24gb` for `1g.23gb`) is understood.
 *
 * A refusal says which rule forbids it here; text that is no preset at all throws AppError `bad-request`.
 */
export function parsePreset(
  text: string,
  geometry: GpuGeometry,
  fixed: readonly LayoutInstance[] = [],
): Layout | Refusal {
  if (text.length > longestPreset) throw wrong(text, `it is longer than ${longestPreset} characters`);
  if (/^\s*(empty|none)\s*$/i.test(text)) return placeProfiles(geometry, fixed, []);
  // A plus sign joins profiles, except where it begins an attribute of one.
  const words = text
    .replace(/\bMIG\s+/gi, "")
    .replace(/(\d)\s*[x×*]\s*(?=\d)/gi, "$1x")
    .split(/[\s,;]+|\+(?!me\b|gfx\b)/i)
    .filter((word) => word !== "");
  if (words.length === 0) throw wrong(text, "it names no profile");
  const profileIds: number[] = [];
  for (const word of words) {
    const [, count, name = ""] = /^(?:(\d+)x)?(.*)$/i.exec(word) ?? [];
    const wanted = readProfile(name);
    if (wanted === null) throw wrong(text, `${quoted(word)} is no profile`);
    const number = count === undefined ? 1 : Number(count);
    if (number === 0) throw wrong(text, `${quoted(word)} asks for none`);
    if (number + profileIds.length > mostInstances)
      throw wrong(text, `it asks for more than ${mostInstances} instances`);
    const profile = findProfile(geometry, wanted);
    if (profile === undefined) {
      return refuse({
        rule: "unknown-profile-name",
        profile: name,
        known: geometry.profiles.map((candidate) => candidate.name),
      });
    }
    for (let made = 0; made < number; made += 1) profileIds.push(profile.id);
  }
  return placeProfiles(geometry, fixed, profileIds);
}
