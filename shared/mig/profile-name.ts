import type { MediaEngines } from "./types.ts";

/** What the name of a GPU instance profile says, `2g.48gb+me.all`. */
export interface ProfileNameParts {
  readonly computeSlices: number;
  /** The marketing number of the name, not the memory that an instance gets. */
  readonly gigabytes: number;
  readonly media: MediaEngines;
  readonly graphics: boolean;
}

const mediaOfSuffix: Readonly<Record<string, MediaEngines>> = {
  "+me": "extended",
  "+me.all": "all",
  "-me": "none",
};

/**
 * Reads a GPU instance profile name, with or without "MIG " before it and with upper or lower case;
 * null where it is none. Attributes may be joined in any order (`+gfx`, `+me`).
 */
export function parseProfileName(name: string): ProfileNameParts | null {
  const match = /^(?:MIG\s+)?(\d+)g\.(\d+)gb((?:[+-](?:me\.all|me|gfx))*)$/i.exec(name.trim());
  if (match === null) return null;
  const suffixes: readonly string[] = match[3]?.toLowerCase().match(/[+-](?:me\.all|me|gfx)/g) ?? [];
  const media = suffixes.flatMap((suffix) => mediaOfSuffix[suffix] ?? [])[0] ?? "default";
  return {
    computeSlices: Number(match[1]),
    gigabytes: Number(match[2]),
    media,
    graphics: suffixes.includes("+gfx"),
  };
}
