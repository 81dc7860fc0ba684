/** What the operator looks for. Everything that does not match is dimmed on the board and left out of the table. */
import { create } from "zustand";
import { parseQuery, type Query } from "../topology/query.ts";

export interface FilterState {
  readonly text: string;
  readonly query: Query | null;
  setText(text: string): void;
}

export const useFilter = create<FilterState>((set) => ({
  text: "",
  query: null,
  setText: (text) => set({ text, query: parseQuery(text) }),
}));
