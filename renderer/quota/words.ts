/** Limits, usage and what a draft would do, in words. */
import type { Enforcement, QuotaAnswer } from "../../shared/protocol/control.ts";
import {
  expectedColumns,
  type Fraction,
  type Impact,
  type LimitChange,
  type LimitFault,
  type LimitsCsvError,
  partsOfResource,
  type QuotaLevel,
  type Resource,
  type Rounding,
  toWords,
} from "../../shared/quota/index.ts";
import type { Format } from "../i18n/format.ts";
import type { MessageKey, Translate } from "../i18n/index.ts";
import { decimalText } from "../requests/words.ts";
import type { QuotaCell, QuotaColumn, QuotaModel } from "./model.ts";

/** A figure as every part of the view has it: at most two decimals, limits rounded down and usage up. */
export function amountWords(format: Format, amount: Fraction, rounding: Rounding): string {
  return format.number(Number(decimalText(amount, rounding)), 2);
}

const units: Readonly<Record<QuotaColumn, MessageKey>> = {
  cards: "quota.unit-cards",
  gpuMemoryGiB: "quota.unit-gpuMemoryGiB",
  cpuCores: "quota.unit-cpuCores",
  memoryGiB: "quota.unit-memoryGiB",
  cardHours: "quota.unit-cardHours",
};

/** `4 cards`, `1 2/7 cards`: exact, for tooltips. */
export function exactWords(t: Translate, resource: Resource, amount: Fraction): string {
  return measuredWords(t, resource, amount, toWords(amount));
}

function measuredWords(t: Translate, resource: Resource, amount: Fraction, value: string): string {
  const parts = partsOfResource(resource);
  if (parts === null) return value;
  if (parts.kind === "gpuType") return t("quota.unit-gpuType", { value, type: parts.gpuType });
  return unitWords(t, parts.kind, amount, value);
}

/** A figure with its unit: `1 card`, `1 2/7 cards`. */
export function unitWords(t: Translate, column: QuotaColumn, amount: Fraction, value: string): string {
  const isOne = amount.numerator === amount.denominator;
  return t(units[column], { value, count: isOne ? 1 : 2 });
}

export function resourceWords(t: Translate, resource: string): string {
  const parts = partsOfResource(resource);
  if (parts === null) return resource;
  if (parts.kind === "gpuType") return parts.gpuType;
  // Hours of a week and of a month are different limits, of which one may take the other's place.
  if (parts.kind === "cardHours" && parts.period.kind !== "none") {
    return t("quota.cardHoursIn", { period: t(`quota.period-${parts.period.kind}`) });
  }
  return t(`quota.column-${parts.kind}`);
}

export function levelWords(t: Translate, level: QuotaLevel): string {
  return t(`quota.level-${level}`);
}

export function nodeName(t: Translate, model: QuotaModel, id: string): string {
  const node = model.nodes.get(id);
  if (node === undefined) return id;
  return node.level === "cluster" ? t("quota.level-cluster") : node.name;
}

/** `tenant NLP`; the cluster by itself. */
export function placeWords(t: Translate, model: QuotaModel, id: string): string {
  const node = model.nodes.get(id);
  if (node === undefined || node.level === "cluster") return nodeName(t, model, id);
  return t("quota.place", { level: levelWords(t, node.level), name: node.name });
}

/** `NLP / Chat / lena`, without the cluster. */
export function pathWords(t: Translate, model: QuotaModel, id: string): string {
  const names: string[] = [];
  for (let at = model.nodes.get(id); at !== undefined; ) {
    if (at.level !== "cluster" || names.length === 0) names.unshift(nodeName(t, model, at.id));
    at = at.parentId === null || at.parentId === "cluster" ? undefined : model.nodes.get(at.parentId);
  }
  return names.join(" / ");
}

/** Where a limit of this column is written down but held by nobody. */
export function unenforced(answer: QuotaAnswer, column: QuotaColumn | "gpuTypes"): Enforcement | null {
  return answer.enforcement.find(({ resource, enforced }) => resource === column && !enforced) ?? null;
}

export function periodWords(t: Translate, resource: Resource | null): string {
  const parts = resource === null ? null : partsOfResource(resource);
  if (parts?.kind !== "cardHours") return "";
  const { period } = parts;
  return period.kind === "none"
    ? t("quota.period-none")
    : t("quota.periodIn", { period: t(`quota.period-${period.kind}`), zone: period.timeZone });
}

