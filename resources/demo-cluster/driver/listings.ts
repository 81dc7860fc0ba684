/** The boxes that `nvidia-smi mig` draws. Column widths are those of release 550. */
import type { SimulatedMachine } from "./machine.ts";
import { computeProfileById, fillingProfile, freeComputeCount, freeCount } from "./placement.ts";
import type { SimulatedGpuInstance } from "./state.ts";

const profilesRule = `+${"-".repeat(77)}+`;
export const profilesHeader = [
  profilesRule,
  "| GPU instance profiles:                                                      |",
  "| GPU   Name             ID    Instances   Memory     P2P    SM    DEC   ENC  |",
  "|                              Free/Total   GiB              CE    JPEG  OFA  |",
  `|${"=".repeat(77)}|`,
];

/** `-lgip` of one GPU, without the header. */
export function gpuInstanceProfiles(machine: SimulatedMachine, index: number): string[] {
  const { instances } = machine.gpu(index);
  const geometry = machine.geometry(index);
  if (geometry === null) return [];
  return geometry.profiles.flatMap((profile) => {
    const { engines } = profile;
    const counts = `${freeCount(geometry, instances, profile)}/${profile.maxInstances}`;
    const gib = ((profile.memoryMiB ?? 0) / 1024).toFixed(2);
    return [
      `|${String(index).padStart(4)}  ${`MIG ${profile.name}`.padEnd(17)}${String(profile.id).padStart(3)}     ` +
        `${counts.padEnd(11)}${gib.padEnd(11)}No     ${String(profile.multiprocessors ?? 0).padEnd(7)}` +
        `${String(engines.decoder ?? 0).padEnd(6)}${engines.encoder ?? 0}   |`,
      `|${" ".repeat(61)}${String(engines.copy ?? 0).padEnd(6)}${String(engines.jpeg ?? 0).padEnd(6)}` +
        `${engines.opticalFlow ?? 0}   |`,
      profilesRule,
    ];
  });
}

function startsOf(starts: readonly number[], size: number): string {
  return `${starts.length === 1 ? "Placement :" : "Placements:"} {${starts.join(",")}}:${size}`;
}

export function gpuInstancePlacements(machine: SimulatedMachine, index: number): string[] {
  const profiles = machine.geometry(index)?.profiles ?? [];
  return profiles.map(
    (profile) =>
      `GPU ${String(index).padStart(2)} Profile ID ${String(profile.id).padStart(2)} ` +
      startsOf(profile.starts, profile.memorySlices),
  );
}

const instancesRule = `+${"-".repeat(55)}+`;
export const instancesHeader = [
  instancesRule,
  "| GPU instances:                                        |",
  "| GPU   Name             Profile  Instance   Placement  |",
  "|                          ID       ID       Start:Size |",
  `|${"=".repeat(55)}|`,
];

export function gpuInstances(machine: SimulatedMachine, index: number): string[] {
  return machine.instancesOf(index).flatMap((instance) => {
    const profile = machine.profileOf(index, instance);
    return [
      `|${String(index).padStart(4)}  ${`MIG ${profile.name}`.padEnd(18)}${String(profile.id).padStart(4)}` +
        `${String(instance.id).padStart(9)}          ${`${instance.start}:${profile.memorySlices}`.padEnd(8)}|`,
      instancesRule,
    ];
  });
}

const computeRule = `+${"-".repeat(68)}+`;
export const computeInstancesHeader = [
  computeRule,
  "| Compute instances:                                                 |",
  "| GPU     GPU       Name             Profile   Instance   Placement  |",
  "|       Instance                       ID        ID       Start:Size |",
  "|         ID                                                         |",
  `|${"=".repeat(68)}|`,
];

export function computeInstances(machine: SimulatedMachine, index: number, instance: SimulatedGpuInstance): string[] {
  const profile = machine.profileOf(index, instance);
  return instance.computeInstances
    .toSorted((a, b) => a.id - b.id)
    .flatMap((computeInstance) => {
      const own = computeProfileById(profile, computeInstance.profileId);
      return [
        `|${String(index).padStart(4)}${String(instance.id).padStart(7)}       ${`MIG ${own.name}`.padEnd(18)}` +
          `${String(own.id).padStart(4)}${String(computeInstance.id).padStart(10)}          ` +
          `${`${computeInstance.start}:${own.computeSlices}`.padEnd(8)}|`,
        computeRule,
      ];
    });
}

const computeProfilesRule = `+${"-".repeat(86)}+`;
export const computeProfilesHeader = [
  computeProfilesRule,
  "| Compute instance profiles:                                                           |",
  "| GPU     GPU       Name             Profile  Instances   Exclusive       Shared       |",
  "|       Instance                       ID     Free/Total     SM       DEC   ENC   OFA  |",
  "|         ID                                                          CE    JPEG       |",
  `|${"=".repeat(86)}|`,
];

export function computeProfiles(machine: SimulatedMachine, index: number, instance: SimulatedGpuInstance): string[] {
  const profile = machine.profileOf(index, instance);
  const { engines } = profile;
  const filling = fillingProfile(profile);
  return profile.computeInstanceProfiles.flatMap((own) => {
    const free = freeComputeCount(profile, instance.computeInstances, own);
    return [
      `|${String(index).padStart(4)}${String(instance.id).padStart(7)}       ${`MIG ${own.name}`.padEnd(18)}` +
        `${String(own.id).padStart(4)}${own === filling ? "*" : " "}     ${`${free}/${own.maxInstances}`.padEnd(14)}` +
        `${String(own.multiprocessors ?? 0).padEnd(10)}${String(engines.decoder ?? 0).padEnd(6)}` +
        `${String(engines.encoder ?? 0).padEnd(6)}${engines.opticalFlow ?? 0}   |`,
      `|${" ".repeat(70)}${String(engines.copy ?? 0).padEnd(6)}${engines.jpeg ?? 0}         |`,
      computeProfilesRule,
    ];
  });
}

export function computePlacements(machine: SimulatedMachine, index: number, instance: SimulatedGpuInstance): string[] {
  const profile = machine.profileOf(index, instance);
  return profile.computeInstanceProfiles.map(
    (own) =>
      `GPU ${String(index).padStart(2)} GI ${String(instance.id).padStart(2)} Profile ID ` +
      `${String(own.id).padStart(2)} ${startsOf(own.starts, own.computeSlices)}`,
  );
}
