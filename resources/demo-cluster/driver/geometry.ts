/**
 * What the simulated silicon can be divided into, written as the 550 driver lists it: no `+gfx`, `-me` or
 * `+me.all` profiles, which newer drivers add. Deliberately not the product's own table (shared/mig): a
 * mistake there must show when it meets this one.
 */
import type { ComputeInstanceProfile, GpuGeometry, GpuInstanceProfile } from "../../../shared/mig/types.ts";

/** profile id, name, compute slices, memory slices, GiB, multiprocessors, most instances, starts, [CE, DEC, ENC, JPEG, OFA]. */
type Row = readonly [
  number,
  string,
  number,
  number,
  number,
  number,
  number,
  readonly number[],
  readonly [number, number, number, number, number],
];

const silicon: Readonly<Record<string, { memorySlices: number; computeSlices: number; rows: readonly Row[] }>> = {
  "A100-40GB": {
    memorySlices: 8,
    computeSlices: 7,
    rows: [
      [19, "1g.5gb", 1, 1, 4.75, 14, 7, [0, 1, 2, 3, 4, 5, 6], [1, 0, 0, 0, 0]],
      [20, "1g.5gb+me", 1, 1, 4.75, 14, 1, [0, 1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 1]],
      [15, "1g.10gb", 1, 2, 9.75, 14, 4, [0, 2, 4, 6], [1, 1, 0, 0, 0]],
      [14, "2g.10gb", 2, 2, 9.75, 28, 3, [0, 2, 4], [2, 1, 0, 0, 0]],
      [9, "3g.20gb", 3, 4, 19.62, 42, 2, [0, 4], [3, 2, 0, 0, 0]],
      [5, "4g.20gb", 4, 4, 19.62, 56, 1, [0], [4, 2, 0, 0, 0]],
      [0, "7g.40gb", 7, 8, 39.5, 98, 1, [0], [7, 5, 0, 1, 1]],
    ],
  },
  "A100-80GB": {
    memorySlices: 8,
    computeSlices: 7,
    rows: [
      [19, "1g.10gb", 1, 1, 9.5, 14, 7, [0, 1, 2, 3, 4, 5, 6], [1, 0, 0, 0, 0]],
      [20, "1g.10gb+me", 1, 1, 9.5, 14, 1, [0, 1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 1]],
      [15, "1g.20gb", 1, 2, 19.5, 14, 4, [0, 2, 4, 6], [1, 1, 0, 0, 0]],
      [14, "2g.20gb", 2, 2, 19.5, 28, 3, [0, 2, 4], [2, 1, 0, 0, 0]],
      [9, "3g.40gb", 3, 4, 39.25, 42, 2, [0, 4], [3, 2, 0, 0, 0]],
      [5, "4g.40gb", 4, 4, 39.25, 56, 1, [0], [4, 2, 0, 0, 0]],
      [0, "7g.80gb", 7, 8, 79.0, 98, 1, [0], [7, 5, 0, 1, 1]],
    ],
  },
  "A30-24GB": {
    memorySlices: 4,
    computeSlices: 4,
    rows: [
      [14, "1g.6gb", 1, 1, 5.81, 14, 4, [0, 1, 2, 3], [1, 1, 0, 0, 0]],
      [21, "1g.6gb+me", 1, 1, 5.81, 14, 1, [0, 1, 2, 3], [1, 1, 0, 1, 1]],
      [5, "2g.12gb", 2, 2, 11.69, 28, 2, [0, 2], [2, 2, 0, 0, 0]],
      [6, "2g.12gb+me", 2, 2, 11.69, 28, 1, [0, 2], [2, 2, 0, 1, 1]],
      [0, "4g.24gb", 4, 4, 23.44, 56, 1, [0], [4, 4, 0, 1, 1]],
    ],
  },
  "H100-PCIe-80GB": {
    memorySlices: 8,
    computeSlices: 7,
    rows: [
      [19, "1g.10gb", 1, 1, 9.75, 14, 7, [0, 1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 0]],
      [20, "1g.10gb+me", 1, 1, 9.75, 14, 1, [0, 1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 1]],
      [15, "1g.20gb", 1, 2, 19.62, 14, 4, [0, 2, 4, 6], [1, 1, 0, 1, 0]],
      [14, "2g.20gb", 2, 2, 19.62, 30, 3, [0, 2, 4], [2, 2, 0, 2, 0]],
      [9, "3g.40gb", 3, 4, 39.5, 46, 2, [0, 4], [3, 3, 0, 3, 0]],
      [5, "4g.40gb", 4, 4, 39.5, 62, 1, [0], [4, 4, 0, 4, 0]],
      [0, "7g.80gb", 7, 8, 79.25, 114, 1, [0], [8, 7, 0, 7, 1]],
    ],
  },
  "H100-SXM5-80GB": {
    memorySlices: 8,
    computeSlices: 7,
    rows: [
      [19, "1g.10gb", 1, 1, 9.75, 16, 7, [0, 1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 0]],
      [20, "1g.10gb+me", 1, 1, 9.75, 16, 1, [0, 1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 1]],
      [15, "1g.20gb", 1, 2, 19.62, 26, 4, [0, 2, 4, 6], [1, 1, 0, 1, 0]],
      [14, "2g.20gb", 2, 2, 19.62, 32, 3, [0, 2, 4], [2, 2, 0, 2, 0]],
      [9, "3g.40gb", 3, 4, 39.5, 60, 2, [0, 4], [3, 3, 0, 3, 0]],
      [5, "4g.40gb", 4, 4, 39.5, 64, 1, [0], [4, 4, 0, 4, 0]],
      [0, "7g.80gb", 7, 8, 79.25, 132, 1, [0], [8, 7, 0, 7, 1]],
    ],
  },
  "H100-NVL-94GB": {
    memorySlices: 8,
    computeSlices: 7,
    rows: [
      [19, "1g.12gb", 1, 1, 10.75, 16, 7, [0, 1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 0]],
      [20, "1g.12gb+me", 1, 1, 10.75, 16, 1, [0, 1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 1]],
      [15, "1g.24gb", 1, 2, 21.62, 26, 4, [0, 2, 4, 6], [1, 1, 0, 1, 0]],
      [14, "2g.24gb", 2, 2, 21.62, 32, 3, [0, 2, 4], [2, 2, 0, 2, 0]],
      [9, "3g.47gb", 3, 4, 46.38, 60, 2, [0, 4], [3, 3, 0, 3, 0]],
      [5, "4g.47gb", 4, 4, 46.38, 64, 1, [0], [4, 4, 0, 4, 0]],
      [0, "7g.94gb", 7, 8, 93.12, 132, 1, [0], [8, 7, 0, 7, 1]],
    ],
  },
  "GH200-96GB": {
    memorySlices: 8,
    computeSlices: 7,
    rows: [
      [19, "1g.12gb", 1, 1, 11.0, 16, 7, [0, 1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 0]],
      [20, "1g.12gb+me", 1, 1, 11.0, 16, 1, [0, 1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 1]],
      [15, "1g.24gb", 1, 2, 23.0, 26, 4, [0, 2, 4, 6], [1, 1, 0, 1, 0]],
      [14, "2g.24gb", 2, 2, 23.0, 32, 3, [0, 2, 4], [2, 2, 0, 2, 0]],
      [9, "3g.48gb", 3, 4, 46.5, 60, 2, [0, 4], [3, 3, 0, 3, 0]],
      [5, "4g.48gb", 4, 4, 46.5, 64, 1, [0], [4, 4, 0, 4, 0]],
      [0, "7g.96gb", 7, 8, 93.0, 132, 1, [0], [8, 7, 0, 7, 1]],
    ],
  },
  "H200-141GB": {
    memorySlices: 8,
    computeSlices: 7,
    rows: [
      [19, "1g.18gb", 1, 1, 16.0, 16, 7, [0, 1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 0]],
      [20, "1g.18gb+me", 1, 1, 16.0, 16, 1, [0, 1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 1]],
      [15, "1g.35gb", 1, 2, 32.25, 26, 4, [0, 2, 4, 6], [1, 1, 0, 1, 0]],
      [14, "2g.35gb", 2, 2, 32.25, 32, 3, [0, 2, 4], [2, 2, 0, 2, 0]],
      [9, "3g.71gb", 3, 4, 69.5, 60, 2, [0, 4], [3, 3, 0, 3, 0]],
      [5, "4g.71gb", 4, 4, 69.5, 64, 1, [0], [4, 4, 0, 4, 0]],
      [0, "7g.141gb", 7, 8, 140.0, 132, 1, [0], [8, 7, 0, 7, 1]],
    ],
  },
  "RTX-PRO-6000-Blackwell": {
    memorySlices: 12,
    computeSlices: 4,
    rows: [
      [14, "1g.24gb", 1, 3, 23.62, 46, 4, [0, 3, 6, 9], [1, 1, 1, 1, 0]],
      [21, "1g.24gb+me", 1, 3, 23.62, 46, 1, [0, 3, 6, 9], [1, 1, 1, 1, 1]],
      [5, "2g.48gb", 2, 6, 47.38, 94, 2, [0, 6], [2, 2, 2, 2, 0]],
      [0, "4g.96gb", 4, 12, 95.12, 188, 1, [0], [4, 4, 4, 4, 1]],
    ],
  },
};

