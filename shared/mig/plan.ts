import { AppError } from "../errors.ts";
import { fillingComputeProfile } from "./compute-profiles.ts";
import { modeChangeNeedsReset, profileOf } from "./geometry.ts";
import { layoutVersion, sortedByStart, wantedComputeInstances } from "./layout.ts";
import { maskOf } from "./occupancy.ts";
import { refuse } from "./refusal.ts";
import { checkLayout } from "./rules.ts";
import type {
  GpuGeometry,
  GpuInstanceProfile,
  GpuPlan,
  Layout,
  LayoutComputeInstance,
  LayoutInstance,
  PlanStep,
  Refusal,
} from "./types.ts";

export interface PlanRequest {
  readonly gpuUuid: string;
  readonly gpuIndex: number;
  readonly gpuName: string;
  /** Null: nothing says how this GPU can be divided, so every plan for it is refused. */
  readonly geometry: GpuGeometry | null;
  /** As read from the host: with IDs, and with who uses what. */
  readonly current: Layout;
  /** IDs in it are not looked at; an instance without `computeInstances` means one that fills it. */
  readonly wanted: Layout;
  /** Overrides what the table says about the model. */
  readonly resetOnModeChange?: boolean;
  /** A process or an allocation holds the undivided GPU: MIG mode then cannot be enabled. */
  readonly wholeGpuInUse?: boolean;
}

export type PlanOutcome =
  | { readonly ok: true; readonly plan: GpuPlan }
  | { readonly ok: false; readonly refusals: readonly Refusal[] };

const place = (item: { readonly profileId: number; readonly start: number }): string =>
  `${item.profileId}@${item.start}`;

const sameComputeInstances = (a: readonly LayoutComputeInstance[], b: readonly LayoutComputeInstance[]): boolean =>
  sortedByStart(a).map(place).join() === sortedByStart(b).map(place).join();

/** An instance that stays, with its compute instances before and after. */
interface Match {
  readonly existing: LayoutInstance;
  readonly profile: GpuInstanceProfile;
  readonly before: readonly LayoutComputeInstance[];
  readonly after: readonly LayoutComputeInstance[];
}

/** The GPU instance ID of something that exists. A layout without it was not read from a host. */
function idOf(instance: LayoutInstance): number {
  if (instance.id !== undefined) return instance.id;
  throw new AppError({
    code: "bad-request",
    message: `The layout to start from gives no GPU instance ID for ${place(instance)}.`,
    remedy: "Plan from a layout that was read from the host.",
  });
}

const inUseRefusal = (instance: LayoutInstance, name: string): Refusal =>
  refuse({ rule: "instance-in-use", profile: name, start: instance.start, gpuInstanceId: instance.id ?? null });

/**
 * `-cci` takes no placement: the driver puts a compute instance at the lowest start that is free. Ascending by start is the
 * best order for that, because only what lies below a start can keep the driver from choosing lower. Where even so
 * it would choose another start, the wish cannot be met.
 */
function unreachableComputeInstances(
  profile: GpuInstanceProfile,
  present: readonly LayoutComputeInstance[],
  missing: readonly LayoutComputeInstance[],
): readonly Refusal[] {
  const sizeOf = (profileId: number) =>
    profile.computeInstanceProfiles.find((candidate) => candidate.id === profileId)?.computeSlices ?? 0;
  let taken = present.reduce((mask, { start, profileId }) => mask | maskOf(Math.max(start, 0), sizeOf(profileId)), 0);
  return sortedByStart(missing).flatMap((wanted) => {
    const known = profile.computeInstanceProfiles.find((candidate) => candidate.id === wanted.profileId);
    const chosen = known?.starts.find((start) => (maskOf(start, known.computeSlices) & taken) === 0);
    taken |= maskOf(wanted.start, sizeOf(wanted.profileId));
    if (known === undefined || chosen === wanted.start) return [];
    const instead = chosen === undefined ? [] : [{ profile: known.name, start: chosen }];
    const legalStarts = instead.map((offer) => offer.start);
    return [refuse({ rule: "illegal-compute-start", profile: known.name, start: wanted.start, legalStarts }, instead)];
  });
}

