/** What an operator does to limits: writes into a cell, changes many rows at once, copies a tenant, reads a file. Pure. */
import type { QuotaNodeView } from "../../shared/protocol/control.ts";
import {
  add,
  changesBetween,
  type Fraction,
  type LimitEdit,
  type LimitFault,
  type Limits,
  type LimitsCsvError,
  type LimitsCsvHeaders,
  limitsFromCsv,
  limitsToCsv,
  multiply,
  type Period,
  parseLimits,
  type QuotaTree,
  type TreeNode,
  toWords,
} from "../../shared/quota/index.ts";
import { ownLimits, type QuotaDraft } from "./draft.ts";
import type { QuotaColumn, QuotaModel } from "./model.ts";

export type Written =
  | { readonly ok: true; readonly limits: Limits }
  | { readonly ok: false; readonly fault: LimitFault };

function without(limits: Limits, column: QuotaColumn): Limits {
  const { [column]: _, ...rest } = limits;
  return rest;
}

/** Only what was written is refused, never what stood there before. */
function checked(limits: Limits, column: QuotaColumn, value: unknown): Written {
  const parsed = parseLimits({ [column]: value });
  if (!parsed.ok) return { ok: false, fault: parsed.refusals[0]?.fault ?? "not-a-number" };
  return { ok: true, limits: { ...limits, ...parsed.value } };
}

const hoursWritten = /^([-\d\s./]*\d)\s*\/\s*([a-z]+)(?:\s+(\S+))?$/i;

/** `1000 / month Asia/Shanghai`; where no period is written, the one that stands. */
function cardHoursOf(text: string, standing: Period): unknown {
  const [, hours, kind, timeZone] = hoursWritten.exec(text) ?? [];
  if (kind === undefined) return { hours: text, period: standing };
  const zone = timeZone ?? ("timeZone" in standing ? standing.timeZone : undefined);
  const period = kind.toLowerCase();
  return { hours, period: period === "none" ? { kind: "none" } : { kind: period, timeZone: zone } };
}

/**
 * Limits after a text was written into a cell: `8`, `3.5`, `3/7`, of card-hours `1000 / month Asia/Shanghai`; an empty text is
 * no limit. `period` is for card-hours that have none yet.
 */
export function writeCell(limits: Limits, column: QuotaColumn, text: string, period: Period): Written {
  const trimmed = text.trim();
  if (trimmed === "") return { ok: true, limits: without(limits, column) };
  if (column !== "cardHours") return checked(limits, column, trimmed);
  return checked(limits, column, cardHoursOf(trimmed, limits.cardHours?.period ?? period));
}

/** Limits after a number was written for a GPU type; an empty text takes its limit away, and the others stay. */
export function writeGpuType(limits: Limits, gpuType: string, text: string): Written {
  const { gpuTypes: standing = {}, ...rest } = limits;
  const { [gpuType]: _, ...others } = standing;
  const parsed = text.trim() === "" ? null : parseLimits({ gpuTypes: { [gpuType]: text.trim() } });
  if (parsed !== null && !parsed.ok) return { ok: false, fault: parsed.refusals[0]?.fault ?? "not-a-number" };
  const gpuTypes = { ...others, ...parsed?.value.gpuTypes };
  return { ok: true, limits: Object.keys(gpuTypes).length === 0 ? rest : { ...rest, gpuTypes } };
}

/** The text of a cell as `writeCell` reads it back. */
export function cellText(limits: Limits, column: QuotaColumn): string {
  if (column !== "cardHours") {
    const amount = limits[column];
    return amount === undefined ? "" : toWords(amount);
  }
  if (limits.cardHours === undefined) return "";
  const { hours, period } = limits.cardHours;
  return `${toWords(hours)} / ${period.kind}${period.kind === "none" ? "" : ` ${period.timeZone}`}`;
}

export type BulkChange =
  | { readonly kind: "set"; readonly text: string; readonly period: Period }
  | { readonly kind: "add" | "multiply"; readonly amount: Fraction }
  | { readonly kind: "clear" };

function changed(limits: Limits, column: QuotaColumn, change: BulkChange): Written {
  if (change.kind === "set") return writeCell(limits, column, change.text, change.period);
  if (change.kind === "clear") return { ok: true, limits: without(limits, column) };
  const combine = change.kind === "add" ? add : multiply;
  if (column === "cardHours") {
    const { cardHours } = limits;
    if (cardHours === undefined) return { ok: true, limits };
    return checked(limits, column, { ...cardHours, hours: combine(cardHours.hours, change.amount) });
  }
  const standing = limits[column];
  return standing === undefined ? { ok: true, limits } : checked(limits, column, combine(standing, change.amount));
}

