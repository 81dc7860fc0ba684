/** The tokens of tokens.css as numbers and strings for the canvas, mixed once per theme instead of blended in every frame. */
import type { Theme } from "../app/theme.ts";
import { hueCount } from "../stores/colouring.ts";

/** 0xRRGGBB. */
export type Rgb = number;

/** `#rrggbb`, or `#rgb` as minifiers write it. */
export function parseColour(text: string): Rgb {
  const hex = /^#(?:([0-9a-f]{6})|([0-9a-f]{3}))$/i.exec(text.trim());
  const digits = hex?.[1] ?? hex?.[2]?.replace(/./g, "$&$&");
  if (digits === undefined) throw new RangeError(`not a colour of six digits: ${text}`);
  return Number.parseInt(digits, 16);
}

export function mix(a: Rgb, b: Rgb, shareOfA: number): Rgb {
  const channel = (shift: number) =>
    Math.round(((a >> shift) & 255) * shareOfA + ((b >> shift) & 255) * (1 - shareOfA)) << shift;
  return channel(16) | channel(8) | channel(0);
}

export function css(colour: Rgb): string {
  return `#${colour.toString(16).padStart(6, "0")}`;
}

/** As ImageData has it in a Uint32Array on a little-endian machine. */
export function abgr(colour: Rgb): number {
  return ((255 << 24) | ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16)) >>> 0;
}

/** How bright a colour is to the eye, 0 to 1 (WCAG relative luminance). */
export function luminance(colour: Rgb): number {
  const linear = (shift: number) => {
    const value = ((colour >> shift) & 255) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0);
}

export function contrast(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

/** Inks are the colours a cell can have; each comes solid, as the tint above the filled part, and as the flat tone of unknown use. */
export const ink = {
  tenant: 0, // to 5
  unnamed: hueCount,
  heat: hueCount + 1, // to 5 more
  good: hueCount + 6,
  warning: hueCount + 7,
  bad: hueCount + 8,
  neutral: hueCount + 9,
} as const;
export const inkCount = hueCount + 10;

export interface Tones {
  readonly solid: readonly Rgb[];
  readonly tint: readonly Rgb[];
  readonly flat: readonly Rgb[];
  readonly free: Rgb;
  readonly unheld: Rgb;
  readonly unheldFill: Rgb;
  readonly hatch: Rgb;
  readonly ground: Rgb;
  readonly surface: Rgb;
  readonly line: Rgb;
  readonly text: Rgb;
  readonly muted: Rgb;
  readonly good: Rgb;
  readonly warning: Rgb;
  readonly bad: Rgb;
}

export interface CssTones {
  readonly solid: readonly string[];
  readonly tint: readonly string[];
  readonly flat: readonly string[];
  readonly free: string;
  readonly unheld: string;
  readonly unheldFill: string;
  readonly hatch: string;
  readonly ground: string;
  readonly surface: string;
  readonly line: string;
  readonly text: string;
  readonly muted: string;
  readonly good: string;
  readonly warning: string;
  readonly bad: string;
}

export interface Shade {
  readonly rgb: Tones;
  readonly css: CssTones;
  /** Readable on `solid` of the same ink. */
  readonly onSolid: readonly string[];
}

export interface BoardPalette {
  readonly theme: Theme;
  readonly plain: Shade;
  /** Of a host whose state is old. */
  readonly faded: Shade;
  /** Of what the filter does not match. */
  readonly dimmed: Shade;
  readonly accent: string;
  readonly accentGround: string;
  readonly lineStrong: string;
  readonly freeLine: string;
  readonly fontFamily: string;
}

type Token = (name: string) => string;

function tonesOf(token: Token): Tones {
  const colour = (name: string) => parseColour(token(name));
  const surface = colour("--surface");
  const hues = Array.from({ length: hueCount }, (_, at) => colour(`--tenant-${at + 1}`));
  const heat = Array.from({ length: 5 }, (_, at) => colour(`--heat-${at}`));
  const solid = [
    ...hues,
    colour("--unnamed"),
    ...heat,
    colour("--good"),
    colour("--warning"),
    colour("--bad"),
    colour("--line-strong"),
  ];
  return {
    solid,
    tint: solid.map((value) => mix(value, surface, 0.42)),
    flat: solid.map((value) => mix(value, surface, 0.72)),
    free: colour("--free"),
    unheld: colour("--unheld"),
    unheldFill: mix(colour("--unheld"), surface, 0.07),
    hatch: colour("--hatch"),
    ground: colour("--ground"),
    surface,
    line: colour("--line"),
    text: colour("--text"),
    muted: colour("--muted"),
    good: colour("--good"),
    warning: colour("--warning"),
    bad: colour("--bad"),
  };
}

function towards(tones: Tones, share: number, textShare: number): Tones {
  const cell = (value: Rgb) => mix(value, tones.surface, share);
  const word = (value: Rgb) => mix(value, tones.surface, textShare);
  return {
    ...tones,
    solid: tones.solid.map(cell),
    tint: tones.tint.map(cell),
    flat: tones.flat.map(cell),
    unheld: cell(tones.unheld),
    hatch: cell(tones.hatch),
    free: mix(tones.free, tones.surface, 0.6),
    text: word(tones.text),
    muted: word(tones.muted),
  };
}

function shadeOf(tones: Tones): Shade {
  const { solid, tint, flat, ...single } = tones;
  const names = Object.keys(single) as (keyof typeof single)[];
  const one = Object.fromEntries(names.map((name) => [name, css(tones[name])])) as Record<keyof typeof single, string>;
  return {
    rgb: tones,
    css: { ...one, solid: solid.map(css), tint: tint.map(css), flat: flat.map(css) },
    onSolid: solid.map((value) => (contrast(value, 0xffffff) >= contrast(value, 0x10151c) ? "#ffffff" : "#10151c")),
  };
}

export function paletteOf(theme: Theme, token: Token): BoardPalette {
  const tones = tonesOf(token);
  return {
    theme,
    plain: shadeOf(tones),
    faded: shadeOf(towards(tones, 0.42, 0.8)),
    dimmed: shadeOf(towards(tones, 0.16, 0.45)),
    accent: token("--accent").trim(),
    accentGround: token("--accent-ground").trim(),
    lineStrong: token("--line-strong").trim(),
    freeLine: token("--free-line").trim(),
    fontFamily: token("--font").trim(),
  };
}