/** Whether these are the one compute instance that `-C` makes. */
function isFilled(profile: GpuInstanceProfile, computeInstances: readonly LayoutComputeInstance[]): boolean {
  return computeInstances.length === 1 && computeInstances[0]?.profileId === fillingComputeProfile(profile)?.id;
}

const largestFirst = (geometry: GpuGeometry) => (a: LayoutInstance, b: LayoutInstance) =>
  (profileOf(geometry, b.profileId)?.memorySlices ?? 0) - (profileOf(geometry, a.profileId)?.memorySlices ?? 0) ||
  a.start - b.start;

function withoutPlaces(
  items: readonly LayoutComputeInstance[],
  removed: readonly LayoutComputeInstance[],
): readonly LayoutComputeInstance[] {
  const places = new Set(removed.map(place));
  return items.filter((item) => !places.has(place(item)));
}

/**
 * The steps from one layout to another, or every rule that forbids it.
 *
 * The fewest steps: an instance that is wanted where it stands, with the same profile, is never touched; one of which only
 * the compute instances differ keeps its GPU instance; all else is one step for each that goes or comes.
 * First MIG mode where it is enabled, then all that goes, then all that comes with the largest first (the one that
 * could fail for want of room fails while little has been made), at last MIG mode where it is disabled.
 *
 * Throws AppError `bad-request` when `current` lacks the ID of an instance that has to go.
 */
