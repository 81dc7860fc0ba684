/**
 * Simulated GPUs as Slurm gets to know them: gres.conf by hand (AutoDetect needs a driver) and the node's `Gres=`.
 *
 * A card that can be divided has a fixed number of slots, as many as it can hold instances; what it does not use is
 * of type `pad`. So the node's count of gres/gpu never changes with the layout, and a new layout costs no job on the
 * other cards: Slurm kills every GPU job of a node whose count changes.
 */

import type { SimulatedMachine } from "../../resources/demo-cluster/driver/machine.ts";
import { geometryOf } from "../../resources/demo-cluster/driver/models.ts";
import { type CountedCard, totalOf } from "../../resources/host-module/src/slurm/job-submit/configuration.ts";

/** Type of a slot that holds nothing. Never to be counted as a GPU. */
export const padType = "pad";

export interface GresSlot {
  readonly gpu: number;
  /** `h100`, `h100_3g.40gb` or `pad`. */
  readonly type: string;
  /** Files that stand for its devices, first the GPU's. */
  readonly files: readonly string[];
}

/**
 * Every slot of a machine, card by card. Slurm keeps no such order: it numbers slots (IDX, SLURM_JOB_GPUS) type by
 * type, as slurm.conf's `Gres=` names the types first (seen on 22.05), so a number alone says nothing of the card.
 */
export function gresSlots(machine: SimulatedMachine): readonly GresSlot[] {
  return machine.state.gpus.flatMap((gpu, index) => {
    const device = `/dev/nvidia${index}`;
    const type = gpuType(gpu.productName);
    const geometry = geometryOf(machine.model(index));
    const used: GresSlot[] = gpu.migEnabled
      ? gpu.instances
          .toSorted((a, b) => a.start - b.start)
          .map((instance) => ({
            gpu: index,
            type: `${type}_${machine.profileOf(index, instance).name}`,
            files: [device, capability(index, instance.id), capability(index, instance.id, 0)],
          }))
      : [{ gpu: index, type, files: [device] }];
    const slots = geometry === null ? 1 : Math.max(...geometry.profiles.map((profile) => profile.maxInstances));
    const pads = Array.from({ length: Math.max(0, slots - used.length) }, (_, pad) => ({
      gpu: index,
      type: padType,
      files: [`/dev/nvidia-caps/pad${index}.${pad}`],
    }));
    return [...used, ...pads];
  });
}

/** `h100` of `NVIDIA H100 80GB HBM3`; `rtx_pro_6000`. */
export function gpuType(productName: string): string {
  const name = /^NVIDIA (RTX PRO \d+|[A-Za-z0-9]+)/.exec(productName)?.[1] ?? "gpu";
  return name.toLowerCase().replaceAll(" ", "_");
}

/** As /proc/driver/nvidia-caps/mig-minors numbers them: 15 GPU instances a GPU, each with 8 compute instances. */
function capability(gpu: number, gpuInstance: number, computeInstance?: number): string {
  const minor = 3 + gpu * 135 + gpuInstance * 9 + (computeInstance === undefined ? 0 : 1 + computeInstance);
  return `/dev/nvidia-caps/nvidia-cap${minor}`;
}

export function gresLines(node: string, slots: readonly GresSlot[]): readonly string[] {
  return slots.map(({ type, files }) => {
    const devices = files.length === 1 ? `File=${files[0]}` : `MultipleFiles=${files.join(",")}`;
    return `NodeName=${node} Name=gpu Type=${type} ${devices}`;
  });
}

/** Of all cards, the most that their instances can count for in any layout, so that a new layout changes no count. */
export interface CountedGres {
  readonly vramGiB: number;
  readonly cardShares: number;
}

export function countedGres(machine: SimulatedMachine): CountedGres {
  const { memoryGiB, cardShareUnits } = totalOf(countedCards(machine));
  return { vramGiB: memoryGiB, cardShares: cardShareUnits };
}

export function countedCards(machine: SimulatedMachine): readonly CountedCard[] {
  return machine.state.gpus.map((gpu, index) => ({
    type: gpuType(gpu.productName),
    memoryGiB: Math.round(machine.model(index).memoryMiB / 1024),
    geometry: geometryOf(machine.model(index)),
  }));
}

/** `gpu:h100:1,gpu:pad:6,vram:80,cardshare:56` */
export function nodeGres(slots: readonly GresSlot[], counted: CountedGres): string {
  const counts = new Map<string, number>();
  for (const { type } of slots) counts.set(type, (counts.get(type) ?? 0) + 1);
  const gpus = [...counts].map(([type, count]) => `gpu:${type}:${count}`);
  return [...gpus, `vram:${counted.vramGiB}`, `cardshare:${counted.cardShares}`].join(",");
}
