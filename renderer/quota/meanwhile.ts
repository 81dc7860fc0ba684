/** What others changed since an edit was begun, in words: limits by resource, fields by their names. */
import type { FieldChange } from "../../shared/errors.ts";
import { changesBetween, type Limits, parseLimits } from "../../shared/quota/index.ts";
import type { Format } from "../i18n/format.ts";
import type { Translate } from "../i18n/index.ts";
import { amountWords, resourceWords } from "./words.ts";

export interface MeanwhileLine {
  /** `GPU cards`, `Name`. */
  readonly what: string;
  readonly before: string;
  readonly after: string;
  readonly by: string;
  readonly at: string;
}

/** What an object is called by in the ledger: never edited, and no news where it was added or removed. */
const identity: ReadonlySet<string> = new Set([
  "id",
  "subject",
  "level",
  "tenantId",
  "projectId",
  "uid",
  "createdAt",
  "version",
]);

function parsedJson(json: string | null): unknown {
  if (json === null) return null;
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** Null where it is no limits. */
function limitsOf(json: string | null): Limits | null {
  const parsed = parseLimits(parsedJson(json) ?? {});
  return parsed.ok ? parsed.value : null;
}

function plain(t: Translate, json: string | null): string {
  const value = parsedJson(json);
  if (value === null || value === undefined) return t("quota.none");
  return typeof value === "string" ? value : (json ?? "");
}

function linesOf(t: Translate, format: Format, change: FieldChange): readonly MeanwhileLine[] {
  const { field, by, at } = change;
  if (identity.has(field)) return [];
  const [before, after] =
    field === "limits" ? [limitsOf(change.before), limitsOf(change.after)] : ([null, null] as const);
  if (before !== null && after !== null) {
    return changesBetween(before, after).map((each) => {
      const words = (amount: typeof each.before): string =>
        amount === null ? t("quota.none") : amountWords(format, amount, "down");
      return { what: resourceWords(t, each.resource), before: words(each.before), after: words(each.after), by, at };
    });
  }
  const what = field === "displayName" ? t("quota.name") : field;
  return [{ what, before: plain(t, change.before), after: plain(t, change.after), by, at }];
}

/** A line each, oldest first. */
export function meanwhileLines(
  t: Translate,
  format: Format,
  changes: readonly FieldChange[],
): readonly MeanwhileLine[] {
  return changes.flatMap((change) => linesOf(t, format, change));
}
