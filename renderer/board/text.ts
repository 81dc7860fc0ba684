/** Text on the canvas: measured once per font and string, since neither the font's name nor widths are cheap to ask for. */
export type Context = OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D;

export interface Font {
  readonly css: string;
  readonly widths: Map<string, number>;
}

const fonts = new Map<string, Font>();

export function fontOf(weight: 400 | 600, sizePx: number, family: string): Font {
  // A tenth of a pixel is not seen, and keeps the number of fonts small while zooming.
  const css = `${weight} ${Math.round(sizePx * 10) / 10}px ${family}`;
  const known = fonts.get(css);
  if (known !== undefined) return known;
  if (fonts.size > 60) fonts.clear();
  const made: Font = { css, widths: new Map() };
  fonts.set(css, made);
  return made;
}

/** The context's font must be `font`. */
export function widthOf(ctx: Context, font: Font, text: string): number {
  const known = font.widths.get(text);
  if (known !== undefined) return known;
  if (font.widths.size > 20_000) font.widths.clear();
  const width = ctx.measureText(text).width;
  font.widths.set(text, width);
  return width;
}

/** The text, or its beginning with an ellipsis where it is too wide; empty where not even that fits. */
export function fitted(ctx: Context, font: Font, text: string, width: number): string {
  if (text === "" || width <= 0) return "";
  const whole = widthOf(ctx, font, text);
  if (whole <= width) return text;
  let keep = Math.min(text.length - 1, Math.floor((text.length * width) / whole) + 1);
  while (keep > 2 && widthOf(ctx, font, `${text.slice(0, keep)}…`) > width) keep -= 1;
  return keep > 2 ? `${text.slice(0, keep).trimEnd()}…` : "";
}