export function planGpu(request: PlanRequest): PlanOutcome {
  const { geometry, current, wanted } = request;
  if (geometry === null) {
    return { ok: false, refusals: [refuse({ rule: "not-mig-capable", model: request.gpuName })] };
  }
  const nameOf = (profileId: number) => profileOf(geometry, profileId)?.name ?? `profile ${profileId}`;
  const existing = current.migEnabled ? sortedByStart(current.instances) : [];
  const existingAt = new Map(existing.map((instance) => [place(instance), instance]));

  const matches = new Map<LayoutInstance, Match>();
  for (const wish of wanted.instances) {
    const stands = existingAt.get(place(wish));
    const profile = profileOf(geometry, wish.profileId);
    if (stands === undefined || profile === undefined) continue;
    matches.set(wish, {
      existing: stands,
      profile,
      before: sortedByStart(stands.computeInstances ?? wantedComputeInstances(stands, profile)),
      after: wantedComputeInstances(wish, profile),
    });
  }
  const isUnchanged = (match: Match) => sameComputeInstances(match.before, match.after);

  // What stays as it is need not be understood down to its compute instances.
  const toCheck = wanted.instances.map((wish) => {
    const match = matches.get(wish);
    const { profileId, start, id, inUse } = { ...wish, ...match?.existing };
    const identity = {
      profileId,
      start,
      ...(id === undefined ? {} : { id }),
      ...(inUse === undefined ? {} : { inUse }),
    };
    return match !== undefined && isUnchanged(match)
      ? identity
      : { ...identity, ...(wish.computeInstances === undefined ? {} : { computeInstances: wish.computeInstances }) };
  });
  const illegal = checkLayout(geometry, { migEnabled: wanted.migEnabled, instances: toCheck });
  if (illegal.length > 0) return { ok: false, refusals: illegal };

  const matchedList = [...matches.values()];
  const staying = new Set(matchedList.map((match) => match.existing));
  const leaving = existing.filter((instance) => !staying.has(instance));
  const coming = wanted.instances.filter((wish) => !matches.has(wish)).toSorted(largestFirst(geometry));
  const changes = matchedList
    .filter((match) => !isUnchanged(match))
    .map((match) => ({
      ...match,
      removed: withoutPlaces(match.before, match.after),
      added: withoutPlaces(match.after, match.before),
      left: match.before.filter((item) => match.after.some((other) => place(other) === place(item))),
    }));

  const held = [
    ...leaving.filter((instance) => instance.inUse),
    ...changes.filter((change) => change.removed.length > 0 && change.existing.inUse).map((change) => change.existing),
  ].map((instance) => inUseRefusal(instance, nameOf(instance.profileId)));
  const modeChanges = current.migEnabled !== wanted.migEnabled;
  const modeHeld =
    modeChanges && (held.length > 0 || (wanted.migEnabled && request.wholeGpuInUse === true))
      ? [refuse({ rule: "mig-mode-in-use", instances: held.length })]
      : [];
  const unreachable = [
    ...changes.flatMap((change) => unreachableComputeInstances(change.profile, change.left, change.added)),
    ...coming.flatMap((wish) => {
      const profile = profileOf(geometry, wish.profileId);
      return profile === undefined
        ? []
        : unreachableComputeInstances(profile, [], wantedComputeInstances(wish, profile));
    }),
  ];
  const refusals = [...held, ...modeHeld, ...unreachable];
  if (refusals.length > 0) return { ok: false, refusals };

  const mode: readonly PlanStep[] = modeChanges
    ? [
        {
          kind: "set-mig-mode",
          enabled: wanted.migEnabled,
          needsReset:
            request.resetOnModeChange ?? modeChangeNeedsReset({ geometryKey: geometry.key, name: request.gpuName }),
        },
      ]
    : [];
  const placementOf = (instance: LayoutInstance) => ({
    start: instance.start,
    size: profileOf(geometry, instance.profileId)?.memorySlices ?? 0,
  });
  const steps: readonly PlanStep[] = [
    ...(wanted.migEnabled ? mode : []),
    ...leaving.map(
      (instance): PlanStep => ({
        kind: "destroy-instance",
        gpuInstanceId: idOf(instance),
        profileId: instance.profileId,
        profile: nameOf(instance.profileId),
        placement: placementOf(instance),
        computeInstances: sortedByStart(instance.computeInstances ?? []),
      }),
    ),
    ...changes.flatMap((change) =>
      change.removed.map(
        (computeInstance): PlanStep => ({
          kind: "destroy-compute-instance",
          gpuInstanceId: idOf(change.existing),
          profile: change.profile.name,
          computeInstance,
        }),
      ),
    ),
    ...changes.flatMap((change) =>
      change.added.map(
        (computeInstance): PlanStep => ({
          kind: "create-compute-instance",
          gpuInstanceId: idOf(change.existing),
          profile: change.profile.name,
          computeInstance,
        }),
      ),
    ),
    ...coming.flatMap((wish): readonly PlanStep[] => {
      const profile = profileOf(geometry, wish.profileId);
      if (profile === undefined) return [];
      return [
        {
          kind: "create-instance",
          profileId: profile.id,
          profile: profile.name,
          placement: placementOf(wish),
          computeInstances: wantedComputeInstances(wish, profile),
          defaultComputeInstance: isFilled(profile, wantedComputeInstances(wish, profile)),
        },
      ];
    }),
    ...(wanted.migEnabled ? [] : mode),
  ];
  const after: Layout = {
    migEnabled: wanted.migEnabled,
    instances: sortedByStart([
      ...matchedList.filter(isUnchanged).map((match) => match.existing),
      ...changes.map((change) => ({
        ...change.existing,
        computeInstances: sortedByStart([...change.left, ...change.added]),
      })),
      ...coming.map((wish): LayoutInstance => {
        const profile = profileOf(geometry, wish.profileId);
        return {
          profileId: wish.profileId,
          start: wish.start,
          computeInstances: profile === undefined ? [] : wantedComputeInstances(wish, profile),
        };
      }),
    ]),
  };
  return {
    ok: true,
    plan: {
      gpuUuid: request.gpuUuid,
      gpuIndex: request.gpuIndex,
      gpuName: request.gpuName,
      basedOn: layoutVersion(current),
      before: current,
      after,
      steps,
      kept: sortedByStart(matchedList.filter(isUnchanged).map((match) => match.existing)),
    },
  };
}
