/** Card-hours as a small form has them: a number, a period and a time zone, which together are the text of the cell. */
import { type Period, timeZoneName } from "../../shared/quota/index.ts";
import { ownLimits, type QuotaDraft } from "./draft.ts";
import type { QuotaModel } from "./model.ts";

export const periodKinds = ["day", "week", "month", "quarter", "none"] as const;
export type PeriodKind = (typeof periodKinds)[number];

export interface HoursParts {
  readonly hours: string;
  readonly kind: PeriodKind;
  /** Stays while the kind is `none`, for whoever goes back. */
  readonly timeZone: string;
}

const written = /^([-\d\s./]*\d)\s*\/\s*([a-z]+)(?:\s+(\S+))?$/i;

/** Parts of what is written; what it does not say is as in `otherwise`. */
export function partsOf(text: string, otherwise: Omit<HoursParts, "hours">): HoursParts {
  const [, hours = "", kindText = "", zone = ""] = written.exec(text.trim()) ?? [];
  const kind = periodKinds.find((each) => each === kindText.toLowerCase());
  if (kind === undefined) return { ...otherwise, hours: text };
  return { hours, kind, timeZone: timeZoneName(zone) ?? otherwise.timeZone };
}

/** As `writeCell` reads it; without a number it is no limit. */
export function textOf({ hours, kind, timeZone }: HoursParts): string {
  if (hours.trim() === "") return "";
  return kind === "none" ? `${hours} / none` : `${hours} / ${kind} ${timeZone}`;
}

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * For card-hours that are written where there were none: as the nearest limit above has it, else as the first of the
 * cluster, else each month where this console is.
 */
export function usualPeriod(model: QuotaModel, draft: QuotaDraft, subject: string): Period {
  const periodOf = (id: string): Period | undefined => ownLimits(model, draft, id).cardHours?.period;
  for (let at = model.nodes.get(subject)?.parentId ?? null; at !== null; at = model.nodes.get(at)?.parentId ?? null) {
    const above = periodOf(at);
    if (above !== undefined) return above;
  }
  for (const id of model.nodes.keys()) {
    const other = periodOf(id);
    if (other !== undefined) return other;
  }
  return { kind: "month", timeZone: ownZone() };
}

/** Of a period, for the form. */
export function partsOfPeriod(period: Period): Omit<HoursParts, "hours"> {
  return { kind: period.kind, timeZone: "timeZone" in period ? period.timeZone : ownZone() };
}

let known: readonly string[] | null = null;

/** Every zone that can be chosen, with the one that stands. */
export function timeZones(standing: string): readonly string[] {
  known ??= [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone")])];
  return known.includes(standing) ? known : [standing, ...known];
}
