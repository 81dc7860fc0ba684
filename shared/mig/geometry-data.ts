/**
 * The numbers behind the geometry table, model by model. A family says how GPUs of one kind divide
 * (ids, slices, counts: the same on every member); a model adds what differs (names, memory, SM).
 *
 * Sources: `nvidia-smi mig -lgip`, `-lgipp` and `-lcip` listings of real boards, NVIDIA's MIG user guide
 * (supported profiles, v580 and newer) and the vGPU documents. Memory is GiB as `-lgip` prints it, two
 * decimals. `null` is a number that no listing we know of shows.
 */

type Amount = number | null;

/** Copy, decoder, encoder, JPEG, optical flow: the order of the `-lgip` columns. */
export type EngineCounts = readonly [Amount, Amount, Amount, Amount, Amount];

export interface FamilyProfile {
  /** GPU instance profile ID; null where NVIDIA's documents give the profile but no listing gives its number. */
  readonly id: number | null;
  readonly computeSlices: number;
  /** Null where not even the number of memory slices is known. */
  readonly memorySlices: number | null;
  readonly maxInstances: number;
  /** Memory slices it may start at; left out: every multiple of its width that leaves no rest. */
  readonly starts?: readonly number[];
  readonly suffix?: "+me" | "+me.all" | "-me" | "+gfx";
  /** The compute instance profile that fills it, where it is not the usual one of its size. */
  readonly fillComputeProfileId?: number;
}

export interface Family {
  readonly memorySlices: number;
  readonly computeSlices: number;
  readonly profiles: readonly FamilyProfile[];
}

/** Row for row along the profiles of the family. */
export interface Model {
  readonly key: string;
  /** As the driver prints them; `*` stands for any text. */
  readonly names: readonly string[];
  /** Device and vendor, `20B010DE`, as `nvidia-smi -q -x` prints it without `0x`. */
  readonly pciDeviceIds: readonly string[];
  readonly family: Family;
  /** The gigabytes in each profile's name. */
  readonly gigabytes: readonly number[];
  readonly memoryGiB: readonly Amount[];
  readonly multiprocessors: readonly Amount[];
  readonly engines: readonly EngineCounts[];
  /** SM of one compute slice inside a larger instance, where known. */
  readonly multiprocessorsPerSlice: Amount;
  /** Ampere applies a change of MIG mode at the next GPU reset; Hopper and newer at once. */
  readonly resetOnModeChange: boolean;
}

/** A100, H100, H200, B200 ...: 8 memory slices, 7 compute slices. The last memory slice takes no 1g. */
const sevenSlices: Family = {
  memorySlices: 8,
  computeSlices: 7,
  profiles: [
    { id: 19, computeSlices: 1, memorySlices: 1, maxInstances: 7, starts: [0, 1, 2, 3, 4, 5, 6] },
    { id: 20, computeSlices: 1, memorySlices: 1, maxInstances: 1, starts: [0, 1, 2, 3, 4, 5, 6], suffix: "+me" },
    { id: 15, computeSlices: 1, memorySlices: 2, maxInstances: 4, fillComputeProfileId: 7 },
    { id: 14, computeSlices: 2, memorySlices: 2, maxInstances: 3, starts: [0, 2, 4] },
    { id: 9, computeSlices: 3, memorySlices: 4, maxInstances: 2 },
    { id: 5, computeSlices: 4, memorySlices: 4, maxInstances: 1, starts: [0] },
    { id: 0, computeSlices: 7, memorySlices: 8, maxInstances: 1 },
  ],
};

const fourSlices: Family = {
  memorySlices: 4,
  computeSlices: 4,
  profiles: [
    { id: 14, computeSlices: 1, memorySlices: 1, maxInstances: 4 },
    { id: 21, computeSlices: 1, memorySlices: 1, maxInstances: 1, suffix: "+me" },
    { id: 5, computeSlices: 2, memorySlices: 2, maxInstances: 2 },
    { id: 6, computeSlices: 2, memorySlices: 2, maxInstances: 1, suffix: "+me" },
    { id: 0, computeSlices: 4, memorySlices: 4, maxInstances: 1 },
  ],
};