/** Compute slices of a compute instance profile by its id, as NVML numbers them; 7 is the one of the wide `1g` (id 15). */
const computeProfileIds: readonly (readonly [id: number, slices: number])[] = [
  [0, 1],
  [1, 2],
  [2, 3],
  [3, 4],
  [4, 7],
];

function computeProfiles(row: Row, sliceMultiprocessors: number): ComputeInstanceProfile[] {
  const [profileId, name, slices, , , multiprocessors] = row;
  if (profileId === 15) return [{ id: 7, name, computeSlices: 1, maxInstances: 1, starts: [0], multiprocessors }];
  return (
    computeProfileIds
      // A 4g takes no 3c: half of it would be left without use.
      .filter(([, wanted]) => wanted <= slices && !(wanted === 3 && slices === 4))
      .map(([id, wanted]) => {
        const starts: number[] = [];
        const stride = wanted === 3 ? 4 : wanted;
        for (let start = 0; start + wanted <= slices; start += stride) starts.push(start);
        const fills = wanted === slices;
        return {
          id,
          name: fills ? name : `${wanted}c.${name}`,
          computeSlices: wanted,
          maxInstances: starts.length,
          starts,
          multiprocessors: fills ? multiprocessors : wanted * sliceMultiprocessors,
        };
      })
  );
}

