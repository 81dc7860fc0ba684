/** Inventories made up for tests: as many hosts and GPUs as a test wants, every value plausible. */
import { asWish, fillingComputeProfile, geometryOfKey, profileOf } from "../../../shared/mig/index.ts";
import type { GpuGeometry, Layout } from "../../../shared/mig/types.ts";
import { type Gpu, type GpuInstance, type HostInventory, inventorySchema } from "../../../shared/protocol/inventory.ts";

export const fakeGeometryKey = "H100-SXM5-80GB";

export function fakeGeometry(): GpuGeometry {
  const geometry = geometryOfKey(fakeGeometryKey);
  if (geometry === null) throw new Error(`the table has no ${fakeGeometryKey}`);
  return geometry;
}

/** Profile id of a name. */
export function profileIdOf(name: string): number {
  const profile = fakeGeometry().profiles.find((candidate) => candidate.name === name);
  if (profile === undefined) throw new Error(`no profile ${name}`);
  return profile.id;
}

/** A wish from `3g.40gb@0`-like words. */
export function wish(...words: readonly string[]): Layout {
  return {
    migEnabled: true,
    instances: words.map((word) => {
      const [name = "", start] = word.split("@");
      return { profileId: profileIdOf(name), start: Number(start) };
    }),
  };
}

export function instancesOf(layout: Layout, gpuUuid: string, firstId: number): readonly GpuInstance[] {
  const geometry = fakeGeometry();
  return asWish(layout).instances.map((instance, index) => {
    const profile = profileOf(geometry, instance.profileId);
    if (profile === undefined) throw new Error(`no profile ${instance.profileId}`);
    const filling = fillingComputeProfile(profile);
    return {
      id: firstId + index,
      profileId: profile.id,
      profile: profile.name,
      placement: { start: instance.start, size: profile.memorySlices },
      computeInstances: [
        {
          id: 0,
          profileId: filling?.id ?? 0,
          profile: profile.name,
          placement: { start: 0, size: profile.computeSlices },
          uuid: `MIG-${gpuUuid.slice(4)}-${firstId + index}`,
          deviceIndex: index,
        },
      ],
      memory: { totalMiB: profile.memoryMiB, usedMiB: 0 },
      utilisationPercent: null,
      holder: null,
    };
  });
}

export function fakeGpu(hostName: string, index: number, layout: Layout): Gpu {
  const uuid = `GPU-${hostName}-${index}`;
  return {
    index,
    uuid,
    name: "NVIDIA H100 80GB HBM3",
    pciBusId: `00000000:${(0x18 + index).toString(16)}:00.0`,
    numaNode: index < 4 ? 0 : 1,
    cpuAffinity: index < 4 ? "0-31" : "32-63",
    state: { kind: "ok" },
    mig: layout.migEnabled ? { current: "enabled", pending: "enabled" } : { current: "disabled", pending: "disabled" },
    geometry: fakeGeometryKey,
    holder: null,
    instances: instancesOf(layout, uuid, 1),
    memory: { totalMiB: 81_559, usedMiB: 0 },
    utilisationPercent: layout.migEnabled ? null : 0,
    memoryUtilisationPercent: layout.migEnabled ? null : 0,
    power: { drawWatts: 70, limitWatts: 700 },
    temperatureCelsius: 31,
    fanPercent: null,
    ecc: { enabled: true, volatileUncorrected: 0, aggregateUncorrected: 0 },
    memoryRepair: "none",
    xids: [],
    nvlinks: { active: 18, total: 18 },
    persistenceMode: true,
    computeMode: "Default",
    processes: [],
  };
}

export function fakeInventory(hostName: string, layouts: readonly Layout[]): HostInventory {
  return {
    schema: inventorySchema,
    takenAt: "2026-01-01T00:00:00.000Z",
    host: {
      name: hostName,
      bootId: `boot-${hostName}`,
      kernel: "6.1.0",
      architecture: "x86_64",
      cpuCount: 64,
      memoryMiB: 1_031_000,
      numaNodes: [
        { id: 0, cpus: "0-31", memoryMiB: 515_500 },
        { id: 1, cpus: "32-63", memoryMiB: 515_500 },
      ],
      nics: [{ name: "mlx5_0", numaNode: 0 }],
      managers: [],
    },
    driver: { version: "550.163.01", cudaVersion: "12.4" },
    geometries: { [fakeGeometryKey]: structuredClone(fakeGeometry()) },
    gpus: layouts.map((layout, index) => fakeGpu(hostName, index, layout)),
    links: layouts.flatMap((_, a) =>
      layouts
        .slice(a + 1)
        .map((_layout, b) => ({ a: `GPU${a}`, b: `GPU${a + 1 + b}`, kind: "NVLINK" as const, nvlinkCount: 18 })),
    ),
    unread: [],
  };
}
