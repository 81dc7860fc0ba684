/** Which instance goes to which place where no GPU may take back what leaves it: it has to be empty before it is divided. */
import { type Leaving, leavingAndPlaces, moveTo, type Place, type UnorderedMove } from "./matching.ts";
import type { SelectionColumns } from "./selection-columns.ts";
import type { Chosen } from "./selection-search.ts";

interface Pair {
  readonly from: Leaving;
  to: Place;
}

/** The nearest place on another GPU: of the same host, of the same rack, any. */
function takeNearest(from: Leaving, places: Place[]): Place | null {
  const isElsewhere = ({ gpu }: Place) => gpu !== from.gpu;
  const isNear: readonly ((place: Place) => boolean)[] = [
    ({ gpu }) => gpu.host === from.gpu.host,
    ({ gpu }) => gpu.rack === from.gpu.rack,
    () => true,
  ];
  for (const near of isNear) {
    const at = places.findIndex((place) => isElsewhere(place) && near(place));
    if (at >= 0) return places.splice(at, 1)[0] ?? null;
  }
  return null;
}

/** What only finds places on its own GPU changes with another that may go there. */
function exchange(from: Leaving, places: Place[], pairs: Pair[]): Pair | null {
  const own = places.findIndex(({ gpu }) => gpu === from.gpu);
  const other = pairs.find((pair) => pair.from.gpu !== from.gpu && pair.to.gpu !== from.gpu);
  const [place] = own < 0 || other === undefined ? [] : places.splice(own, 1);
  if (place === undefined || other === undefined) return null;
  const pair: Pair = { from, to: other.to };
  other.to = place;
  return pair;
}

/** Places on GPUs that stay in use come first. Null where something finds a place only on the GPU that it leaves. */
export function matchBetweenGpus(columns: SelectionColumns, chosen: Chosen): readonly UnorderedMove[] | null {
  const { leaving, places } = leavingAndPlaces(columns, chosen);
  const open = Map.groupBy(places, ({ row }) => row);
  const moves: UnorderedMove[] = [];
  for (const [row, all] of Map.groupBy(leaving, (one) => one.row)) {
    const left = open.get(row) ?? [];
    const pairs: Pair[] = [];
    for (const from of all) {
      const to = takeNearest(from, left);
      const pair = to === null ? exchange(from, left, pairs) : { from, to };
      if (pair === null) return null;
      pairs.push(pair);
    }
    moves.push(...pairs.map(({ from, to }) => moveTo(from, to)));
  }
  return moves;
}
