/**
 * A cluster out of thin air, the same for the same options: what the board is measured and looked at with.
 * Only the snapshot is made up; no host stands behind it.
 */
import type { ClusterSnapshot, HostView } from "../../shared/api/snapshot.ts";
import { geometryOfKey } from "../../shared/mig/geometry.ts";
import type { GpuGeometry, GpuInstanceProfile } from "../../shared/mig/types.ts";
import {
  type Gpu,
  type GpuInstance,
  type Holder,
  type HostInventory,
  inventorySchema,
  type TopologyLink,
} from "../../shared/protocol/inventory.ts";

export interface SyntheticOptions {
  readonly hosts: number;
  readonly gpusPerHost?: number;
  /** `mixed`: as pools look, with free room, whole cards, trouble. `full`: seven 1g instances on every GPU. */
  readonly fill?: "mixed" | "full";
  readonly tenants?: number;
  readonly hostsPerRack?: number;
  readonly seed?: number;
  /** ISO 8601: the moment everything is told of. */
  readonly now?: string;
}

type Random = () => number;

/** Mulberry32: small, and the same on every machine. */
function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const models = [
  { key: "H100-SXM5-80GB", name: "NVIDIA H100 80GB HBM3", memoryMiB: 81_559, limitWatts: 700, small: "1g.10gb" },
  { key: "A100-80GB", name: "NVIDIA A100-SXM4-80GB", memoryMiB: 81_920, limitWatts: 400, small: "1g.10gb" },
] as const;

const tenantNames = [
  "nlp",
  "vision",
  "speech",
  "robotics",
  "search",
  "ads",
  "fraud",
  "maps",
  "genomics",
  "climate",
  "chip-design",
  "games",
];
const projectNames = ["chat", "eval", "pretrain", "serving", "ablation", "dev"];
const userNames = ["li.wei", "zhao", "chen", "wang.fang", "sun", "garcia", "smith", "tanaka"];

function pick<T>(random: Random, list: readonly T[]): T {
  const value = list[Math.floor(random() * list.length)];
  if (value === undefined) throw new RangeError("nothing to pick from");
  return value;
}

function uuid(random: Random): string {
  const hex = (length: number) => Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join("");
  return `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`;
}

function before(now: string, seconds: number): string {
  return new Date(Date.parse(now) - seconds * 1000).toISOString();
}

export function syntheticCluster(options: SyntheticOptions): ClusterSnapshot {
  const random = randomFrom(options.seed ?? 7);
  const now = options.now ?? "2026-06-01T08:00:00.000Z";
  const perRack = options.hostsPerRack ?? 8;
  const digits = Math.max(2, String(options.hosts).length);
  const hosts = Array.from({ length: options.hosts }, (_, index): HostView => {
    const name = `gpu-${String(index + 1).padStart(digits, "0")}`;
    const rackNumber = Math.floor(index / perRack);
    const rack = `Rack ${String.fromCharCode(65 + (Math.floor(rackNumber / 10) % 26))}${(rackNumber % 10) + 1}`;
    const model = models[Math.floor(rackNumber / 2) % models.length] ?? models[0];
    const inventory = hostInventory(random, name, model, options, now);
    const stale = options.fill !== "full" && index === 12;
    return {
      id: name,
      name,
      rack,
      state: stale ? { kind: "stale", error: null } : { kind: "live" },
      inventory,
      asOf: before(now, stale ? 250 : 2),
      canChange: true,
      openOperationId: null,
      runningOperationId: null,
      restoreOffered: false,
    };
  });
  return { clusterId: "synthetic", name: "hangzhou-a", revision: 0, hosts };
}

