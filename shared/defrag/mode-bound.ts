/** How many GPUs of a model could be free at most in the mode that it was made for. */
import { SelectionColumns } from "./selection-columns.ts";
import { relax } from "./selection-lp.ts";
import type { SelectionModel } from "./selection-model.ts";
import { wholeProblem } from "./selection-search.ts";

/** The linear relaxation of the selection, its objective the number of free GPUs, rounded down; proven by its prices. */
export function modeBound(model: SelectionModel): number {
  const columns = new SelectionColumns(model, "free-gpus");
  return Math.floor(1e-6 - relax(columns, wholeProblem(columns, 0)).bound);
}
