import type { GpuGeometry, Layout } from "../../../../shared/mig/types.ts";

const cellWidth = 8;

/**
 * A layout as two lines: the memory slices, and what covers them.
 *
 * ```text
 *  0        1        2        3        4        5        6        7
 * |3g.40gb #1 in use                  |1g.10gb |free    |2g.20gb #5       |
 * ```
 */
export function drawLayout(layout: Layout, geometry: GpuGeometry | null): readonly string[] {
  if (!layout.migEnabled) return ["MIG mode is off: one undivided GPU"];
  if (geometry === null) {
    return layout.instances.map(({ profileId, start, id }) => `profile ${profileId} at ${start} (GPU instance ${id})`);
  }
  const scale = Array.from({ length: geometry.memorySlices }, (_, slice) => ` ${slice}`.padEnd(cellWidth + 1)).join("");
  let row = "";
  for (let slice = 0; slice < geometry.memorySlices; ) {
    const instance = layout.instances.find(({ start }) => start === slice);
    const profile = geometry.profiles.find(({ id }) => id === instance?.profileId);
    const width = instance === undefined ? 1 : Math.max(1, profile?.memorySlices ?? 1);
    const words = instance === undefined ? "." : wordsFor(instance, profile?.name ?? `profile ${instance.profileId}`);
    row += `|${words.padEnd(width * (cellWidth + 1) - 1).slice(0, width * (cellWidth + 1) - 1)}`;
    slice += width;
  }
  return [scale.trimEnd(), `${row}|`];
}

function wordsFor(instance: Layout["instances"][number], name: string): string {
  const id = instance.id === undefined ? "" : ` #${instance.id}`;
  const inside = instance.computeInstances;
  const compute = inside === undefined || inside.length === 1 ? "" : ` ${inside.length} CI`;
  return `${name}${id}${instance.inUse === true ? " in use" : ""}${compute}`;
}

/**
 * Text from elsewhere (file names, process names, the driver's words) for a terminal: what would move the cursor, break a
 * line or hide text is written out.
 */
export function printable(text: string): string {
  return text.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

/** Rows under a header, each column as wide as it needs; numbers to the right. */
export function table(header: readonly string[], cells: readonly (readonly string[])[]): readonly string[] {
  const rows = cells.map((row) => row.map(printable));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const numeric = header.map((_, column) => rows.every((row) => /^[-\d.?%]*( \w+)?$/.test(row[column] ?? "")));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (numeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  return [line(header), ...rows.map(line)];
}

/** A number with its unit; what is unknown is a question mark, never zero. */
export function amount(value: number | null, unit = ""): string {
  return value === null ? "?" : `${Math.round(value)}${unit}`;
}
