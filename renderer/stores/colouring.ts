/** What the colours of the board mean, and which hue a tenant has. */
import { create } from "zustand";
import type { HostView } from "../../shared/api/snapshot.ts";
import type { Holder } from "../../shared/protocol/inventory.ts";

export const colourModes = ["tenant", "profile", "use", "memory", "temperature", "health"] as const;
export type ColourMode = (typeof colourModes)[number];

export interface ColouringState {
  readonly mode: ColourMode;
  /** The first letters of the tenant or profile in every slice that has room for them. */
  readonly letters: boolean;
  /** Counts how often the ledger put the tenants into another order: whoever shows a hue looks it up again. */
  readonly order: number;
  setMode(mode: ColourMode): void;
  toggleLetters(): void;
}

export const useColouring = create<ColouringState>((set) => ({
  mode: "tenant",
  letters: false,
  order: 0,
  setMode: (mode) => set({ mode }),
  toggleLetters: () => set((state) => ({ letters: !state.letters })),
}));

export const hueCount = 6;

/** Names with a number each, from 1, in the order in which they were met; 0 is nobody. A number is never given to another name. */
export interface Names {
  idOf(name: string): number;
  nameOf(id: number): string | null;
  readonly size: number;
}

export function createNames(): Names {
  const ids = new Map<string, number>();
  const names: string[] = [];
  return {
    idOf: (name) => {
      const known = ids.get(name);
      if (known !== undefined) return known;
      names.push(name);
      ids.set(name, names.length);
      return names.length;
    },
    nameOf: (id) => names[id - 1] ?? null,
    get size() {
      return names.length;
    },
  };
}

/** Those who hold something, across the session: a tenant keeps its hue while the console is open. */
export const tenants = createNames();
export const profiles = createNames();

/** Held by somebody of whom nothing is known: all that leads and members learn of others. */
export const occupiedName = "?";

/** By whom a colour is chosen: the tenant, or whoever is known where the host has no tenants. */
export function colouredBy(holder: Pick<Holder, "tenant" | "project" | "user">): string {
  return holder.tenant ?? holder.project ?? holder.user ?? occupiedName;
}

/**
 * New tenants are numbered by name and before any view asks for one of them, so that a cluster looks the same at each
 * start and whichever view is opened first. Of hosts that did not change since `before` all are known.
 */
export function meetTenants(hosts: ReadonlyMap<string, HostView>, before: ReadonlyMap<string, HostView>): void {
  const names = new Set<string>();
  const meet = (holder: Holder | null) => {
    if (holder !== null) names.add(colouredBy(holder));
  };
  for (const [hostId, { inventory }] of hosts) {
    if (inventory === null || inventory === before.get(hostId)?.inventory) continue;
    for (const gpu of inventory.gpus) {
      meet(gpu.holder);
      for (const instance of gpu.instances) meet(instance.holder);
    }
  }
  for (const name of [...names].sort()) tenants.idOf(name);
}

/** Which hue a tenant's number leads to, where the ledger has an order; numbers themselves never change. */
let places: readonly number[] = [];

interface Made {
  readonly displayName: string;
  readonly createdAt: string;
  /** Among all tenants, those included that the operator does not see. */
  readonly place?: number;
}

/**
 * The ledger's tenants have the places of the order in which they were made, so that each has the same hue on every
 * console, whoever is logged in. Names that only hosts know take what is left.
 */
export function meetLedger(made: readonly Made[]): void {
  const oldestFirst = made.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
  const next: number[] = [];
  const taken = new Set<number>();
  for (const [at, { displayName, place = at }] of oldestFirst.entries()) {
    next[tenants.idOf(displayName)] = place;
    taken.add(place);
  }
  let free = 0;
  for (let id = 1; id <= tenants.size; id += 1) {
    if (next[id] !== undefined || tenants.nameOf(id) === occupiedName) continue;
    while (taken.has(free)) free += 1;
    next[id] = free;
    free += 1;
  }
  if (next.length === places.length && next.every((place, id) => places[id] === place)) return;
  places = next;
  useColouring.setState(({ order }) => ({ order: order + 1 }));
}

export interface TenantMark {
  /** 1 to 6, the token `--tenant-N`; 0 is the quiet one of what is only known to be occupied. */
  readonly hue: number;
  /** 0 for the first six; from there on the hue repeats and a mark tells the tenants apart. */
  readonly mark: number;
}

const quiet: TenantMark = { hue: 0, mark: 0 };

export function markOf(tenantId: number): TenantMark {
  if (tenants.nameOf(tenantId) === occupiedName) return quiet;
  // Whoever is met after the ledger's order was read has a number past all places.
  const at = places[tenantId] ?? Math.max(0, tenantId - 1);
  return { hue: (at % hueCount) + 1, mark: Math.floor(at / hueCount) % 4 };
}

/** For DOM views: the hue and mark of a tenant by name. */
export function tenantMark(name: string): TenantMark {
  return markOf(tenants.idOf(name));
}

/** The hue of a profile, by its compute slices; `1g.10gb` and `1g.10gb+me` share one. */
export function profileHue(profile: string): number {
  const computeSlices = Number.parseInt(profile, 10);
  return { 1: 1, 2: 3, 3: 5, 4: 2, 7: 4 }[computeSlices] ?? 6;
}
