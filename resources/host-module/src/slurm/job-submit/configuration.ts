/** What slurm.conf and gres.conf need so that card shares and GPU memory can be counted and limited. Pure. */

import type { GpuGeometry, GpuInstanceProfile } from "../../../../../shared/mig/types.ts";
import { cardShareOf, inUnits, wholeCardShare } from "../../../../../shared/quota/card-share.ts";
import { cardShareGres, cardShareUnits, gpuMemoryGres } from "../../engine/slurm/counted-gres.ts";
import { padType } from "../nodes.ts";
import type { GpuTypeFact } from "./script.ts";

/** One card of a node. */
export interface CountedCard {
  /** Slurm's type of the undivided card, `h100`; its instances are `h100_3g.40gb`. */
  readonly type: string;
  /** Whole GiB, as the card's name says it. */
  readonly memoryGiB: number;
  /** What it can be divided into; null where it cannot. */
  readonly geometry: GpuGeometry | null;
}

export interface CountedNode {
  readonly name: string;
  readonly cards: readonly CountedCard[];
}

/** A line, or a part of one, and the file it belongs in. */
export interface ConfigurationLine {
  readonly file: "slurm.conf" | "gres.conf";
  readonly text: string;
}

/** Every type that these cards can be: whole, and each profile. Throws AppError `bad-request` where 56 does not divide a share. */
export function gpuTypeFacts(cards: readonly CountedCard[]): readonly GpuTypeFact[] {
  const facts = cards.flatMap((card) => [
    { type: card.type, memoryGiB: card.memoryGiB, cardShareUnits: inUnits(wholeCardShare().share, cardShareUnits) },
    ...(card.geometry === null
      ? []
      : card.geometry.profiles.map((profile) => profileFact(card, card.geometry, profile))),
  ]);
  return [...new Map(facts.map((fact) => [fact.type, fact])).values()];
}

function profileFact(card: CountedCard, geometry: GpuGeometry | null, profile: GpuInstanceProfile): GpuTypeFact {
  const share = geometry === null ? wholeCardShare() : cardShareOf(geometry, profile);
  return {
    type: `${card.type}_${profile.name}`,
    memoryGiB: memoryOf(profile) ?? card.memoryGiB,
    cardShareUnits: inUnits(share.share, cardShareUnits),
  };
}

/** As the profile's name says it: 40 of `3g.40gb`. */
function memoryOf({ name }: GpuInstanceProfile): number | null {
  const said = /\.(\d+)gb/.exec(name)?.[1];
  return said === undefined ? null : Number(said);
}

export interface CardCounts {
  readonly memoryGiB: number;
  readonly cardShareUnits: number;
}

/**
 * The most that the instances of one card can count for, in whatever layout. It can be more than the card: of an H100,
 * 4g.40gb and 3g.40gb count 32 + 28 of 56. A node that declared less would hold back jobs that have a GPU to run on.
 */
export function mostOf(card: CountedCard): CardCounts {
  const { geometry } = card;
  if (geometry === null) return { memoryGiB: card.memoryGiB, cardShareUnits };
  const facts = geometry.profiles.map((profile) => ({ profile, fact: profileFact(card, geometry, profile) }));
  const most = (count: (fact: GpuTypeFact) => number) =>
    fill(
      geometry,
      facts.map(({ profile, fact }) => ({ profile, value: count(fact) })),
    );
  return {
    memoryGiB: Math.max(
      card.memoryGiB,
      most((fact) => fact.memoryGiB),
    ),
    cardShareUnits: Math.max(
      cardShareUnits,
      most((fact) => fact.cardShareUnits),
    ),
  };
}

/** The largest sum of values over all sets of instances that the card's slices hold, places and media engines aside. */
function fill(
  { computeSlices, memorySlices }: GpuGeometry,
  items: readonly { readonly profile: GpuInstanceProfile; readonly value: number }[],
): number {
  const known = new Map<string, number>();
  const best = (compute: number, memory: number): number => {
    const key = `${compute}/${memory}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const values = items
      .filter(
        ({ profile }) =>
          profile.computeSlices > 0 && profile.computeSlices <= compute && profile.memorySlices <= memory,
      )
      .map(({ profile, value }) => value + best(compute - profile.computeSlices, memory - profile.memorySlices));
    const result = Math.max(0, ...values);
    known.set(key, result);
    return result;
  };
  return best(computeSlices, memorySlices);
}

/**
 * The lines for these nodes. `gpuTypes` are those to be limited, by Slurm's names; `pad` among them is left out. The part
 * `Gres=` is added to what the node's line has already.
 */
export function countedConfiguration(
  nodes: readonly CountedNode[],
  gpuTypes: readonly string[],
): readonly ConfigurationLine[] {
  const types = [...new Set(gpuTypes)].filter((type) => type !== padType).toSorted();
  const tres = [
    "gres/gpu",
    ...types.map((type) => `gres/gpu:${type}`),
    `gres/${cardShareGres}`,
    `gres/${gpuMemoryGres}`,
  ];
  const slurm = (text: string): ConfigurationLine => ({ file: "slurm.conf", text });
  const gres = (text: string): ConfigurationLine => ({ file: "gres.conf", text });
  const counted = nodes
    .map(({ name, cards }) => ({ name, ...totalOf(cards) }))
    .filter((node) => node.cardShareUnits > 0);
  return [
    slurm(`GresTypes=gpu,${cardShareGres},${gpuMemoryGres}`),
    slurm(`AccountingStorageTRES=${tres.join(",")}`),
    slurm("JobSubmitPlugins=lua"),
    ...counted.map((node) =>
      slurm(
        `NodeName=${node.name} Gres=...,${cardShareGres}:${node.cardShareUnits},${gpuMemoryGres}:${node.memoryGiB}`,
      ),
    ),
    ...counted.flatMap((node) => [
      gres(`NodeName=${node.name} Name=${cardShareGres} Count=${node.cardShareUnits} Flags=CountOnly`),
      gres(`NodeName=${node.name} Name=${gpuMemoryGres} Count=${node.memoryGiB} Flags=CountOnly`),
    ]),
  ];
}

/** What a node declares: the sum over its cards of `mostOf`. */
export function totalOf(cards: readonly CountedCard[]): CardCounts {
  const counts = cards.map(mostOf);
  return {
    memoryGiB: counts.reduce((sum, { memoryGiB }) => sum + memoryGiB, 0),
    cardShareUnits: counts.reduce((sum, each) => sum + each.cardShareUnits, 0),
  };
}