export interface Note {
  /** May be cut short. */
  readonly words: string;
  /** Always whole. */
  readonly figure: string;
  readonly tone: "muted" | "warning";
}

/** The one line under the figure: what matters most about it. */
export function noteOf(t: Translate, format: Format, model: QuotaModel, cell: QuotaCell): Note | null {
  if (cell.overCommitted !== null) {
    const over = amountWords(format, cell.overCommitted.over, "up");
    return { words: t("quota.promised"), figure: over, tone: "warning" };
  }
  if (cell.boundBy !== null) {
    const { nodeId, limit } = cell.boundBy;
    const words = t("quota.boundBy", { place: nodeName(t, model, nodeId) });
    return { words, figure: amountWords(format, limit, "down"), tone: "muted" };
  }
  if (cell.raised !== null) {
    return { words: t("quota.raisedBy"), figure: amountWords(format, cell.raised, "down"), tone: "muted" };
  }
  return null;
}

/** Everything about a cell, a fact a line. */
export function cellTitle(
  t: Translate,
  model: QuotaModel,
  answer: QuotaAnswer,
  cell: QuotaCell,
  column: QuotaColumn,
): string {
  const { resource, used, limit, raised, boundBy, overCommitted } = cell;
  if (resource === null) return t("quota.noLimit");
  const why = unenforced(answer, column);
  return [
    t("quota.usedExact", { amount: exactWords(t, resource, used) }),
    limit === null ? t("quota.noOwnLimit") : t("quota.limitExact", { amount: exactWords(t, resource, limit) }),
    raised === null ? "" : t("quota.raisedExact", { amount: exactWords(t, resource, raised) }),
    boundBy === null
      ? ""
      : t("quota.boundExact", {
          place: placeWords(t, model, boundBy.nodeId),
          amount: exactWords(t, resource, boundBy.limit),
        }),
    overCommitted === null
      ? ""
      : t("quota.promisedExact", {
          total: exactWords(t, resource, overCommitted.childrenTotal),
          over: exactWords(t, resource, overCommitted.over),
        }),
    periodWords(t, resource),
    column === "cards" || column === "cardHours" ? t(`quota.rule-${answer.rule}`) : "",
    why === null ? "" : t("quota.notEnforcedWhy", { why: why.why }),
  ]
    .filter((line) => line !== "")
    .join("\n");
}

/** `3/7 to 1/2`, for the title of `changeWords`. */
export function exactChangeWords(t: Translate, { resource, before, after }: LimitChange): string {
  const words = (amount: Fraction | null): string =>
    amount === null ? t("quota.none") : exactWords(t, resource, amount);
  return t("quota.change", { before: words(before), after: words(after) });
}

/** `8 to 12`, `none to 12`. */
export function changeWords(t: Translate, format: Format, { before, after }: LimitChange): string {
  const words = (amount: Fraction | null): string =>
    amount === null ? t("quota.none") : amountWords(format, amount, "down");
  return t("quota.change", { before: words(before), after: words(after) });
}

export interface ImpactSentence {
  readonly key: string;
  readonly words: string;
  /** The same with exact figures. */
  readonly title: string;
  readonly tone: "warning" | "good" | "calm";
}

/** How the figures of a sentence are said. */
type Say = (resource: Resource, amount: Fraction, rounding: Rounding) => string;

