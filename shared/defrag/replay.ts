/**
 * A plan carried out move by move on a copy of the layout, holding every rule at every moment. It shares nothing with what
 * makes plans but the rules of MIG and the table of GPUs, so that a mistake there is found here.
 */
import { checkLayout, geometryFor, profileNamed } from "../mig/index.ts";
import type { Allocation, ClusterGpu, ClusterInstance, ClusterLayout, ExecutionMode, Move } from "./types.ts";

/** What is wrong with a plan: the move at which it shows, and what. */
export interface ReplayFault {
  /** Position in `moves`. */
  readonly move: number;
  readonly reason: string;
}

export type Replay =
  | { readonly ok: true; readonly after: ClusterLayout; readonly freeGpus: number; readonly cost: number }
  | { readonly ok: false; readonly fault: ReplayFault };

interface Standing {
  readonly instance: ClusterInstance;
  /** Where it came from, which its moves keep naming. */
  readonly id: number;
}

interface GpuNow {
  readonly key: string;
  readonly gpu: ClusterGpu;
  readonly pool: string | null;
  standing: Standing[];
}

const keyOf = (host: string, gpu: number) => `${host} ${gpu}`;

/** Whether nobody holds any of it. */
export function isFreeGpu(gpu: ClusterGpu): boolean {
  return gpu.allocation === null && gpu.instances.every(({ allocation }) => allocation === null);
}

function gpusOf(layout: ClusterLayout): ReadonlyMap<string, GpuNow> {
  return new Map(
    layout.hosts.flatMap((host) =>
      host.gpus.map((gpu): readonly [string, GpuNow] => {
        const key = keyOf(host.name, gpu.index);
        const standing = gpu.instances.map((instance) => ({ instance, id: instance.id }));
        return [key, { key, gpu, pool: host.pool, standing }];
      }),
    ),
  );
}

/** Why the instance cannot be made there beside all that is held at this moment; null where it can. */
function whyNotThere(target: GpuNow, profileName: string, start: number): string | null {
  const { gpu } = target;
  if (gpu.allocation !== null) return "the target is held as a whole";
  const geometry = geometryFor({ name: gpu.model });
  if (geometry === null) return `${gpu.model} cannot be divided`;
  const held = target.standing.filter(({ instance }) => instance.allocation !== null);
  const ids = [...held.map(({ instance }) => instance), { profile: profileName, start }].map((one) => ({
    profileId: profileNamed(geometry, one.profile)?.id ?? Number.NaN,
    start: one.start,
  }));
  return checkLayout(geometry, { migEnabled: true, instances: ids })[0]?.sentence ?? null;
}

interface Carried {
  readonly source: GpuNow;
  readonly standing: Standing;
  readonly allocation: Allocation;
}

function sourceOf(gpus: ReadonlyMap<string, GpuNow>, move: Move): Carried | string {
  const source = gpus.get(keyOf(move.from.host, move.from.gpu));
  const standing = source?.standing.find(
    ({ instance, id }) =>
      id === move.from.instance && instance.start === move.from.start && instance.allocation !== null,
  );
  const allocation = standing?.instance.allocation ?? null;
  if (source === undefined || standing === undefined || allocation === null) return "nothing that is held stands there";
  if (!allocation.movable) return "it may not be moved";
  if (standing.instance.profile !== move.profile) return `it is a ${standing.instance.profile}`;
  return { source, standing, allocation };
}

/** Whether the instances may exist together on the GPU. */
function mayStand(gpu: ClusterGpu, places: readonly Pick<ClusterInstance, "profile" | "start">[]): boolean {
  const geometry = geometryFor({ name: gpu.model });
  if (geometry === null) return false;
  const instances = places.map(({ profile, start }) => ({
    profileId: profileNamed(geometry, profile)?.id ?? Number.NaN,
    start,
  }));
  return checkLayout(geometry, { migEnabled: true, instances }).length === 0;
}

/**
 * The one division of a GPU that nobody holds: for what comes now, and as much of what comes later as may stand beside it.
 * Whatever does not is judged when it comes.
 */
function divide(target: GpuNow, coming: readonly Move[]): void {
  const made: Standing[] = [];
  for (const { profile, from, to } of coming) {
    if (keyOf(to.host, to.gpu) !== target.key) continue;
    const places = made.map(({ instance }) => instance);
    if (!mayStand(target.gpu, [...places, { profile, start: to.start }])) continue;
    made.push({ instance: { id: from.instance, profile, start: to.start, allocation: null }, id: from.instance });
  }
  target.standing = made;
}

