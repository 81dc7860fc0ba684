/** Carries out the moves of one group wave by wave, giving each open place to the mover whose leaving helps most. */
import {
  inNobodysWay,
  needsDivision,
  type OrderedGpu,
  type OrderedGroup,
  placeKey,
  type Settled,
  stateOf,
  type WaitingMover,
  type WantedPlace,
} from "./ordering-group.ts";
import { type Hole, Holes, isBare } from "./ordering-holes.ts";
import type { ExecutionMode, Move } from "./types.ts";

const onBorrowedGpu = 8;
/** The rank of those that alone are in the way of two places or more. */
const opensSeveral = 0;

interface Going {
  readonly mover: WaitingMover;
  readonly kind: "place" | "retarget" | "bounce";
  gpu: OrderedGpu;
  standing: Settled;
}

export interface GroupWaves {
  readonly moves: readonly Move[];
  readonly bounces: number;
  readonly stuck: readonly WaitingMover[];
  readonly borrowed: number;
}

function without<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}

export class WaveRunner {
  readonly #group: OrderedGroup;
  readonly #mode: ExecutionMode;
  readonly #holes: Holes;
  /** Open places by lot. */
  readonly #open: WantedPlace[][];
  /** By lot and rank; entries may be out of date. */
  readonly #waiting: WaitingMover[][][];
  /** By lot, how many wait that are in the way of a place. */
  readonly #inTheWay: number[];
  readonly #borrowed = new Set<OrderedGpu>();
  readonly #moves: Move[] = [];
  readonly #lotsWithOpen = new Set<number>();
  #blocked: WantedPlace[] = [];
  #going: Going[] = [];
  #left: number;
  #bounces = 0;
  #areHolesListed = false;

  constructor(group: OrderedGroup, mode: ExecutionMode, spareGpus: number) {
    this.#group = group;
    this.#mode = mode;
    this.#left = group.movers.length;
    const lots = Array.from({ length: group.lots }, (_, lot) => lot);
    this.#open = lots.map(() => []);
    this.#waiting = lots.map(() => Array.from({ length: inNobodysWay + 1 }, () => []));
    this.#inTheWay = lots.map(() => 0);
    this.#holes = new Holes(group.states, mode, (gpu) => this.#borrowed.has(gpu) || this.#borrowed.size < spareGpus);
  }

