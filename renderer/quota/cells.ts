/**
 * What a row of the table shows, and the same value as before where it shows the same: a draft changes a few cells of
 * many, and the rest need not be drawn again.
 */
import { type Fraction, isEqual, type Limits } from "../../shared/quota/index.ts";
import { same } from "../../shared/snapshot/same.ts";
import { maySeeFigures, ownLimits } from "./draft.ts";
import type { Look } from "./look.ts";
import { cellOf, type QuotaCell, type QuotaColumn, quotaColumns } from "./model.ts";

export interface TableCellFacts extends QuotaCell {
  readonly column: QuotaColumn;
  readonly isDrafted: boolean;
  /** Not told to the caller: none of the figures is shown. */
  readonly isUnseen: boolean;
  /** How much of the limit that counts is in use, in percent; null where nobody limits it. */
  readonly share: number | null;
}

export interface TableRowFacts {
  readonly isDrafted: boolean;
  readonly mayEdit: boolean;
  readonly cells: readonly TableCellFacts[];
}

function shareOf(cell: QuotaCell): number | null {
  const limit = cell.boundBy?.limit ?? cell.limit;
  if (limit === null) return null;
  const [used, most] = [cell.used, limit].map(({ numerator, denominator }) => numerator / denominator);
  if (used === undefined || most === undefined) return null;
  return most === 0 ? (used > 0 ? 101 : 0) : (used / most) * 100;
}

function isDrafted(before: Limits, now: Limits, column: QuotaColumn): boolean {
  const amount = (limits: Limits): Fraction | undefined =>
    column === "cardHours" ? limits.cardHours?.hours : limits[column];
  const [old, wanted] = [amount(before), amount(now)];
  if (old === undefined || wanted === undefined) return old !== wanted;
  const [from, to] = [before.cardHours?.period, now.cardHours?.period];
  return !isEqual(old, wanted) || (column === "cardHours" && JSON.stringify(from) !== JSON.stringify(to));
}

function factsOf(look: Look, id: string): TableRowFacts {
  const { model, tree, draft } = look;
  const limits = ownLimits(model, draft, id);
  const standing = model.nodes.get(id)?.limits ?? {};
  return {
    isDrafted: draft.has(id),
    mayEdit: look.mayEdit(id),
    cells: quotaColumns.map((column) => {
      const cell = cellOf(tree, limits, id, column);
      const drafted = draft.has(id) && isDrafted(standing, limits, column);
      const isUnseen = !maySeeFigures(look.me, id);
      return { ...cell, column, isDrafted: drafted, isUnseen, share: isUnseen ? null : shareOf(cell) };
    }),
  };
}

/** The facts before, cell by cell, where the new ones say the same. */
function kept(before: TableRowFacts, now: TableRowFacts): TableRowFacts {
  const cells = now.cells.map((cell, index) => {
    const old = before.cells[index];
    return old !== undefined && same(old, cell) ? old : cell;
  });
  const isSame =
    before.isDrafted === now.isDrafted &&
    before.mayEdit === now.mayEdit &&
    cells.every((cell, index) => cell === before.cells[index]);
  return isSame ? before : { ...now, cells };
}

export type RowFactsOf = (look: Look, id: string) => TableRowFacts;

/** Facts of the rows that were asked for, found once for a look. */
export function createRowFacts(): RowFactsOf {
  let model: Look["model"] | null = null;
  const found = new Map<string, { readonly look: Look; readonly facts: TableRowFacts }>();
  return (look, id) => {
    // Another answer may be of other rows.
    if (model !== look.model) found.clear();
    model = look.model;
    const before = found.get(id);
    if (before?.look === look) return before.facts;
    const now = factsOf(look, id);
    const facts = before === undefined ? now : kept(before.facts, now);
    found.set(id, { look, facts });
    return facts;
  };
}