/** RTX PRO 6000 Blackwell: 12 memory slices, 3 to a compute slice; graphics and media variants of each size. */
const twelveSlices: Family = {
  memorySlices: 12,
  computeSlices: 4,
  profiles: [
    { id: 14, computeSlices: 1, memorySlices: 3, maxInstances: 4 },
    { id: 21, computeSlices: 1, memorySlices: 3, maxInstances: 1, suffix: "+me" },
    { id: 47, computeSlices: 1, memorySlices: 3, maxInstances: 4, suffix: "+gfx" },
    { id: 65, computeSlices: 1, memorySlices: 3, maxInstances: 1, suffix: "+me.all" },
    { id: 67, computeSlices: 1, memorySlices: 3, maxInstances: 4, suffix: "-me" },
    { id: 5, computeSlices: 2, memorySlices: 6, maxInstances: 2 },
    { id: 35, computeSlices: 2, memorySlices: 6, maxInstances: 2, suffix: "+gfx" },
    { id: 64, computeSlices: 2, memorySlices: 6, maxInstances: 1, suffix: "+me.all" },
    { id: 66, computeSlices: 2, memorySlices: 6, maxInstances: 2, suffix: "-me" },
    { id: 0, computeSlices: 4, memorySlices: 12, maxInstances: 1 },
    { id: 32, computeSlices: 4, memorySlices: 12, maxInstances: 1, suffix: "+gfx" },
  ],
};

const halves = (variants: readonly FamilyProfile["suffix"][]): Family => ({
  memorySlices: 2,
  computeSlices: 2,
  profiles: [
    ...variants.map((suffix) => ({
      id: null,
      computeSlices: 1,
      memorySlices: 1,
      maxInstances: suffix === "+me" || suffix === "+me.all" ? 1 : 2,
      ...(suffix === undefined ? {} : { suffix }),
    })),
    { id: null, computeSlices: 2, memorySlices: 2, maxInstances: 1 },
    { id: null, computeSlices: 2, memorySlices: 2, maxInstances: 1, suffix: "+gfx" },
  ],
});

/** Thor's GPU shares the memory of the board: no memory slices, and placements only the driver knows. */
const thirds: Family = {
  memorySlices: 0,
  computeSlices: 3,
  profiles: [
    { id: null, computeSlices: 1, memorySlices: null, maxInstances: 1, suffix: "+me" },
    { id: null, computeSlices: 1, memorySlices: null, maxInstances: 1 },
    { id: null, computeSlices: 1, memorySlices: null, maxInstances: 1, suffix: "+gfx" },
    { id: null, computeSlices: 2, memorySlices: null, maxInstances: 1 },
    { id: null, computeSlices: 2, memorySlices: null, maxInstances: 1, suffix: "+gfx" },
    { id: null, computeSlices: 3, memorySlices: null, maxInstances: 1 },
    { id: null, computeSlices: 3, memorySlices: null, maxInstances: 1, suffix: "+gfx" },
  ],
};

const ampereEngines: readonly EngineCounts[] = [
  [1, 0, 0, 0, 0],
  [1, 1, 0, 1, 1],
  [1, 1, 0, 0, 0],
  [2, 1, 0, 0, 0],
  [3, 2, 0, 0, 0],
  [4, 2, 0, 0, 0],
  [7, 5, 0, 1, 1],
];

const hopperEngines: readonly EngineCounts[] = [
  [1, 1, 0, 1, 0],
  [1, 1, 0, 1, 1],
  [1, 1, 0, 1, 0],
  [2, 2, 0, 2, 0],
  [3, 3, 0, 3, 0],
  [4, 4, 0, 4, 0],
  [8, 7, 0, 7, 1],
];

const noListing: EngineCounts = [null, null, 0, null, null];
/** The listings of B200 and GB200 that we know of stop after 2g. */
const blackwellEngines: readonly EngineCounts[] = [
  [2, 1, 0, 1, 0],
  [2, 1, 0, 1, 1],
  [2, 1, 0, 1, 0],
  [4, 2, 0, 2, 0],
  noListing,
  noListing,
  noListing,
];

const unknownRow = (rows: number): readonly null[] => Array.from({ length: rows }, () => null);

/** Memory of the seven-slice models: 1g and 1g+me are alike, so are the double-memory 1g and 2g, and 3g and 4g. */
const alongSeven = <T>(one: T, two: T, half: T, full: T): readonly T[] => [one, one, two, two, half, half, full];

