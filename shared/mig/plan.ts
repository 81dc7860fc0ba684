import { AppError } from "../errors.ts";
import { type ComputeChange, computeChange, isUnknown, placedByDriver } from "./compute-placing.ts";
import { fillingComputeProfile } from "./compute-profiles.ts";
import { modeChangeNeedsReset, profileOf } from "./geometry.ts";
import { layoutVersion, sortedByStart, wantedComputeInstances } from "./layout.ts";
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

/** An instance that stays; `change` is null where it stays as it is. */
interface Match {
  readonly existing: LayoutInstance;
  readonly profile: GpuInstanceProfile;
  readonly change: ComputeChange | null;
}

function matchOf(existing: LayoutInstance, wish: LayoutInstance, profile: GpuInstanceProfile): Match {
  const before = sortedByStart(existing.computeInstances ?? wantedComputeInstances(existing, profile));
  // Nothing is asked of what is inside, and what is inside could not be read: it is left alone.
  const isLeft = wish.computeInstances === undefined && before.some(isUnknown);
  return {
    existing,
    profile,
    change: isLeft ? null : computeChange(profile, before, wantedComputeInstances(wish, profile)),
  };
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

/** Whether these are the one compute instance that `-C` makes. */
function isFilled(profile: GpuInstanceProfile, computeInstances: readonly LayoutComputeInstance[]): boolean {
  return computeInstances.length === 1 && computeInstances[0]?.profileId === fillingComputeProfile(profile)?.id;
}

const largestFirst = (geometry: GpuGeometry) => (a: LayoutInstance, b: LayoutInstance) =>
  (profileOf(geometry, b.profileId)?.memorySlices ?? 0) - (profileOf(geometry, a.profileId)?.memorySlices ?? 0) ||
  a.start - b.start;

/**
 * The steps from one layout to another, or every rule that forbids it.
 *
 * The fewest steps: an instance that is wanted where it stands, with the same profile, is never touched; one of which only
 * the compute instances differ keeps its GPU instance; all else is one step for each that goes or comes.
 * First MIG mode where it is enabled, then all that goes, then all that comes with the largest first (the one that
 * could fail for want of room fails while little has been made), at last MIG mode where it is disabled.
 *
 * A compute instance is put where the driver will put it, which `after` and the steps show; where that is not where
 * it was wanted, it stays there: planning the same wish again gives no step.
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
    matches.set(wish, matchOf(stands, wish, profile));
  }

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
    return match?.change === null
      ? identity
      : { ...identity, ...(wish.computeInstances === undefined ? {} : { computeInstances: wish.computeInstances }) };
  });
  const illegal = checkLayout(geometry, { migEnabled: wanted.migEnabled, instances: toCheck });
  if (illegal.length > 0) return { ok: false, refusals: illegal };

  const matchedList = [...matches.values()];
  const staying = new Set(matchedList.map((match) => match.existing));
  const leaving = existing.filter((instance) => !staying.has(instance));
  const coming = wanted.instances.filter((wish) => !matches.has(wish)).toSorted(largestFirst(geometry));
  const unchanged = matchedList.flatMap(({ existing, change }) => (change === null ? [existing] : []));
  const changes = matchedList.flatMap(({ existing, profile, change }) =>
    change === null ? [] : [{ existing, profile, ...change }],
  );

  const held = [
    ...leaving.filter((instance) => instance.inUse),
    ...changes.filter((change) => change.removed.length > 0 && change.existing.inUse).map((change) => change.existing),
  ].map((instance) => inUseRefusal(instance, nameOf(instance.profileId)));
  const modeChanges = current.migEnabled !== wanted.migEnabled;
  const modeHeld =
    modeChanges && (held.length > 0 || (wanted.migEnabled && request.wholeGpuInUse === true))
      ? [refuse({ rule: "mig-mode-in-use", instances: held.length })]
      : [];
  const refusals = [...held, ...modeHeld];
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
      const inside = placedByDriver(profile, [], wantedComputeInstances(wish, profile));
      return [
        {
          kind: "create-instance",
          profileId: profile.id,
          profile: profile.name,
          placement: placementOf(wish),
          computeInstances: inside,
          defaultComputeInstance: isFilled(profile, inside),
        },
      ];
    }),
    ...(wanted.migEnabled ? [] : mode),
  ];
  const after: Layout = {
    migEnabled: wanted.migEnabled,
    instances: sortedByStart([
      ...unchanged,
      ...changes.map((change) => ({
        ...change.existing,
        computeInstances: sortedByStart([...change.left, ...change.added]),
      })),
      ...coming.map((wish): LayoutInstance => {
        const profile = profileOf(geometry, wish.profileId);
        return {
          profileId: wish.profileId,
          start: wish.start,
          computeInstances:
            profile === undefined ? [] : placedByDriver(profile, [], wantedComputeInstances(wish, profile)),
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
      kept: sortedByStart(unchanged),
    },
  };
}
