/** Keeps the scene in step with the stores, host by host: what did not change is neither computed nor painted again. */
import type { HostView } from "../../shared/api/snapshot.ts";
import type { Theme } from "../app/theme.ts";
import { type Language, useLanguageStore } from "../i18n/index.ts";
import { type ColouringState, occupiedName, profiles, tenants, useColouring } from "../stores/colouring.ts";
import { useFilter } from "../stores/filter.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { matchesOf } from "../topology/search.ts";
import { cachedCells, type HostCells } from "./cells.ts";
import { inksFor } from "./ink.ts";
import { type BoardLayout, type LayoutHost, layoutBoard } from "./layout.ts";
import { type BoardPalette, paletteOf } from "./palette.ts";
import { countsAlike, rackSummaryOf } from "./rack-summary.ts";
import type { HostMatch, Scene } from "./scene.ts";
import { lookOf, modelLine, type StateLook, type Tone, troubleOf } from "./state.ts";

interface HostEntry {
  readonly host: HostView;
  readonly cells: HostCells | null;
  readonly look: StateLook;
  readonly label: { readonly label: string; readonly tone: Tone } | null;
  readonly model: string;
  match: HostMatch | null;
}

export interface LiveScene extends Scene {
  /** Works out what changed hosts look like, ahead of the frame that shows them: parts of a snapshot come one by one. */
  take(): void;
  /** Takes over what the stores say now. Answers what has to be painted again. */
  update(): {
    readonly everything: boolean;
    readonly arranged: boolean;
    readonly hosts: readonly number[];
    /** Racks whose summary says something else. */
    readonly racks: readonly number[];
  };
  /** Ages in labels move on with the clock. Answers the hosts whose label changed. */
  tick(): readonly number[];
  setTheme(theme: Theme): void;
  /** The window has another shape: arranges the hosts anew. */
  arrange(viewWidth: number, viewHeight: number): void;
  rackSummary(rack: number): string;
  gpuUuid(hostIndex: number, gpu: number): string | null;
}

export function readPalette(theme: Theme): BoardPalette {
  const style = getComputedStyle(document.documentElement);
  return paletteOf(theme, (name) => style.getPropertyValue(name));
}

function entryOf(host: HostView, nowMs: number): HostEntry {
  const look = lookOf(host, nowMs);
  const trouble = look.body === "strips" && !look.faded ? troubleOf(host) : null;
  return {
    host,
    cells: host.inventory === null ? null : cachedCells(host.inventory, tenants, profiles),
    look,
    label: look.label === null ? trouble : { label: look.label, tone: look.tone },
    model: modelLine(host),
    match: null,
  };
}

function looksLike(a: HostEntry, b: HostEntry): boolean {
  return (
    a.host.inventory === b.host.inventory &&
    a.host.rack === b.host.rack &&
    a.host.name === b.host.name &&
    a.look.body === b.look.body &&
    a.look.faded === b.look.faded &&
    a.label?.label === b.label?.label &&
    a.label?.tone === b.label?.tone &&
    a.match === b.match
  );
}

function matchOf(entry: HostEntry): HostMatch | null {
  const { query } = useFilter.getState();
  if (query === null) return null;
  const found = matchesOf(entry.host, query);
  const { cells } = entry;
  if (cells === null) return { whole: found.whole, cells: new Uint8Array(), gpus: new Uint8Array([found.any ? 1 : 0]) };
  const gpus = Uint8Array.from(found.gpus, (gpu) => (gpu.any ? 1 : 0));
  const cellMatches = new Uint8Array(cells.cellStart.length);
  for (const [at, gpu] of found.gpus.entries()) {
    const from = cells.cellFrom[at] ?? 0;
    for (let cell = from; cell < (cells.cellFrom[at + 1] ?? 0); cell++) {
      const own = cells.cellInstance[cell] === -1 ? gpu.self : gpu.instances[cell - from];
      cellMatches[cell] = own === true ? 1 : 0;
    }
  }
  return { whole: found.whole, cells: cellMatches, gpus };
}

function coloursNow(): Pick<ColouringState, "mode" | "letters" | "order"> {
  const { mode, letters, order } = useColouring.getState();
  return { mode, letters, order };
}

