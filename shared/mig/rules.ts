import { profileOf } from "./geometry.ts";
import { sortedByStart } from "./layout.ts";
import {
  alternatives,
  indexOf,
  isFree,
  maskOf,
  mediaEngineKinds,
  missingEngine,
  occupancyOf,
  startsIn,
} from "./occupancy.ts";
import { refuse } from "./refusal.ts";
import type { GpuGeometry, GpuInstanceProfile, Layout, LayoutInstance, Refusal, RuleViolation } from "./types.ts";

interface Placed {
  readonly instance: LayoutInstance;
  readonly profile: GpuInstanceProfile;
}

/** A broken rule, and the instance that would have to give way. */
interface Fault {
  readonly violation: RuleViolation;
  readonly of: Placed;
}

const knownNames = (geometry: GpuGeometry): readonly string[] => geometry.profiles.map((profile) => profile.name);

const nameOf = (geometry: GpuGeometry, profileId: number): string =>
  profileOf(geometry, profileId)?.name ?? `profile ${profileId}`;

const overlaps = (a: Placed, b: Placed): boolean =>
  (maskOf(a.instance.start, a.profile.memorySlices) & maskOf(b.instance.start, b.profile.memorySlices)) !== 0;

/** Of two that collide, the one that would have to give way: never one in use, rather one that does not exist yet. */
const standing = ({ instance }: Placed): number => (instance.inUse ? 2 : 0) + (instance.id === undefined ? 0 : 1);

function overlapsOf(placed: readonly Placed[]): readonly Fault[] {
  return placed.flatMap((later, position) =>
    placed.slice(0, position).flatMap((earlier) => {
      if (!overlaps(earlier, later)) return [];
      const [of, other] = standing(later) > standing(earlier) ? [earlier, later] : [later, earlier];
      const violation: RuleViolation = {
        rule: "overlap",
        profile: of.profile.name,
        start: of.instance.start,
        otherProfile: other.profile.name,
        otherStart: other.instance.start,
        otherInUse: other.instance.inUse ?? false,
      };
      return [{ violation, of }];
    }),
  );
}

function countsOf(placed: readonly Placed[]): readonly Fault[] {
  const groups = Map.groupBy(placed, ({ profile }) => profile.id);
  return [...groups.values()].flatMap((group) => {
    const last = group.at(-1);
    if (last === undefined || group.length <= last.profile.maxInstances) return [];
    const { name, maxInstances } = last.profile;
    return [{ violation: { rule: "too-many", profile: name, maxInstances }, of: last }];
  });
}

/**
 * The engines of all instances together may not exceed the GPU's. This is what forbids a second `+me` of another size, and
 * anything with media engines beside `+me.all`: nothing but the counts of `-lgip` is needed to see it.
 */
function enginesOf(placed: readonly Placed[], geometry: GpuGeometry): readonly Fault[] {
  const totals = indexOf(geometry).engineTotals;
  const exceeded = mediaEngineKinds.find(
    (kind) => placed.reduce((sum, { profile }) => sum + (profile.engines[kind] ?? 0), 0) > totals[kind],
  );
  if (exceeded === undefined) return [];
  const users = placed
    .filter(({ profile }) => (profile.engines[exceeded] ?? 0) > 0)
    .toSorted((a, b) => (b.profile.engines[exceeded] ?? 0) - (a.profile.engines[exceeded] ?? 0));
  const [largest] = users;
  const of = users.at(-1);
  if (largest === undefined || of === undefined) return [];
  return [{ violation: { rule: "media-engines", profile: of.profile.name, otherProfile: largest.profile.name }, of }];
}

function computeSlicesOf(placed: readonly Placed[], geometry: GpuGeometry): readonly Fault[] {
  const wanted = placed.reduce((sum, { profile }) => sum + profile.computeSlices, 0);
  const of = placed.at(-1);
  if (of === undefined || wanted <= geometry.computeSlices) return [];
  return [{ violation: { rule: "compute-slices", wanted, available: geometry.computeSlices }, of }];
}

/** The rules inside one GPU instance. */
export function checkComputeInstances(profile: GpuInstanceProfile, instance: LayoutInstance): readonly Refusal[] {
  const refusals: Refusal[] = [];
  const counts = new Map<number, number>();
  let taken = 0;
  for (const computeInstance of sortedByStart(instance.computeInstances ?? [])) {
    const known = profile.computeInstanceProfiles.find((candidate) => candidate.id === computeInstance.profileId);
    if (known === undefined) {
      refusals.push(
        refuse({
          rule: "unknown-compute-profile",
          profile: profile.name,
          profileId: computeInstance.profileId,
          known: profile.computeInstanceProfiles.map((candidate) => candidate.name),
        }),
      );
      continue;
    }
    const { start } = computeInstance;
    const mask = maskOf(start, known.computeSlices);
    const free = known.starts.filter((legal) => (maskOf(legal, known.computeSlices) & taken) === 0);
    const instead = free.map((legal) => ({ profile: known.name, start: legal }));
    const count = (counts.get(known.id) ?? 0) + 1;
    counts.set(known.id, count);
    if (!known.starts.includes(start)) {
      const violation = {
        rule: "illegal-compute-start",
        profile: known.name,
        start,
        legalStarts: known.starts,
      } as const;
      refusals.push(refuse(violation, instead));
    } else if ((mask & taken) !== 0) {
      refusals.push(refuse({ rule: "compute-overlap", profile: known.name, start }, instead));
    } else if (count > known.maxInstances) {
      refusals.push(refuse({ rule: "too-many", profile: known.name, maxInstances: known.maxInstances }));
    }
    taken |= mask;
  }
  return refusals;
}

