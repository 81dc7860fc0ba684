/** Refusals and layouts in the reader's words: the rule, who holds what is in the way, and what would work. */
import type { GpuInstanceProfile, Layout, Refusal, RuleViolation } from "../../shared/mig/types.ts";
import type { Format } from "../i18n/format.ts";
import type { Translate } from "../i18n/index.ts";
import { overlapping, profileOf } from "./edits.ts";
import { type GpuFacts, holderName, instanceOf, usersOf } from "./facts.ts";

/** `slice 0`, `slices 0 and 4`. */
function slices(t: Translate, format: Format, starts: readonly number[]): string {
  return t("rule.slices", { count: starts.length, list: format.list(starts.map(String)) });
}

function holderAt(t: Translate, facts: GpuFacts | null, start: number): string {
  const instance = facts === null ? null : instanceOf(facts.gpu, start);
  if (facts === null || instance === null) return t("rule.someone");
  return usersOf(facts.gpu, instance) ?? t("rule.someone");
}

function sentence(t: Translate, format: Format, violation: RuleViolation, facts: GpuFacts | null): string {
  switch (violation.rule) {
    case "unknown-profile":
      return t("rule.unknown-profile", { model: facts?.gpu.name ?? "GPU", known: format.list(violation.known) });
    case "unknown-profile-name":
      return t("rule.unknown-profile-name", {
        model: facts?.gpu.name ?? "GPU",
        profile: violation.profile,
        known: format.list(violation.known),
      });
    case "illegal-start":
      return t("rule.illegal-start", {
        profile: violation.profile,
        start: violation.start,
        slices: slices(t, format, violation.legalStarts),
      });
    case "overlap":
      return violation.otherInUse
        ? t("rule.overlap-held", {
            profile: violation.profile,
            start: violation.start,
            other: violation.otherProfile,
            otherStart: violation.otherStart,
            holder: holderAt(t, facts, violation.otherStart),
          })
        : t("rule.overlap", {
            profile: violation.profile,
            start: violation.start,
            other: violation.otherProfile,
            otherStart: violation.otherStart,
          });
    case "too-many":
      return violation.wanted === undefined
        ? t("rule.too-many", { profile: violation.profile, count: violation.maxInstances })
        : t("rule.asks-too-many", {
            profile: violation.profile,
            wanted: violation.wanted,
            count: violation.maxInstances,
          });
    case "media-engines":
      return t("rule.media-engines", { profile: violation.profile, other: violation.otherProfile });
    case "compute-slices":
      return t("rule.compute-slices", { wanted: violation.wanted, available: violation.available });
    case "unknown-compute-profile":
      return t("rule.unknown-compute-profile", {
        profile: violation.profile,
        id: violation.profileId,
        known: format.list(violation.known),
      });
    case "illegal-compute-start":
      return t("rule.illegal-compute-start", {
        profile: violation.profile,
        start: violation.start,
        slices: slices(t, format, violation.legalStarts),
      });
    case "compute-overlap":
      return t("rule.compute-overlap", { profile: violation.profile, start: violation.start });
    case "instance-in-use":
      return t("rule.instance-in-use", {
        profile: violation.profile,
        start: violation.start,
        holder: holderAt(t, facts, violation.start),
      });
    case "mig-mode-in-use":
      return violation.instances > 0
        ? t("rule.mig-mode-in-use", { count: violation.instances })
        : t("rule.held-whole", { holder: holderName(facts?.gpu.holder ?? null, 2) ?? t("rule.someone") });
    case "mig-mode-off":
      return t("rule.mig-mode-off", { count: violation.instances });
    case "no-room":
      return violation.fits === 0
        ? t("rule.no-room", { profile: violation.profile })
        : t("rule.room-for", { profile: violation.profile, fits: violation.fits, wanted: violation.wanted });
    case "not-mig-capable":
      return t("rule.not-mig-capable", { model: violation.model });
  }
}

export interface RefusalWords {
  readonly rule: string;
  /** What would work, or null. */
  readonly instead: string | null;
  readonly driverWords: string | null;
}

export function refusalWords(t: Translate, format: Format, refusal: Refusal, facts: GpuFacts | null): RefusalWords {
  const instead = refusal.instead.slice(0, 3).map(({ profile, start }) => t("rule.placement", { profile, start }));
  return {
    rule: sentence(t, format, refusal.violation, facts),
    instead: instead.length === 0 ? null : t("rule.instead", { list: format.list(instead) }),
    driverWords: refusal.driverWords,
  };
}

/** `4g.40gb starts at slice 0 only; nlp / chat holds it.` Null where the profile fits somewhere. */
export function whyNowhere(
  t: Translate,
  format: Format,
  facts: GpuFacts,
  layout: Layout,
  profile: GpuInstanceProfile,
): string {
  if (facts.heldWhole) {
    return t("rule.held-whole", { holder: holderName(facts.gpu.holder, 2) ?? t("rule.someone") });
  }
  const same = layout.instances.filter((instance) => instance.profileId === profile.id && instance.inUse === true);
  if (same.length >= profile.maxInstances) {
    return t("rule.too-many", { profile: profile.name, count: profile.maxInstances });
  }
  const holders = new Set<string>();
  for (const start of profile.starts) {
    for (const instance of overlapping(facts.geometry, layout, start, profile.memorySlices)) {
      if (instance.inUse === true) holders.add(holderAt(t, facts, instance.start));
    }
  }
  const where = slices(t, format, profile.starts);
  if (holders.size === 0) return t("rule.nowhere", { profile: profile.name, slices: where });
  return t("rule.nowhere-held", {
    profile: profile.name,
    slices: where,
    count: holders.size,
    holders: format.list([...holders]),
  });
}

/** `2 x 1g.10gb, 3g.40gb`, in order of place. */
export function layoutWords(t: Translate, facts: Pick<GpuFacts, "geometry">, layout: Layout): string {
  if (!layout.migEnabled) return t("rule.undivided");
  const counts = new Map<string, number>();
  for (const instance of layout.instances) {
    const name = profileOf(facts.geometry, instance.profileId)?.name ?? `#${instance.profileId}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  if (counts.size === 0) return t("rule.no-instances");
  return [...counts]
    .map(([name, count]) => (count === 1 ? name : `${count} × ${name}`))
    .join(t("common.listSeparator"));
}
