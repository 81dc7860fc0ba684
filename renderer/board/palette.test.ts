import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { abgr, contrast, css, mix, paletteOf, parseColour, type Rgb } from "./palette.ts";

const sheet = readFileSync(join(import.meta.dirname, "..", "design", "tokens.css"), "utf8");

function tokensOf(theme: string): (name: string) => string {
  const from = sheet.indexOf(`:root[data-theme="${theme}"]`);
  const block = sheet.slice(from, sheet.indexOf("}", from));
  return (name) => {
    const value =
      new RegExp(`${name}:\\s*([^;]+);`).exec(block)?.[1] ?? new RegExp(`${name}:\\s*([^;]+);`).exec(sheet)?.[1];
    if (value === undefined) throw new Error(`${theme} has no ${name}`);
    return value;
  };
}

/** Linear RGB as seen with one kind of cone missing (Viénot, Brettel and Mollon 1999). */
const deficiencies = {
  protanopia: [
    [0.11238, 0.88762, 0],
    [0.11238, 0.88762, 0],
    [0.00401, -0.00401, 1],
  ],
  deuteranopia: [
    [0.29275, 0.70725, 0],
    [0.29275, 0.70725, 0],
    [-0.02234, 0.02234, 1],
  ],
} as const;

function seen(colour: Rgb, matrix: readonly (readonly number[])[] | null): number[] {
  const linear = [16, 8, 0].map((shift) => {
    const value = ((colour >> shift) & 255) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  const there =
    matrix === null ? linear : matrix.map((row) => row.reduce((sum, part, at) => sum + part * (linear[at] ?? 0), 0));
  return labOf(there);
}

function labOf([r = 0, g = 0, b = 0]: readonly number[]): number[] {
  const f = (value: number) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
  const y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

describe("colours", () => {
  it("reads colours as they are written and as minifiers write them", () => {
    expect(parseColour("#1a2b3c")).toBe(0x1a2b3c);
    expect(parseColour(" #fff ")).toBe(0xffffff);
    expect(() => parseColour("red")).toThrow(RangeError);
    expect(css(0x00000f)).toBe("#00000f");
    expect(abgr(0x112233)).toBe(0xff332211);
    expect(mix(0xffffff, 0x000000, 0.5)).toBe(0x808080);
  });

  it.each(["light", "dark", "high-contrast"])("%s: texts are legible on every ground they stand on", (theme) => {
    const token = tokensOf(theme);
    for (const ground of ["--surface", "--ground"]) {
      for (const text of ["--text", "--muted", "--accent-text", "--good", "--warning", "--bad"]) {
        const ratio = contrast(parseColour(token(text)), parseColour(token(ground)));
        expect({ text, ground, legible: ratio >= 4.5 }).toEqual({ text, ground, legible: true });
      }
    }
    for (const pair of ["good", "warning", "bad"]) {
      const ratio = contrast(parseColour(token(`--${pair}`)), parseColour(token(`--${pair}-ground`)));
      expect({ pair, legible: ratio >= 4.5 }).toEqual({ pair, legible: true });
    }
  });

  it.each(["light", "dark", "high-contrast"])(
    "%s: six tenants stay apart, also without red or green cones",
    (theme) => {
      const token = tokensOf(theme);
      const hues = Array.from({ length: 6 }, (_, at) => parseColour(token(`--tenant-${at + 1}`)));
      for (const matrix of [null, deficiencies.protanopia, deficiencies.deuteranopia]) {
        for (const [at, one] of hues.entries()) {
          for (const [offset, other] of hues.slice(at + 1).entries()) {
            const [a, b] = [seen(one, matrix), seen(other, matrix)];
            const distance = Math.hypot(...a.map((value, axis) => value - (b[axis] ?? 0)));
            expect({ pair: [at + 1, at + offset + 2], apart: distance > 14 }).toEqual({
              pair: [at + 1, at + offset + 2],
              apart: true,
            });
          }
        }
      }
    },
  );

  it("has a tint and a flat tone between each ink and the surface", () => {
    const palette = paletteOf("light", tokensOf("light"));
    expect(palette.plain.css.solid).toHaveLength(palette.plain.css.tint.length);
    expect(palette.plain.css.flat).not.toContain(palette.plain.css.surface);
  });
});