function hostInventory(
  random: Random,
  name: string,
  model: (typeof models)[number],
  options: SyntheticOptions,
  now: string,
): HostInventory {
  const geometry = geometryOfKey(model.key);
  if (geometry === null) throw new Error(`no geometry for ${model.key}`);
  const count = options.gpusPerHost ?? 8;
  const gpus = Array.from({ length: count }, (_, index) => gpuOf(random, index, model, geometry, options, now));
  if (options.fill !== "full" && name.endsWith("20") && gpus[5] !== undefined) gpus[5] = broken(gpus[5], now);
  return {
    schema: inventorySchema,
    takenAt: before(now, 2),
    host: {
      name,
      bootId: uuid(random),
      kernel: "6.1.0-28-amd64",
      architecture: "x86_64",
      cpuCount: 128,
      memoryMiB: 2_063_000,
      numaNodes: [
        { id: 0, cpus: "0-31,64-95", memoryMiB: 1_031_500 },
        { id: 1, cpus: "32-63,96-127", memoryMiB: 1_031_500 },
      ],
      nics: Array.from({ length: 4 }, (_, nic) => ({ name: `mlx5_${nic}`, numaNode: Math.floor(nic / 2) })),
      managers: [],
    },
    driver: { version: "550.163.01", cudaVersion: "12.4" },
    geometries: { [geometry.key]: geometry },
    gpus,
    links: linksOf(count),
    unread: [],
  };
}

const linksByCount = new Map<number, readonly TopologyLink[]>();

/** One list for all hosts with so many GPUs, as the services keep it. */
function linksOf(count: number): readonly TopologyLink[] {
  const known = linksByCount.get(count);
  if (known !== undefined) return known;
  const links: TopologyLink[] = [];
  for (let a = 0; a < count; a++) {
    for (let b = a + 1; b < count; b++) links.push({ a: `GPU${a}`, b: `GPU${b}`, kind: "NVLINK", nvlinkCount: 18 });
    for (let nic = 0; nic < 4; nic++) {
      const near = Math.floor(a / 2) === nic;
      const sameNode = Math.floor(a / (count / 2)) === Math.floor(nic / 2);
      links.push({ a: `GPU${a}`, b: `mlx5_${nic}`, kind: near ? "PIX" : sameNode ? "NODE" : "SYS", nvlinkCount: null });
    }
  }
  linksByCount.set(count, links);
  return links;
}

function holderOf(random: Random, options: SyntheticOptions, now: string): Holder {
  const tenants = tenantNames.slice(0, options.tenants ?? 6);
  return {
    tenant: pick(random, tenants),
    project: pick(random, projectNames),
    user: pick(random, userNames),
    by: "job",
    allocation: String(48_000 + Math.floor(random() * 900)),
    since: before(now, Math.floor(random() * 172_800)),
  };
}

function gpuOf(
  random: Random,
  index: number,
  model: (typeof models)[number],
  geometry: GpuGeometry,
  options: SyntheticOptions,
  now: string,
): Gpu {
  const roll = random();
  const divided = options.fill === "full" || roll < 0.62;
  const whole = !divided && roll < 0.86;
  const instances = divided ? instancesOf(random, model, geometry, options, now) : [];
  const holder = whole ? holderOf(random, options, now) : null;
  const processes = [
    ...(holder === null ? [] : [processOf(random, holder, null, now)]),
    ...instances.flatMap(({ id, holder: by }) => (by === null ? [] : [processOf(random, by, id, now)])),
  ];
  const busy = holder !== null || instances.some((instance) => instance.holder !== null);
  return {
    index,
    uuid: `GPU-${uuid(random)}`,
    name: model.name,
    pciBusId: `00000000:${(0x18 + index * 0x11).toString(16).toUpperCase()}:00.0`,
    numaNode: index < (options.gpusPerHost ?? 8) / 2 ? 0 : 1,
    cpuAffinity: index < 4 ? "0-31,64-95" : "32-63,96-127",
    state: { kind: "ok" },
    mig: { current: divided ? "enabled" : "disabled", pending: divided ? "enabled" : "disabled" },
    geometry: geometry.key,
    holder,
    instances,
    memory: { totalMiB: model.memoryMiB, usedMiB: busy ? Math.floor(model.memoryMiB * (0.3 + 0.6 * random())) : 4 },
    utilisationPercent: divided ? null : whole ? Math.floor(30 + 70 * random()) : 0,
    memoryUtilisationPercent: divided ? null : whole ? Math.floor(60 * random()) : 0,
    power: {
      drawWatts: Math.floor(model.limitWatts * (busy ? 0.45 + 0.5 * random() : 0.11)),
      limitWatts: model.limitWatts,
    },
    temperatureCelsius: Math.floor(busy ? 48 + 30 * random() : 31 + 6 * random()),
    fanPercent: null,
    ecc: { enabled: true, volatileUncorrected: 0, aggregateUncorrected: 0 },
    memoryRepair: "none",
    xids: [],
    nvlinks: { active: 18, total: 18 },
    persistenceMode: true,
    computeMode: "Default",
    processes,
  };
}

