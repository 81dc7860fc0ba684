/** Which instance goes to which place of a selection. */

import type { SelectionColumns } from "./selection-columns.ts";
import { fillingsOf, freed, type ModelGpu, type Mover } from "./selection-model.ts";
import type { Chosen } from "./selection-search.ts";
import type { Move } from "./types.ts";

/** A move of which nothing is said yet about when it may run: its place may still be held by another that moves. */
export type UnorderedMove = Omit<Move, "order">;

export interface Leaving {
  readonly gpu: ModelGpu;
  readonly mover: Mover;
  readonly row: number;
  isPlaced: boolean;
}

export interface Place {
  readonly gpu: ModelGpu;
  readonly row: number;
  readonly start: number;
  /** Whether something stays on the GPU anyway. */
  readonly isHeld: boolean;
  isTaken: boolean;
}

export function leavingAndPlaces(columns: SelectionColumns, chosen: Chosen) {
  const leaving: Leaving[] = [];
  const places: Place[] = [];
  const used = new Map<number, number>();
  for (const number of chosen.columns) {
    const { owner, kept, filling } = columns.columns[number] ?? { owner: -1, kept: 0, filling: freed };
    const one = columns.model.classes[owner];
    const gpu = one?.gpus[used.get(owner) ?? 0];
    if (one === undefined || gpu === undefined) continue;
    used.set(owner, (used.get(owner) ?? 0) + 1);
    for (const [at, mover] of gpu.movers.entries()) {
      if ((kept & (1 << at)) !== 0) continue;
      leaving.push({ gpu, mover, row: one.group.rows.get(mover.profile) ?? 0, isPlaced: false });
    }
    const firstRow = Math.min(...one.group.rows.values());
    const isHeld = one.states[kept] !== one.group.states.empty;
    const slots = filling === freed ? [] : (fillingsOf(one, kept)[filling]?.slots ?? []);
    for (const { kind, start } of slots) places.push({ gpu, row: firstRow + kind, start, isHeld, isTaken: false });
  }
  // Places on GPUs that stay in use come first: what is not needed is then free.
  return { leaving, places: places.sort((a, b) => Number(b.isHeld) - Number(a.isHeld)) };
}

export function moveTo({ gpu, mover }: Leaving, to: Place): UnorderedMove {
  const { instance, start, profileName: profile, cost } = mover;
  return {
    profile,
    cost,
    from: { host: gpu.host, gpu: gpu.index, instance, start },
    to: { host: to.gpu.host, gpu: to.gpu.index, start: to.start },
  };
}

function matchBy(
  leaving: readonly Leaving[],
  places: readonly Place[],
  keyOf: (gpu: ModelGpu, start: number) => string,
  found: (from: Leaving, to: Place) => void,
): void {
  const open = Map.groupBy(
    places.filter(({ isTaken }) => !isTaken).toReversed(),
    ({ row, gpu, start }) => `${row} ${keyOf(gpu, start)}`,
  );
  for (const from of leaving) {
    if (from.isPlaced) continue;
    const to = open.get(`${from.row} ${keyOf(from.gpu, from.mover.start)}`)?.pop();
    if (to === undefined) continue;
    from.isPlaced = true;
    to.isTaken = true;
    found(from, to);
  }
}

/**
 * A place of its profile for every instance that leaves one: on the same GPU, host or rack where there is one, else anywhere.
 * The moves are in no order that could be carried out. What would get the place where it stands does not move.
 */
export function matchMoves(columns: SelectionColumns, chosen: Chosen): readonly UnorderedMove[] {
  const { leaving, places } = leavingAndPlaces(columns, chosen);
  const moves: UnorderedMove[] = [];
  const move = (from: Leaving, to: Place) => {
    moves.push(moveTo(from, to));
  };
  const gpuKey = ({ host, index }: ModelGpu) => JSON.stringify([host, index]);
  matchBy(
    leaving,
    places,
    (gpu, start) => `${gpuKey(gpu)} ${start}`,
    () => undefined,
  );
  matchBy(leaving, places, gpuKey, move);
  matchBy(leaving, places, ({ host }) => host, move);
  matchBy(leaving, places, ({ rack }) => JSON.stringify(rack), move);
  matchBy(leaving, places, () => "", move);
  return moves;
}
