/** The parts of a layout, each with what the greedy drain does there. */
import { geometryFor } from "../mig/index.ts";
import { greedyDrain } from "./drain.ts";
import { freeGpuBounds } from "./free-gpu-bound.ts";
import type { UnorderedMove } from "./matching.ts";
import type { MovingLimits } from "./movable.ts";
import { groupKeyOf, selectionParts } from "./selection-model.ts";
import { type DrainStep, type PartPlan, SelectionPart } from "./selection-part.ts";
import { leastOf } from "./selection-split.ts";
import type { ClusterLayout } from "./types.ts";

export const gpuKey = (host: string, gpu: number) => JSON.stringify([host, gpu]);

/** The greedy drain GPU by GPU, by pool and model. */
function drainSteps(layout: ClusterLayout, limits: MovingLimits): ReadonlyMap<string, readonly DrainStep[]> {
  const groups = new Map(
    layout.hosts.flatMap((host) =>
      host.gpus.flatMap(({ model, index }): (readonly [string, string])[] => {
        const geometry = geometryFor({ name: model });
        return geometry === null ? [] : [[gpuKey(host.name, index), groupKeyOf(host, geometry)]];
      }),
    ),
  );
  const moves = greedyDrain(layout, { ...limits, price: null, maxMoves: null, maxCost: null });
  const byGpu = Map.groupBy(moves, ({ from }) => gpuKey(from.host, from.gpu));
  const steps = [...byGpu].map(([gpu, own]) => ({
    group: groups.get(gpu) ?? "",
    cost: own.reduce((sum, { cost }) => sum + cost, 0),
    moves: own.map(({ order: _, ...move }): UnorderedMove => move),
  }));
  return Map.groupBy(steps, ({ group }) => group);
}

/** The parts of a layout, and the free GPUs outside them. */
export function partsOf(layout: ClusterLayout, limits: MovingLimits, nodeLimit: number) {
  const { models, freeElsewhere } = selectionParts(layout, limits);
  const { byGroup } = freeGpuBounds(layout, limits);
  const drain = drainSteps(layout, limits);
  const parts = [...models].map(
    ([key, model]) => new SelectionPart(model, byGroup.get(key) ?? 0, drain.get(key) ?? [], nodeLimit),
  );
  return { parts, freeElsewhere };
}

/** The drain alone, where it reaches so many: GPU by GPU, the cheapest first. */
export function drainedFor(parts: readonly SelectionPart[], wanted: number): readonly PartPlan[] | null {
  const steps = parts.flatMap((part) => part.drainSteps).toSorted((a, b) => a.cost - b.cost);
  const needed = wanted - leastOf(parts);
  return needed > steps.length ? null : steps.slice(0, needed).map((step) => ({ ...step, foundBy: "drain" }));
}
