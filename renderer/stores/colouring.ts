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

/** By whom a colour is chosen: the tenant, or whoever is known where the host has no tenants. */
export function colouredBy(holder: Holder): string {
  return holder.tenant ?? holder.project ?? holder.user ?? "?";
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

/**
 * The ledger's tenants come first, in the order in which they were made, so that each has the same hue on every
 * console. Names that only hosts know follow.
 */
export function meetLedger(made: readonly { readonly displayName: string; readonly createdAt: string }[]): void {
  const oldestFirst = made.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
  const first = [...new Set(oldestFirst.map(({ displayName }) => tenants.idOf(displayName)))];
  const others = Array.from({ length: tenants.size }, (_, at) => at + 1).filter((id) => !first.includes(id));
  const next: number[] = [];
  for (const [place, id] of [...first, ...others].entries()) next[id] = place;
  if (next.length === places.length && next.every((place, id) => places[id] === place)) return;
  places = next;
  useColouring.setState(({ order }) => ({ order: order + 1 }));
}

export interface TenantMark {
  /** 1 to 6, the token `--tenant-N`. */
  readonly hue: number;
  /** 0 for the first six; from there on the hue repeats and a mark tells the tenants apart. */
  readonly mark: number;
}

export function markOf(tenantId: number): TenantMark {
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