/** What a draft would do, one sentence each, the gravest first; no more than `most` are put into words. */
export function impactSentences(
  t: Translate,
  format: Format,
  model: QuotaModel,
  impact: Impact,
  most: number,
): { readonly count: number; readonly first: readonly ImpactSentence[] } {
  const rounded: Say = (resource, amount, rounding) =>
    measuredWords(t, resource, amount, amountWords(format, amount, rounding));
  const exact: Say = (resource, amount) => exactWords(t, resource, amount);
  type Sentence = () => ImpactSentence;
  const sentence =
    (key: string, tone: ImpactSentence["tone"], write: (say: Say) => string): Sentence =>
    () => ({ key, tone, words: write(rounded), title: write(exact) });
  const over = impact.overLimit.map(({ nodeId, resource, over: above, runningAbove, limit }) =>
    sentence(`over ${nodeId} ${resource}`, "warning", (say) =>
      t(runningAbove.length === 0 ? "quota.overLimit" : "quota.runningAbove", {
        count: runningAbove.length,
        place: pathWords(t, model, nodeId),
        limit: say(resource, limit, "down"),
        over: say(resource, above, "up"),
      }),
    ),
  );
  const [waiting, starting] = [impact.wouldWait.length, impact.wouldStart.length];
  const queue = [
    ...(waiting === 0 ? [] : [sentence("wait", "warning", () => t("quota.wouldWait", { count: waiting }))]),
    ...(starting === 0 ? [] : [sentence("start", "good", () => t("quota.wouldStart", { count: starting }))]),
  ];
  const promised = impact.overCommitments
    .filter(({ after }) => after.over.numerator > 0)
    .map(({ after }) =>
      sentence(`promised ${after.nodeId} ${after.resource}`, "calm", (say) =>
        t("quota.wouldPromise", {
          place: pathWords(t, model, after.nodeId),
          total: say(after.resource, after.childrenTotal, "up"),
          limit: say(after.resource, after.limit, "down"),
        }),
      ),
    );
  const above = impact.aboveParent.map(({ after }) =>
    sentence(`above ${after.nodeId} ${after.resource}`, "calm", (say) =>
      t("quota.aboveParent", {
        place: pathWords(t, model, after.nodeId),
        limit: say(after.resource, after.limit, "down"),
        above: placeWords(t, model, after.above.nodeId),
        tighter: say(after.resource, after.above.limit, "down"),
      }),
    ),
  );
  const all = [...over, ...queue, ...promised, ...above];
  return { count: all.length, first: all.slice(0, most).map((write) => write()) };
}

type OwnCsvFault = Exclude<LimitsCsvError["fault"], LimitFault>;

/** Faults of a file itself; those of a limit have the words of a cell. */
const csvFaults: Readonly<Record<OwnCsvFault, MessageKey>> = {
  "quote-not-closed": "quota.csv-quote-not-closed",
  "text-after-quote": "quota.csv-text-after-quote",
  "quote-inside": "quota.csv-quote-inside",
  "empty-file": "quota.csv-empty-file",
  "no-header": "quota.csv-no-header",
  "wrong-separator": "quota.csv-wrong-separator",
  "missing-column": "quota.csv-missing-column",
  "unknown-column": "quota.csv-unknown-column",
  "duplicate-column": "quota.csv-duplicate-column",
  "wrong-cell-count": "quota.csv-wrong-cell-count",
  "unknown-id": "quota.csv-unknown-id",
  "duplicate-id": "quota.csv-duplicate-id",
  "period-without-hours": "quota.csv-period-without-hours",
};

function isOwnCsvFault(fault: LimitsCsvError["fault"]): fault is OwnCsvFault {
  return Object.hasOwn(csvFaults, fault);
}

/** `Line 3, column 6 (CPU cores): “1.5”, must be whole`. */
export function csvErrorWords(t: Translate, { line, column, header, fault, found }: LimitsCsvError): string {
  if (fault === "no-header" || fault === "wrong-separator") {
    return t(csvFaults[fault], { columns: expectedColumns().join(t("common.listSeparator")) });
  }
  const reason = t(isOwnCsvFault(fault) ? csvFaults[fault] : `quota.fault-${fault}`);
  const why = found === "" ? reason : t("quota.csvFound", { found, why: reason });
  return header === null
    ? t("quota.csvPlace", { line, column, why })
    : t("quota.csvPlaceTitled", { line, column, header, why });
}

const driftKinds: ReadonlyMap<string, MessageKey> = new Map([
  ["account", "quota.drift-account"],
  ["member", "quota.drift-member"],
  ["limits", "quota.drift-limits"],
  ["coordinator", "quota.drift-coordinator"],
  ["default-account", "quota.drift-default-account"],
  ["foreign", "quota.drift-foreign"],
  ["unread", "quota.drift-unread"],
]);

/** What differs between ledger and engine; a kind that a newer host tells of stays as it is written. */
export function driftWords(t: Translate, what: string): string {
  const key = driftKinds.get(what);
  return key === undefined ? what : t(key);
}

/** One side of a difference. */
export function driftSideWords(t: Translate, side: string | null): string {
  if (side === null) return t("quota.notThere");
  return side === "there" ? t("quota.there") : side;
}