  run(): GroupWaves {
    this.#blocked = this.#group.gpus.flatMap(({ places }) => places);
    for (const mover of this.#group.movers) this.#waiting[mover.lot]?.[mover.rank]?.push(mover);
    for (const gpu of this.#group.gpus) this.#refresh(gpu);
    for (let wave = 1; this.#left > 0; wave++) {
      this.#giveOpenPlaces();
      if (this.#going.length === 0 && !this.#makeWay() && !this.#giveAny()) break;
      this.#carryOut(wave);
      if (this.#mode === "free-space") break;
    }
    const stuck = this.#group.movers.filter(({ isDone }) => !isDone);
    return { moves: this.#moves, bounces: this.#bounces, stuck, borrowed: this.#borrowed.size };
  }

  #add(state: number, { profile, start }: Settled): number {
    return state < 0 ? -1 : this.#group.states.add(state, profile, start);
  }

  /** Which places of the GPU can be made now, and who is in the way of the others. */
  #refresh(gpu: OrderedGpu): void {
    const open = gpu.places.filter(({ isOpen }) => isOpen);
    gpu.now = stateOf(this.#group.states, gpu.settled, gpu.movers, open);
    const mustDivide = this.#mode === "empty" && needsDivision(gpu);
    if (mustDivide && isBare(gpu)) gpu.existing = new Set(gpu.places.map((one) => placeKey(one.profile, one.start)));
    for (const place of gpu.places) {
      if (place.isOpen) continue;
      const next = mustDivide && !isBare(gpu) ? -1 : this.#add(gpu.now, place);
      place.isOpen = next >= 0;
      if (!place.isOpen) continue;
      gpu.now = next;
      this.#open[place.lot]?.push(place);
      this.#lotsWithOpen.add(place.lot);
    }
    for (const place of gpu.places) if (!place.isOpen) place.blockers = this.#blockersOf(place, mustDivide);
    this.#rank(gpu);
    if (this.#areHolesListed) this.#holes.list(gpu);
  }

  #blockersOf(place: WantedPlace, mustDivide: boolean): readonly WaitingMover[] | null {
    const { gpu } = place;
    if (gpu.final < 0 || (mustDivide && gpu.settled.length > 0)) return null;
    if (mustDivide) return [...gpu.movers];
    const { states } = this.#group;
    const found = gpu.movers.filter((mover) => this.#add(stateOf(states, [mover]), place) < 0);
    const others = gpu.movers.filter((mover) => !found.includes(mover));
    const open = gpu.places.filter(({ isOpen }) => isOpen);
    const isEnough = this.#add(stateOf(states, gpu.settled, others, open), place) >= 0;
    return isEnough ? found : [...gpu.movers];
  }

  #rank(gpu: OrderedGpu): void {
    for (const mover of gpu.movers) {
      if (mover.isLeaving) continue;
      let rank = gpu.role === "free" ? onBorrowedGpu : inNobodysWay;
      let opening = 0;
      for (const { isOpen, blockers } of gpu.places) {
        if (isOpen || blockers?.includes(mover) !== true) continue;
        const left = blockers.filter(({ isLeaving }) => !isLeaving).length;
        if (left === 1) opening += 1;
        rank = opening > 1 ? opensSeveral : Math.min(rank, left);
      }
      this.#setRank(mover, rank);
    }
  }

  #setRank(mover: WaitingMover, rank: number): void {
    if (rank === mover.rank) return;
    this.#count(mover, -1);
    mover.rank = rank;
    this.#count(mover, 1);
    this.#waiting[mover.lot]?.[rank]?.push(mover);
  }

  #count({ lot, rank }: WaitingMover, by: number): void {
    if (rank < onBorrowedGpu) this.#inTheWay[lot] = (this.#inTheWay[lot] ?? 0) + by;
  }

  #openLots(): readonly (readonly [number, WantedPlace[]])[] {
    const found: [number, WantedPlace[]][] = [];
    for (const lot of this.#lotsWithOpen) {
      const open = this.#open[lot] ?? [];
      if (open.length === 0) this.#lotsWithOpen.delete(lot);
      else found.push([lot, open]);
    }
    return found;
  }

  #next(lot: number, rank: number): WaitingMover | null {
    const list = this.#waiting[lot]?.[rank] ?? [];
    for (let mover = list.at(-1); mover !== undefined; mover = list.at(-1)) {
      if (mover.rank === rank && !mover.isLeaving && !mover.isDone) return mover;
      list.pop();
    }
    return null;
  }