/** In mode `empty`: hands on an instance that exists, after a division where nobody holds any of the GPU. */
function handOn(target: GpuNow, coming: readonly Move[]): string | null {
  const [move] = coming;
  const existing = () =>
    target.standing.findIndex(
      ({ instance }) =>
        instance.allocation === null && instance.profile === move?.profile && instance.start === move.to.start,
    );
  const isHeld = target.standing.some(({ instance }) => instance.allocation !== null);
  if (existing() < 0 && isHeld) return "the target would be divided anew while it is held";
  if (!isHeld) divide(target, coming);
  target.standing.splice(existing(), 1);
  return null;
}

/** Makes the new place, or says why not. What the move leaves stays until `leave`. */
function arrive(
  gpus: ReadonlyMap<string, GpuNow>,
  coming: readonly Move[],
  carried: Carried,
  mode: ExecutionMode,
): string | null {
  const [move] = coming;
  if (move === undefined) return null;
  const target = gpus.get(keyOf(move.to.host, move.to.gpu));
  if (target === undefined) return "there is no such target";
  if (target.pool !== carried.source.pool) return "the target is in another pool";
  const [from, to] = [carried.source.gpu.model, target.gpu.model].map((name) => geometryFor({ name })?.key);
  if (from !== to) return "the target is of another model";
  const reason = whyNotThere(target, move.profile, move.to.start);
  if (reason !== null) return reason;
  if (mode === "empty") {
    const refusal = handOn(target, coming);
    if (refusal !== null) return refusal;
  } else {
    // Instances that nobody holds give way.
    target.standing = target.standing.filter(({ instance }) => instance.allocation !== null);
  }
  const instance = { ...carried.standing.instance, start: move.to.start };
  target.standing.push({ instance, id: carried.standing.id });
  return null;
}

function layoutNow(layout: ClusterLayout, gpus: ReadonlyMap<string, GpuNow>): ClusterLayout {
  const hosts = layout.hosts.map((host) => ({
    ...host,
    gpus: host.gpus.map((gpu) => {
      const standing = gpus.get(keyOf(host.name, gpu.index))?.standing ?? [];
      const instances = standing.map(({ instance }) => instance).sort((a, b) => a.start - b.start);
      return { ...gpu, mig: gpu.mig || instances.length > 0, instances };
    }),
  }));
  return { ...layout, hosts };
}

/**
 * Carries out `moves` in their order. Moves of one order run together: the new places of all of them are made while all
 * their old ones still stand. Faults: an order that falls, an instance that does not stand where it is said to, one that may
 * not be moved, a target that overlaps anything held or breaks a rule of MIG, another pool or model. In mode `empty` also a
 * target that is no existing instance of the profile, on a GPU that somebody holds; in `free-space` more than one order.
 */
export function replay(layout: ClusterLayout, moves: readonly Move[], mode: ExecutionMode = "in-use"): Replay {
  const gpus = gpusOf(layout);
  let cost = 0;
  let leaving: Carried[] = [];
  const leave = () => {
    for (const { source, standing } of leaving) {
      source.standing = source.standing.filter((one) => one !== standing);
      // What was left goes on existing until the GPU is divided anew.
      if (mode === "empty") source.standing.push({ ...standing, instance: { ...standing.instance, allocation: null } });
    }
    leaving = [];
  };
  for (const [position, move] of moves.entries()) {
    const fault = (reason: string): Replay => ({ ok: false, fault: { move: position, reason } });
    const before = moves[position - 1]?.order ?? 0;
    if (move.order < before) return fault("its order is below the one before");
    if (mode === "free-space" && position > 0 && move.order > before) return fault("there is more than one order");
    if (move.order > before) leave();
    const carried = sourceOf(gpus, move);
    if (typeof carried === "string") return fault(carried);
    if (leaving.some(({ standing }) => standing === carried.standing)) return fault("it is on the way already");
    const reason = arrive(gpus, mode === "empty" ? moves.slice(position) : [move], carried, mode);
    if (reason !== null) return fault(reason);
    leaving.push(carried);
    cost += carried.allocation.cost;
  }
  leave();
  const after = layoutNow(layout, gpus);
  return { ok: true, after, cost, freeGpus: after.hosts.flatMap(({ gpus: all }) => all).filter(isFreeGpu).length };
}
