/** What the operator has open in the view of quotas: rows, filter, cursor, the cell being written. One for a cluster. */
import { createStore, type StoreApi } from "zustand/vanilla";
import type { LimitFault } from "../../shared/quota/index.ts";
import type { QuotaFilter } from "./model.ts";
import { nothingSelected, type QuotaSelection } from "./selection.ts";

export interface CellWriting {
  readonly text: string;
  /** Why what is written is no limit. */
  readonly fault: LimitFault | null;
}

export interface ReadFile {
  readonly name: string;
  readonly content: string;
}

export interface DeskState {
  readonly expanded: ReadonlySet<string>;
  readonly search: string;
  readonly filter: QuotaFilter;
  readonly selection: QuotaSelection;
  /** In the cell of the cursor. */
  readonly writing: CellWriting | null;
  /** A file of limits that is being looked at before it is taken. */
  readonly file: ReadFile | null;
  /** The engine's findings and differences in place of the table. */
  readonly showsEngine: boolean;
}

export type Desk = StoreApi<DeskState>;

export function createDesk(): Desk {
  return createStore<DeskState>(() => ({
    expanded: new Set(["cluster"]),
    search: "",
    filter: "all",
    selection: nothingSelected,
    writing: null,
    file: null,
    showsEngine: false,
  }));
}

const desks = new Map<string, Desk>();

export function deskFor(clusterId: string): Desk {
  const desk = desks.get(clusterId) ?? createDesk();
  desks.set(clusterId, desk);
  return desk;
}

export function setExpanded(desk: Desk, ids: Iterable<string>, open: boolean): void {
  const expanded = new Set(desk.getState().expanded);
  for (const id of ids) {
    if (open) expanded.add(id);
    else expanded.delete(id);
  }
  desk.setState({ expanded });
}