  #allWaiting(lot: number, rank: number): readonly WaitingMover[] {
    const lists = this.#waiting[lot] ?? [];
    const list = (lists[rank] ?? []).filter((one) => one.rank === rank && !one.isLeaving && !one.isDone);
    lists[rank] = list;
    return list;
  }

  #go(mover: WaitingMover, kind: Going["kind"], gpu: OrderedGpu, standing: Settled): void {
    this.#count(mover, -1);
    mover.isLeaving = true;
    this.#going.push({ mover, kind, gpu, standing });
    this.#rank(mover.gpu);
  }

  /** Gives the mover an open place of its lot. */
  #give(mover: WaitingMover): void {
    const place = this.#open[mover.lot]?.pop();
    if (place === undefined) return;
    without(place.gpu.places, place);
    place.gpu.settled.push(place);
    this.#go(mover, "place", place.gpu, place);
  }

  #giveOpenPlaces(): void {
    do {
      while (this.#giveToLastInTheWay());
    } while (this.#giveToSomeTogether());
    for (const [lot, open] of this.#openLots()) {
      for (let spare = open.length - (this.#inTheWay[lot] ?? 0); spare > 0; spare--) {
        const mover = this.#next(lot, onBorrowedGpu) ?? this.#next(lot, inNobodysWay);
        if (mover === null) break;
        this.#give(mover);
      }
    }
  }

  /** To those that alone are still in the way of some place. */
  #giveToLastInTheWay(): boolean {
    let isAnyGiven = false;
    for (const [lot, open] of this.#openLots()) {
      while (open.length > 0) {
        const mover = this.#next(lot, opensSeveral) ?? this.#next(lot, 1);
        if (mover === null) break;
        this.#give(mover);
        isAnyGiven = true;
      }
    }
    return isAnyGiven;
  }

  /** To all that are in the way of one place, where there is an open place for each of them. */
  #giveToSomeTogether(): boolean {
    let isAnyGiven = false;
    for (const [lot, open] of this.#openLots()) {
      for (let rank = 2; rank < onBorrowedGpu && open.length > 0; rank++) {
        for (const mover of this.#allWaiting(lot, rank)) {
          if (open.length === 0) break;
          if (mover.rank !== rank || mover.isLeaving) continue;
          isAnyGiven = this.#giveToAllBeside(mover) || isAnyGiven;
        }
      }
    }
    return isAnyGiven;
  }

  #giveToAllBeside(mover: WaitingMover): boolean {
    for (const { isOpen, blockers } of mover.gpu.places) {
      if (isOpen || blockers?.includes(mover) !== true) continue;
      const going = blockers.filter(({ isLeaving }) => !isLeaving);
      const asked = (lot: number) => going.filter((one) => one.lot === lot).length;
      if (!going.every(({ lot }) => (this.#open[lot]?.length ?? 0) >= asked(lot))) continue;
      for (const one of going) this.#give(one);
      return true;
    }
    return false;
  }

  /** Where nothing else is left: one open place to whoever waits for it. */
  #giveAny(): boolean {
    for (const [lot, open] of this.#openLots()) {
      if (open.length === 0) continue;
      for (const rank of [8, 9, 0, 1, 2, 3, 4, 5, 6, 7]) {
        const mover = this.#next(lot, rank);
        if (mover === null) continue;
        this.#give(mover);
        return true;
      }
    }
    return false;
  }

  /** Opens the place that costs least: whoever is in its way goes to a hole, for good or for a stop. */
  #makeWay(): boolean {
    if (this.#mode === "free-space") return false;
    if (!this.#areHolesListed) for (const gpu of this.#group.gpus) this.#holes.list(gpu);
    this.#areHolesListed = true;
    this.#blocked = this.#blocked.filter((place) => !place.isOpen);
    const prices = this.#stopPrices();
    const found = this.#blocked
      .map((place) => ({ place, price: this.#priceOf(place, prices), rank: this.#usefulness(place) }))
      .filter(({ price }) => price < Number.POSITIVE_INFINITY)
      .sort((a, b) => a.rank - b.rank || a.price - b.price);
    return found.slice(0, 40).some(({ place }) => this.#clear(place));
  }

  /** By profile, how much of a mover's cost is paid for a hole: 0 where it stays, 1 for a stop, infinite without a hole. */
  #stopPrices(): readonly number[] {
    return this.#group.states.geometry.profiles.map((_, profile) => {
      if (this.#holes.find("stays", profile) !== null) return 0;
      return this.#stopFor(profile) === null ? Number.POSITIVE_INFINITY : 1;
    });
  }

  #priceOf({ blockers }: WantedPlace, prices: readonly number[]): number {
    if (blockers === null) return Number.POSITIVE_INFINITY;
    let price = 0;
    for (const mover of blockers) {
      const factor = (this.#open[mover.lot]?.length ?? 0) > 0 ? 0 : (prices[mover.profile] ?? 0);
      if (factor === 0) continue;
      if (!mover.mayBounce || mover.isBounced || factor > 1) return Number.POSITIVE_INFINITY;
      price += mover.move.cost;
    }
    return price;
  }

  /** 0 where another that is in somebody's way waits for the place, else 1. */
  #usefulness({ lot, blockers }: WantedPlace): number {
    const own = blockers?.filter((mover) => mover.lot === lot).length ?? 0;
    return (this.#inTheWay[lot] ?? 0) > own ? 0 : 1;
  }

  #clear(place: WantedPlace): boolean {
    const promised = new Map<number, number>();
    const toPlaces: WaitingMover[] = [];
    const toHoles: Going[] = [];
    for (const mover of (place.blockers ?? []).toSorted((a, b) => b.move.cost - a.move.cost)) {
      const taken = promised.get(mover.lot) ?? 0;
      promised.set(mover.lot, taken + 1);
      if (taken < (this.#open[mover.lot]?.length ?? 0)) {
        toPlaces.push(mover);
        continue;
      }
      const going = this.#reserveHole(mover);
      if (going === null) {
        for (const { gpu, standing } of toHoles.toReversed()) this.#release(gpu, standing);
        return false;
      }
      toHoles.push(going);
    }
    for (const { mover, kind, gpu, standing } of toHoles) this.#go(mover, kind, gpu, standing);
    for (const mover of toPlaces) this.#give(mover);
    return true;
  }

  #stopFor(profile: number): Hole | null {
    return this.#holes.find("emptied", profile) ?? this.#holes.find("free", profile);
  }

  #reserveHole(mover: WaitingMover): Going | null {
    const forGood = this.#holes.find("stays", mover.profile);
    const forAWhile = mover.mayBounce && !mover.isBounced && forGood === null;
    const stop = forAWhile ? this.#stopFor(mover.profile) : null;
    const hole = forGood ?? stop;
    if (hole === null) return null;
    const { gpu, start } = hole;
    const standing = { profile: mover.profile, start };
    if (gpu.role === "free") this.#borrowed.add(gpu);
    const isNew = !gpu.existing.has(placeKey(mover.profile, start));
    if (this.#mode === "empty" && isNew) gpu.existing = new Set([placeKey(mover.profile, start)]);
    gpu.settled.push(standing);
    this.#changed(gpu);
    return { mover, kind: forGood === null ? "bounce" : "retarget", gpu, standing };
  }

  #release(gpu: OrderedGpu, standing: Settled): void {
    without(gpu.settled, standing);
    if (gpu.role === "free" && isBare(gpu)) this.#borrowed.delete(gpu);
    this.#changed(gpu);
  }

  #changed(gpu: OrderedGpu): void {
    if (gpu.role === "stays") gpu.final = stateOf(this.#group.states, gpu.settled, gpu.places);
    this.#refresh(gpu);
  }

  /** Places of one wave and lot are exchanged to keep moves short: as asked, else within a host, else within a rack. */
  #shorten(): void {
    const byLot = Map.groupBy(
      this.#going.filter(({ kind }) => kind === "place"),
      ({ mover }) => mover.lot,
    );
    for (const going of byLot.values()) {
      let takers = going;
      let places = going.map(({ gpu, standing }) => ({ gpu, standing }));
      const keys: readonly ((host: string, rack: string | null, gpu: number, start: number) => string | null)[] = [
        (host, _, gpu, start) => `${gpu} ${start} ${host}`,
        (host) => host,
        (_, rack) => rack,
        () => "",
      ];
      for (const [round, keyOf] of keys.entries()) {
        const at = Map.groupBy(places, ({ gpu, standing }) => keyOf(gpu.host, gpu.rack, gpu.index, standing.start));
        takers = takers.filter((taker) => {
          const { to } = taker.mover.move;
          const { gpu } = taker.mover;
          const key = round === 0 ? keyOf(to.host, null, to.gpu, to.start) : keyOf(gpu.host, gpu.rack, 0, 0);
          const place = at.get(key)?.pop();
          if (place !== undefined) Object.assign(taker, place);
          return place === undefined;
        });
        places = [...at.values()].flat();
      }
    }
  }

  #carryOut(order: number): void {
    this.#shorten();
    const going = this.#going;
    this.#going = [];
    const changed = new Set<OrderedGpu>();
    for (const { mover, kind, gpu, standing } of going) {
      const { profile, cost, from } = mover.move;
      this.#moves.push({
        order,
        profile,
        cost,
        from: { host: mover.gpu.host, gpu: mover.gpu.index, instance: from.instance, start: mover.start },
        to: { host: gpu.host, gpu: gpu.index, start: standing.start },
      });
      without(mover.gpu.movers, mover);
      changed.add(mover.gpu);
      if (kind === "bounce") {
        this.#stop(mover, gpu, standing);
        changed.add(gpu);
      } else {
        mover.isDone = true;
        this.#left -= 1;
      }
    }
    for (const gpu of changed) this.#refresh(gpu);
  }

  #stop(mover: WaitingMover, gpu: OrderedGpu, standing: Settled): void {
    this.#bounces += 1;
    without(gpu.settled, standing);
    mover.gpu = gpu;
    mover.start = standing.start;
    mover.isBounced = true;
    mover.isLeaving = false;
    mover.rank = inNobodysWay;
    this.#waiting[mover.lot]?.[inNobodysWay]?.push(mover);
    gpu.movers.push(mover);
  }
}