const hopper132: readonly number[] = [16, 16, 26, 32, 60, 64, 132];
const hopper114: readonly number[] = [14, 14, 14, 30, 46, 62, 114];
const ampere108: readonly number[] = [14, 14, 14, 28, 42, 56, 98];

const ampere = { family: sevenSlices, engines: ampereEngines, multiprocessorsPerSlice: 14, resetOnModeChange: true };
const hopper = { family: sevenSlices, engines: hopperEngines, multiprocessorsPerSlice: 16, resetOnModeChange: false };
const hopperPcie = { ...hopper, multiprocessors: hopper114, multiprocessorsPerSlice: 14 };
const blackwell = {
  family: sevenSlices,
  engines: blackwellEngines,
  multiprocessorsPerSlice: 18,
  resetOnModeChange: false,
};
/** B300 and GB300: the names are known from configurations, no listing with numbers is. */
const blackwellUltra = {
  family: sevenSlices,
  engines: sevenSlices.profiles.map(() => noListing),
  memoryGiB: unknownRow(7),
  multiprocessors: unknownRow(7),
  multiprocessorsPerSlice: null,
  resetOnModeChange: false,
};

export const models: readonly Model[] = [
  {
    key: "A100-40GB",
    names: [
      "NVIDIA A100-SXM4-40GB",
      "NVIDIA A100-PCIE-40GB",
      "GRID A100-*",
      "NVIDIA A100-SXM4-40GB (DGX/HGX)",
      "NVIDIA A800 40GB Active",
    ],
    pciDeviceIds: ["20B010DE", "20B110DE", "20F110DE", "20F610DE"],
    ...ampere,
    gigabytes: alongSeven(5, 10, 20, 40),
    memoryGiB: alongSeven(4.75, 9.75, 19.62, 39.5),
    multiprocessors: ampere108,
  },
  {
    key: "A100-80GB",
    names: ["NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe", "NVIDIA A800-SXM4-80GB", "NVIDIA A800 80GB PCIe"],
    pciDeviceIds: ["20B210DE", "20B510DE", "20F310DE", "20F510DE"],
    ...ampere,
    gigabytes: alongSeven(10, 20, 40, 80),
    memoryGiB: alongSeven(9.5, 19.5, 39.25, 79),
    multiprocessors: ampere108,
  },
  {
    key: "A30-24GB",
    names: ["NVIDIA A30"],
    pciDeviceIds: ["20B710DE"],
    family: fourSlices,
    gigabytes: [6, 6, 12, 12, 24],
    memoryGiB: [5.81, 5.81, 11.69, 11.69, 23.44],
    multiprocessors: [14, 14, 28, 28, 56],
    // The user guide says no decoder for 1g.6gb; both listings of real boards say one.
    engines: [
      [1, 1, 0, 0, 0],
      [1, 1, 0, 1, 1],
      [2, 2, 0, 0, 0],
      [2, 2, 0, 1, 1],
      [4, 4, 0, 1, 1],
    ],
    multiprocessorsPerSlice: 14,
    resetOnModeChange: true,
  },
  {
    key: "H100-PCIe-80GB",
    names: ["NVIDIA H100 PCIe"],
    pciDeviceIds: ["233110DE"],
    ...hopperPcie,
    gigabytes: alongSeven(10, 20, 40, 80),
    memoryGiB: alongSeven(9.75, 19.62, 39.5, 79.25),
  },
  {
    key: "H100-SXM5-80GB",
    names: ["NVIDIA H100 80GB HBM3", "NVIDIA H800 (SXM5)", "NVIDIA H800"],
    pciDeviceIds: ["233010DE", "232410DE"],
    ...hopper,
    gigabytes: alongSeven(10, 20, 40, 80),
    memoryGiB: alongSeven(9.75, 19.62, 39.5, 79.25),
    multiprocessors: hopper132,
  },
  {
    key: "H800-PCIe-80GB",
    names: ["NVIDIA H800 PCIe"],
    pciDeviceIds: ["232210DE"],
    ...hopperPcie,
    gigabytes: alongSeven(10, 20, 40, 80),
    memoryGiB: alongSeven(9.75, 19.62, 39.5, 79.25),
  },
  {
    key: "H100-NVL-94GB",
    names: ["NVIDIA H100 NVL", "NVIDIA H100 SXM5 94GB"],
    pciDeviceIds: ["232110DE"],
    ...hopper,
    gigabytes: alongSeven(12, 24, 47, 94),
    memoryGiB: alongSeven(10.75, 21.62, 46.38, 93.12),
    multiprocessors: hopper132,
  },
  {
    key: "H800-NVL-94GB",
    names: ["NVIDIA H800 NVL"],
    pciDeviceIds: ["233A10DE"],
    ...hopper,
    gigabytes: alongSeven(12, 24, 47, 94),
    memoryGiB: alongSeven(10.75, 21.62, 46.38, 93.12),
    multiprocessors: hopper132,
  },
  {
    // The 480GB of the product name is the CPU's memory.
    key: "GH200-96GB",
    names: ["NVIDIA GH200 480GB"],
    pciDeviceIds: ["234210DE"],
    ...hopper,
    gigabytes: alongSeven(12, 24, 48, 96),
    memoryGiB: alongSeven(11, 23, 46.5, 93),
    multiprocessors: hopper132,
  },
  {
    key: "H100-96GB",
    names: ["NVIDIA H100 96GB (233D)", "NVIDIA PG506-96GB (20B6)"],
    pciDeviceIds: ["233D10DE", "20B610DE"],
    ...hopper,
    gigabytes: alongSeven(12, 24, 48, 96),
    memoryGiB: alongSeven(11, 23, 46.5, 93),
    multiprocessors: hopper132,
  },
  {
    key: "GH200-144GB",
    names: ["NVIDIA GH200 144G HBM3e"],
    pciDeviceIds: ["234810DE"],
    ...hopper,
    gigabytes: alongSeven(18, 36, 72, 144),
    memoryGiB: alongSeven(17.5, 35.25, null, null),
    multiprocessors: hopper132,
  },
  {
    key: "H200-141GB",
    names: ["NVIDIA H200", "NVIDIA H200 NVL"],
    pciDeviceIds: ["233510DE", "233B10DE"],
    ...hopper,
    gigabytes: alongSeven(18, 35, 71, 141),
    memoryGiB: alongSeven(16, 32.25, 69.5, 140),
    multiprocessors: hopper132,
  },
  {
    key: "H20-96GB",
    names: ["NVIDIA H20"],
    pciDeviceIds: ["232910DE"],
    ...hopper,
    gigabytes: alongSeven(12, 24, 48, 96),
    memoryGiB: unknownRow(7),
    multiprocessors: [8, 8, 12, null, null, null, 78],
    multiprocessorsPerSlice: 8,
  },
  {
    key: "H20-141GB",
    names: ["NVIDIA H20-3e", "NVIDIA H20 141GB"],
    pciDeviceIds: [],
    ...hopper,
    gigabytes: alongSeven(18, 35, 71, 141),
    memoryGiB: alongSeven(16, 32.5, null, null),
    multiprocessors: [8, 8, 12, null, null, null, 78],
    multiprocessorsPerSlice: 8,
  },
  {
    key: "H100-SXM5-64GB",
    names: ["NVIDIA H100 SXM5 64GB"],
    pciDeviceIds: [],
    ...hopper,
    gigabytes: alongSeven(8, 16, 32, 64),
    memoryGiB: unknownRow(7),
    multiprocessors: unknownRow(7),
    multiprocessorsPerSlice: null,
  },
  {
    key: "B200-180GB",
    names: ["NVIDIA B200"],
    pciDeviceIds: ["290110DE"],
    ...blackwell,
    gigabytes: alongSeven(23, 45, 90, 180),
    memoryGiB: alongSeven(22, 44.25, null, null),
    multiprocessors: [18, 18, 30, 36, null, null, null],
  },
  {
    key: "GB200-186GB",
    names: ["NVIDIA GB200"],
    pciDeviceIds: ["294110DE"],
    ...blackwell,
    gigabytes: alongSeven(23, 47, 93, 186),
    memoryGiB: alongSeven(22, 45.5, null, null),
    multiprocessors: [18, 18, 32, 38, null, null, null],
  },
  {
    key: "B300-288GB",
    names: ["NVIDIA B300 SXM6 AC"],
    pciDeviceIds: ["318210DE"],
    ...blackwellUltra,
    gigabytes: alongSeven(34, 67, 135, 269),
  },
  {
    // Drivers 61x name the same ids 1g.31gb to 7g.251gb, and refuse combinations that fit by this table.
    key: "GB300-278GB",
    names: ["NVIDIA GB300"],
    pciDeviceIds: ["31C210DE"],
    ...blackwellUltra,
    gigabytes: alongSeven(35, 70, 139, 278),
  },
  {
    key: "RTX-PRO-6000-Blackwell",
    names: [
      "NVIDIA RTX PRO 6000 Blackwell Server Edition",
      "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
      "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
    ],
    pciDeviceIds: ["2BB510DE"],
    family: twelveSlices,
    gigabytes: [24, 24, 24, 24, 24, 48, 48, 48, 48, 96, 96],
    memoryGiB: [23.62, 23.62, 23.62, 23.62, 23.62, 47.38, 47.38, 47.38, 47.38, 95.12, 95.12],
    multiprocessors: [46, 46, 46, 46, 46, 94, 94, 94, 94, 188, 188],
    engines: [
      [1, 1, 1, 1, 0],
      [1, 1, 1, 1, 1],
      [1, 1, 1, 1, 0],
      [1, 4, 4, 4, 1],
      [1, 0, 0, 0, 0],
      [2, 2, 2, 2, 0],
      [2, 2, 2, 2, 0],
      [2, 4, 4, 4, 1],
      [2, 0, 0, 0, 0],
      [4, 4, 4, 4, 1],
      [4, 4, 4, 4, 1],
    ],
    multiprocessorsPerSlice: null,
    resetOnModeChange: false,
  },
  {
    // The v580 user guide divides it into quarters, newer ones into halves: the driver's word decides.
    key: "RTX-PRO-5000-Blackwell-48GB",
    names: ["NVIDIA RTX PRO 5000 Blackwell"],
    pciDeviceIds: [],
    family: halves([undefined, "+me", "+gfx", "+me.all", "-me"]),
    gigabytes: [24, 24, 24, 24, 24, 48, 48],
    memoryGiB: unknownRow(7),
    multiprocessors: unknownRow(7),
    engines: [
      [1, 1, 1, 0, 0],
      [1, 1, 1, 1, 1],
      [1, 1, 1, 0, 0],
      [1, 3, 3, 1, 1],
      [1, 0, 0, 0, 0],
      [4, 3, 3, 1, 1],
      [4, 3, 3, 1, 1],
    ],
    multiprocessorsPerSlice: null,
    resetOnModeChange: false,
  },
  {
    key: "RTX-PRO-4500-Blackwell-32GB",
    names: ["NVIDIA RTX PRO 4500 Blackwell"],
    pciDeviceIds: [],
    family: halves([undefined, "+gfx", "+me.all", "-me"]),
    gigabytes: [16, 16, 16, 16, 32, 32],
    memoryGiB: unknownRow(6),
    multiprocessors: unknownRow(6),
    engines: [
      [1, 1, 1, 1, 0],
      [1, 1, 1, 1, 0],
      [1, 3, 3, 2, 1],
      [1, 0, 0, 0, 0],
      [2, 3, 3, 2, 1],
      [2, 3, 3, 2, 1],
    ],
    multiprocessorsPerSlice: null,
    resetOnModeChange: false,
  },
  {
    key: "Thor-iGPU-GB10B",
    names: ["NVIDIA Thor"],
    pciDeviceIds: [],
    family: thirds,
    gigabytes: [0, 0, 0, 0, 0, 0, 0],
    memoryGiB: unknownRow(7),
    multiprocessors: unknownRow(7),
    engines: [
      [1, 1, 1, 1, 1],
      [1, 1, 1, 1, 0],
      [1, 1, 1, 1, 0],
      [1, 1, 1, 1, 0],
      [1, 1, 1, 1, 0],
      [1, 2, 2, 2, 1],
      [1, 2, 2, 2, 1],
    ],
    multiprocessorsPerSlice: null,
    resetOnModeChange: false,
  },
];