/**
 * Every rule of MIG that a layout breaks; empty when the GPU can be divided so. Placements, overlap, counts, media engines,
 * compute slices, and the compute instances inside. Each refusal offers what would be legal where the fault is.
 */
export function checkLayout(geometry: GpuGeometry, layout: Layout): readonly Refusal[] {
  const { instances } = layout;
  if (!layout.migEnabled && instances.length > 0) {
    return [refuse({ rule: "mig-mode-off", instances: instances.length })];
  }
  const refusals: Refusal[] = [];
  const placed: Placed[] = [];
  const without = (left: LayoutInstance) =>
    occupancyOf(
      geometry,
      instances.filter((other) => other !== left),
    );
  for (const instance of sortedByStart(instances)) {
    const profile = profileOf(geometry, instance.profileId);
    if (profile === undefined) {
      const violation = {
        rule: "unknown-profile",
        profileId: instance.profileId,
        known: knownNames(geometry),
      } as const;
      refusals.push(refuse(violation, alternatives(geometry, without(instance), undefined, instance.start)));
    } else if (!profile.starts.includes(instance.start)) {
      const { name, starts } = profile;
      const violation = { rule: "illegal-start", profile: name, start: instance.start, legalStarts: starts } as const;
      refusals.push(refuse(violation, alternatives(geometry, without(instance), profile, instance.start)));
    } else {
      placed.push({ instance, profile });
    }
  }
  // What one rule has refused is left out of the next, so that one fault is told once.
  const found: Fault[] = [];
  for (const rule of [overlapsOf, countsOf, computeSlicesOf, enginesOf]) {
    const refused = new Set(found.map(({ of }) => of));
    found.push(
      ...rule(
        placed.filter((candidate) => !refused.has(candidate)),
        geometry,
      ),
    );
  }
  const together = found.map(({ violation, of }) =>
    refuse(violation, alternatives(geometry, without(of.instance), of.profile, of.instance.start)),
  );
  const inside = placed.flatMap(({ instance, profile }) => checkComputeInstances(profile, instance));
  return [...refusals, ...together, ...inside];
}

/** Every memory slice at which one more of this profile may start beside what is there. */
export function legalStarts(geometry: GpuGeometry, layout: Layout, profileId: number): readonly number[] {
  const profile = indexOf(geometry).profiles.get(profileId);
  return profile === undefined ? [] : startsIn(geometry, occupancyOf(geometry, layout.instances), profile);
}

/**
 * Why one more of this profile may not be put at `start`; null when it may. Meant for every move of a pointer: it
 * looks at one placement only.
 */
export function explainPlacement(
  geometry: GpuGeometry,
  layout: Layout,
  profileId: number,
  start: number,
): Refusal | null {
  const profile = indexOf(geometry).profiles.get(profileId);
  const occupancy = occupancyOf(geometry, layout.instances);
  const offer = (violation: RuleViolation) => refuse(violation, alternatives(geometry, occupancy, profile, start));
  if (profile === undefined) return offer({ rule: "unknown-profile", profileId, known: knownNames(geometry) });
  const { name } = profile;
  if (!profile.starts.includes(start)) {
    return offer({ rule: "illegal-start", profile: name, start, legalStarts: profile.starts });
  }
  if (!isFree(occupancy, profile, start)) {
    const mask = maskOf(start, profile.memorySlices);
    const other = layout.instances.find((instance) => {
      const size = indexOf(geometry).profiles.get(instance.profileId)?.memorySlices ?? 0;
      return (maskOf(instance.start, size) & mask) !== 0;
    });
    return offer({
      rule: "overlap",
      profile: name,
      start,
      otherProfile: nameOf(geometry, other?.profileId ?? profileId),
      otherStart: other?.start ?? start,
      otherInUse: other?.inUse ?? false,
    });
  }
  if ((occupancy.counts.get(profileId) ?? 0) >= profile.maxInstances) {
    return offer({ rule: "too-many", profile: name, maxInstances: profile.maxInstances });
  }
  const wanted = occupancy.computeSlices + profile.computeSlices;
  if (wanted > geometry.computeSlices) {
    return offer({ rule: "compute-slices", wanted, available: geometry.computeSlices });
  }
  const engine = missingEngine(geometry, occupancy, profile);
  if (engine !== null) {
    const uses = (instance: LayoutInstance) => indexOf(geometry).profiles.get(instance.profileId)?.engines[engine] ?? 0;
    const largest = layout.instances.toSorted((a, b) => uses(b) - uses(a))[0];
    return offer({
      rule: "media-engines",
      profile: name,
      otherProfile: nameOf(geometry, largest?.profileId ?? profileId),
    });
  }
  return null;
}
