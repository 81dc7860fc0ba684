/** Raises, limits and subjects in the reader's words. */
import type { QuotaNodeView } from "../../shared/protocol/control.ts";
import {
  amountsOf,
  type Fraction,
  type Limits,
  partsOfResource,
  type Resource,
  type Rounding,
  toDecimal,
  toWords,
  zero,
} from "../../shared/quota/index.ts";
import type { Translate } from "../i18n/index.ts";

const memory: ReadonlySet<string> = new Set(["gpuMemoryGiB", "memoryGiB"]);

/**
 * How a number is said: `exact` wherever an amount is asked for or decided about; as a decimal, which the table of
 * quotas has and titles here, usage rounded up and limits down, so that never more looks free than is.
 */
export type Notation = "exact" | Rounding;

/** A limit is rounded down and usage up to two places, so that never more looks free than is. */
export function decimalText(amount: Fraction, rounding: Rounding): string {
  return toDecimal(amount, 2, rounding).text;
}

/** Exact: parts of a card as fractions, memory as a decimal where it has a short one. */
export function numberWords(resource: Resource, amount: Fraction, notation: Notation = "exact"): string {
  if (notation !== "exact") return decimalText(amount, notation);
  const decimal = memory.has(resource) ? toDecimal(amount, 3, "nearest") : null;
  return decimal?.exact === true ? decimal.text : toWords(amount);
}

function values(resource: Resource, amount: Fraction, notation: Notation = "exact") {
  const parts = partsOfResource(resource);
  return {
    amount: numberWords(resource, amount, notation),
    count: amount.numerator / amount.denominator,
    gpuType: parts?.kind === "gpuType" ? parts.gpuType : "",
  };
}

const kindOf = (resource: Resource) => partsOfResource(resource)?.kind ?? "cards";

/** `8 cards`, `40 GiB of GPU memory`. */
export function amountWords(t: Translate, resource: Resource, amount: Fraction): string {
  return t(`requests.amount-${kindOf(resource)}`, values(resource, amount));
}

/** `2 more cards, 40 GiB more GPU memory`. */
export function raiseWords(t: Translate, raise: Limits, notation: Notation = "exact"): string {
  return amountsOf(raise)
    .map(([resource, amount]) => t(`requests.more-${kindOf(resource)}`, values(resource, amount, notation)))
    .join(t("common.listSeparator"));
}

/** `2 of 4 cards, 8 of 8 CPU cores`: of all that was asked for, what was granted. */
export function grantedWords(t: Translate, asked: Limits, granted: Limits): string {
  const given = new Map(amountsOf(granted));
  const wanted = new Map(amountsOf(asked));
  return [...new Set([...wanted.keys(), ...given.keys()])]
    .map((resource) =>
      t("requests.of", {
        given: numberWords(resource, given.get(resource) ?? zero),
        asked: amountWords(t, resource, wanted.get(resource) ?? zero),
      }),
    )
    .join(t("common.listSeparator"));
}

/** The raise, and under it the same in decimals where they read otherwise. */
export function raiseTitle(t: Translate, raise: Limits): string {
  return [...new Set([raiseWords(t, raise), raiseWords(t, raise, "down")])].join("\n");
}

/** `Cards`, `GPU memory (GiB)`, `H100-SXM5-80GB`. */
export function resourceWords(t: Translate, resource: Resource): string {
  const parts = partsOfResource(resource);
  return parts?.kind === "gpuType" ? parts.gpuType : t(`requests.resource-${kindOf(resource)}`);
}

/** `NLP / Chat / lena`; the id where the names are not known. */
export function subjectPath(nodes: ReadonlyMap<string, QuotaNodeView>, subject: string): string {
  const names: string[] = [];
  for (let node = nodes.get(subject); node !== undefined && node.level !== "cluster"; ) {
    names.unshift(node.name);
    node = node.parentId === null ? undefined : nodes.get(node.parentId);
  }
  return names.length === 0 ? subject : names.join(" / ");
}