export function createLiveScene(theme: Theme, viewWidth: number, viewHeight: number): LiveScene {
  const entries = new Map<string, HostEntry>();
  let ordered: (HostEntry | undefined)[] = [];
  let shape: readonly LayoutHost[] = [];
  let view = { width: viewWidth, height: viewHeight };
  let layout: BoardLayout = layoutBoard([], viewWidth, viewHeight);
  let palette = readPalette(theme);
  let painted = { theme, ...coloursNow() };
  let inks = inksFor(painted.mode, profiles);
  let query = useFilter.getState().query;
  let hostsBefore: ReadonlyMap<string, HostView> | null = null;
  let currentTheme = theme;
  /** By rack; made when they are painted. */
  let summaries: { layout: BoardLayout | null; language: Language | null; texts: Map<number, string> } = {
    layout: null,
    language: null,
    texts: new Map(),
  };

  const shapeNow = (): readonly LayoutHost[] => {
    const { hostIds, hosts } = useSnapshot.getState();
    // A host that has not answered yet will most likely have what its neighbours have: nothing jumps when it does.
    let expected = 0;
    for (const host of hosts.values()) expected = Math.max(expected, host.inventory?.gpus.length ?? 0);
    if (expected === 0) expected = 8;
    return hostIds.flatMap((id) => {
      const host = hosts.get(id);
      if (host === undefined) return [];
      return [{ id, rack: host.rack, gpuCount: host.inventory?.gpus.length ?? expected }];
    });
  };
  const sameShape = (a: readonly LayoutHost[], b: readonly LayoutHost[]) =>
    a.length === b.length &&
    a.every((host, at) => {
      const other = b[at];
      return other?.id === host.id && other.rack === host.rack && other.gpuCount === host.gpuCount;
    });
  const rearrange = () => {
    layout = layoutBoard(shape, view.width, view.height);
    ordered = layout.hostIds.map((id) => entries.get(id));
  };

  /** Taken over, but not shown by an `update` yet. */
  const changed = new Set<string>();
  const renewed = new Set<string>();
  const take = () => {
    const { hosts } = useSnapshot.getState();
    if (hosts === hostsBefore) return;
    const nowMs = Date.now();
    const fresh = [...hosts.values()].filter((host) => entries.get(host.id)?.host !== host);
    for (const host of fresh) {
      const before = entries.get(host.id);
      const entry = entryOf(host, nowMs);
      entry.match = matchOf(entry);
      entries.set(host.id, entry);
      // A heartbeat alone changes no pixel of a live host.
      if (before === undefined || !looksLike(before, entry)) changed.add(host.id);
      else renewed.add(host.id);
    }
    for (const id of entries.keys()) if (!hosts.has(id)) entries.delete(id);
    hostsBefore = hosts;
  };

  const scene: LiveScene = {
    take,
    get layout() {
      return layout;
    },
    get palette() {
      return palette;
    },
    get inks() {
      return inks;
    },
    get letters() {
      return painted.letters;
    },
    host: (index) => ordered[index]?.host,
    cells: (index) => ordered[index]?.cells ?? null,
    look: (index) => ordered[index]?.look ?? { label: null, tone: "calm", faded: false, body: "none" },
    label: (index) => ordered[index]?.label ?? null,
    model: (index) => ordered[index]?.model ?? "",
    match: (index) => ordered[index]?.match ?? null,
    cellText: (index, cell) => {
      const entry = ordered[index];
      if (entry === undefined || entry.cells === null) return "";
      const tenant = tenants.nameOf(entry.cells.cellTenant[cell] ?? 0);
      const profile = profiles.nameOf(entry.cells.cellProfile[cell] ?? 0) ?? "";
      if (tenant === null || tenant === occupiedName || (painted.mode === "profile" && profile !== "")) return profile;
      return `${tenant} ${profile}`.trim();
    },
    gpuUuid: (hostIndex, gpu) => ordered[hostIndex]?.host.inventory?.gpus[gpu]?.uuid ?? null,
    rackSummary: (at) => {
      const { language } = useLanguageStore.getState();
      if (summaries.layout !== layout || summaries.language !== language) {
        summaries = { layout, language, texts: new Map() };
      }
      const made = summaries.texts.get(at);
      if (made !== undefined) return made;
      const rack = layout.racks[at];
      const members = rack === undefined ? [] : ordered.slice(rack.from, rack.to);
      const text = rackSummaryOf(members.flatMap((entry) => (entry === undefined ? [] : [entry.host])));
      summaries.texts.set(at, text);
      return text;
    },
    update: () => {
      const { mode, letters, order } = coloursNow();
      let everything = false;
      const recoloured = mode !== painted.mode || letters !== painted.letters || order !== painted.order;
      if (currentTheme !== painted.theme || recoloured) {
        if (currentTheme !== painted.theme) palette = readPalette(currentTheme);
        painted = { theme: currentTheme, mode, letters, order };
        inks = inksFor(mode, profiles);
        everything = true;
      }
      const filterChanged = query !== useFilter.getState().query;
      query = useFilter.getState().query;
      take();
      if (filterChanged) {
        for (const entry of entries.values()) entry.match = matchOf(entry);
        everything = true;
      }
      const next = changed.size === 0 && entries.size === shape.length ? shape : shapeNow();
      const arranged = next !== shape && !sameShape(next, shape);
      if (arranged) {
        shape = next;
        rearrange();
        everything = true;
      }
      const indexes: number[] = [];
      const racks = new Set<number>();
      for (const id of changed) {
        const index = layout.indexOf.get(id);
        if (index === undefined) continue;
        const entry = entries.get(id);
        if (!countsAlike(ordered[index]?.host, entry?.host)) racks.add(layout.hostRack[index] ?? 0);
        ordered[index] = entry;
        indexes.push(index);
      }
      for (const id of renewed) {
        const index = layout.indexOf.get(id);
        if (index !== undefined) ordered[index] = entries.get(id);
      }
      changed.clear();
      renewed.clear();
      for (const rack of racks) summaries.texts.delete(rack);
      return { everything, arranged, hosts: indexes, racks: [...racks] };
    },
    tick: () => {
      const nowMs = Date.now();
      const moved: number[] = [];
      for (const [index, entry] of ordered.entries()) {
        if (entry === undefined || entry.look.label === null) continue;
        // Newer than what is shown: the next update says it.
        if (changed.has(entry.host.id) || renewed.has(entry.host.id)) continue;
        const next = entryOf(entry.host, nowMs);
        if (next.label?.label === entry.label?.label) continue;
        next.match = entry.match;
        entries.set(entry.host.id, next);
        ordered[index] = next;
        moved.push(index);
      }
      return moved;
    },
    setTheme: (next) => {
      currentTheme = next;
    },
    arrange: (width, height) => {
      view = { width, height };
      rearrange();
    },
  };
  return scene;
}