function profile(row: Row, sliceMultiprocessors: number): GpuInstanceProfile {
  const [id, name, computeSlices, memorySlices, gib, multiprocessors, maxInstances, starts, engines] = row;
  const [copy, decoder, encoder, jpeg, opticalFlow] = engines;
  return {
    id,
    name,
    computeSlices,
    memorySlices,
    memoryMiB: Math.round(gib * 1024),
    multiprocessors,
    maxInstances,
    starts,
    media: name.endsWith("+me") ? "extended" : "default",
    graphics: false,
    engines: { copy, decoder, encoder, jpeg, opticalFlow },
    computeInstanceProfiles: computeProfiles(row, sliceMultiprocessors),
  };
}

const built = new Map<string, GpuGeometry>();

/** The geometry of one kind of silicon, profiles in the order in which the driver lists them. Throws RangeError where there is none. */
export function siliconGeometry(key: string): GpuGeometry {
  const known = built.get(key);
  if (known !== undefined) return known;
  const table = silicon[key];
  if (table === undefined) throw new RangeError(`no silicon is called ${key}`);
  const sliceMultiprocessors = table.rows[0]?.[5] ?? 0;
  const geometry: GpuGeometry = {
    key,
    memorySlices: table.memorySlices,
    computeSlices: table.computeSlices,
    source: "driver",
    profiles: table.rows.map((row) => profile(row, sliceMultiprocessors)),
  };
  built.set(key, geometry);
  return geometry;
}