function broken(gpu: Gpu, now: string): Gpu {
  return {
    ...gpu,
    state: { kind: "failed", reason: "lost", words: "GPU is lost" },
    holder: null,
    instances: [],
    processes: [],
    xids: [{ code: 79, at: before(now, 5_400), text: "GPU has fallen off the bus." }],
  };
}

function processOf(
  random: Random,
  holder: Holder,
  gpuInstanceId: number | null,
  now: string,
): Gpu["processes"][number] {
  return {
    pid: 2_000 + Math.floor(random() * 400_000),
    name: "python3",
    user: holder.user,
    gpuInstanceId,
    computeInstanceId: gpuInstanceId === null ? null : 0,
    usedMemoryMiB: Math.floor(2_000 + random() * 7_000),
    kind: "compute",
    startedAt: holder.since ?? now,
  };
}

function profileNamed(geometry: GpuGeometry, name: string): GpuInstanceProfile {
  const profile = geometry.profiles.find((candidate) => candidate.name === name);
  if (profile === undefined) throw new Error(`${geometry.key} has no ${name}`);
  return profile;
}

function instancesOf(
  random: Random,
  model: (typeof models)[number],
  geometry: GpuGeometry,
  options: SyntheticOptions,
  now: string,
): GpuInstance[] {
  const small = profileNamed(geometry, model.small);
  const instances: GpuInstance[] = [];
  const add = (profile: GpuInstanceProfile, start: number, held: boolean) => {
    instances.push(instanceOf(random, profile, start, instances.length, held ? holderOf(random, options, now) : null));
  };
  if (options.fill === "full") {
    for (let slice = 0; slice < 7; slice++) add(small, slice, random() < 0.85);
    return instances;
  }
  const choices = ["1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb", "1g.20gb"].map((name) => profileNamed(geometry, name));
  const density = 0.25 + 0.65 * random();
  let computeLeft = geometry.computeSlices;
  for (let slice = 0; slice < geometry.memorySlices; ) {
    const profile = pick(random, choices);
    const fits = profile.starts.includes(slice) && profile.computeSlices <= computeLeft;
    if (!fits || random() > density) {
      slice += 1;
      continue;
    }
    add(profile, slice, random() < 0.78);
    computeLeft -= profile.computeSlices;
    slice += profile.memorySlices;
  }
  return instances;
}

function instanceOf(
  random: Random,
  profile: GpuInstanceProfile,
  start: number,
  order: number,
  holder: Holder | null,
): GpuInstance {
  const filling = profile.computeInstanceProfiles.find(({ computeSlices }) => computeSlices === profile.computeSlices);
  // Real drivers often give no utilisation under MIG: every fourth stays unknown.
  const known = random() < 0.75;
  return {
    id: order + 7,
    profileId: profile.id,
    profile: profile.name,
    placement: { start, size: profile.memorySlices },
    computeInstances: [
      {
        id: 0,
        profileId: filling?.id ?? 0,
        profile: profile.name,
        placement: { start: 0, size: profile.computeSlices },
        uuid: `MIG-${uuid(random)}`,
        deviceIndex: order,
      },
    ],
    memory: {
      totalMiB: profile.memoryMiB,
      usedMiB: holder === null || profile.memoryMiB === null ? 12 : Math.floor(profile.memoryMiB * random()),
    },
    utilisationPercent: known ? (holder === null ? 0 : Math.floor(random() * 101)) : null,
    holder,
  };
}