export interface BulkOutcome {
  readonly edits: readonly LimitEdit[];
  /** Left as they are: the result would be no limit that can be kept. */
  readonly refused: readonly { readonly subject: string; readonly fault: LimitFault }[];
}

/** The same change of one column in many rows. What has no limit is neither added to nor multiplied. */
export function bulkEdit(
  model: QuotaModel,
  draft: QuotaDraft,
  subjects: readonly string[],
  column: QuotaColumn,
  change: BulkChange,
): BulkOutcome {
  const edits: LimitEdit[] = [];
  const refused: BulkOutcome["refused"][number][] = [];
  for (const subject of subjects) {
    const written = changed(ownLimits(model, draft, subject), column, change);
    if (written.ok) edits.push({ nodeId: subject, limits: written.limits });
    else refused.push({ subject, fault: written.fault });
  }
  return { edits, refused };
}

function childrenOf(tree: QuotaTree, id: string): readonly TreeNode[] {
  const node = tree.nodes[tree.positions.get(id) ?? -1];
  return (node?.children ?? []).flatMap((position) => tree.nodes[position] ?? []);
}

export interface CopyOutcome {
  readonly edits: readonly LimitEdit[];
  /** Below the target, without a namesake at the source: left as they are. */
  readonly unmatched: readonly string[];
}

/**
 * The limits of one tenant for another, level by level: the tenant's own, projects by their name, people by their name in
 * projects that match. Limits drafted at the source are copied as drafted; those that no name matches stay.
 */
export function copyTenant(model: QuotaModel, draft: QuotaDraft, sourceId: string, targetId: string): CopyOutcome {
  const edits: LimitEdit[] = [];
  const unmatched: string[] = [];
  const nameOf = (id: string): string => (model.nodes.get(id)?.name ?? id).trim().toLowerCase();
  const copy = (source: string, target: string): void => {
    edits.push({ nodeId: target, limits: ownLimits(model, draft, source) });
    const namesakes = new Map(childrenOf(model.tree, source).map(({ id }) => [nameOf(id), id]));
    for (const { id } of childrenOf(model.tree, target)) {
      const namesake = namesakes.get(nameOf(id));
      if (namesake === undefined) unmatched.push(id);
      else copy(namesake, id);
    }
  };
  copy(sourceId, targetId);
  return { edits, unmatched };
}

/** Tenants whose limits others may take, by name; one without a name could not be told from others. */
export function copySources({ nodes }: Pick<QuotaModel, "nodes">): readonly QuotaNodeView[] {
  return [...nodes.values()]
    .filter(({ level, name }) => level === "tenant" && /[^\s\p{C}\p{Z}]/u.test(name))
    .sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true, sensitivity: "base" }));
}

export function toCsv(
  model: QuotaModel,
  draft: QuotaDraft,
  subjects: readonly string[],
  headers?: LimitsCsvHeaders,
): string {
  const rows = subjects.flatMap((subject) => {
    const node = model.nodes.get(subject);
    return node === undefined
      ? []
      : [{ nodeId: subject, level: node.level, name: node.name, limits: ownLimits(model, draft, subject) }];
  });
  return limitsToCsv(rows, headers);
}

export type CsvPreview =
  | {
      readonly ok: true;
      /** Only those that the caller may make. */
      readonly edits: readonly LimitEdit[];
      /** In the file, and not the caller's to change. */
      readonly notAllowed: readonly string[];
    }
  | { readonly ok: false; readonly errors: readonly LimitsCsvError[] };

/** What a file would change; a file with any fault changes nothing. */
export function previewCsv(
  model: QuotaModel,
  draft: QuotaDraft,
  file: string,
  isAllowed: (subject: string) => boolean,
  headers?: LimitsCsvHeaders,
): CsvPreview {
  const read = limitsFromCsv(file, model.tree, headers);
  if (!read.ok) return read;
  const differing = read.edits.filter(({ nodeId, limits }) => {
    const standing = ownLimits(model, draft, nodeId);
    return changesBetween(standing, limits).length > 0;
  });
  return {
    ok: true,
    edits: differing.filter(({ nodeId }) => isAllowed(nodeId)),
    notAllowed: differing.map(({ nodeId }) => nodeId).filter((nodeId) => !isAllowed(nodeId)),
  };
}
