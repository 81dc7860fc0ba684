/**
 * A little driver for tests: it takes the commands of a plan, holds every rule at every moment, and says what
 * `nvidia-smi` says. It shares no code with the planner, and is stricter than needed: anything it does not
 * expect to be asked is an error.
 */
import type { GpuGeometry, Layout, LayoutComputeInstance, LayoutInstance } from "../types.ts";
import { mayExistTogether } from "./layouts.ts";

interface ModelInstance {
  id: number;
  profileId: number;
  start: number;
  inUse: boolean;
  computeInstances: { id: number; profileId: number; start: number }[];
}

export interface Answer {
  readonly words: string | null;
  /** GPU instance ID of what was created. */
  readonly created?: number;
}

const done: Answer = { words: null };
const failed = (words: string): Answer => ({ words });

export class DriverModel {
  readonly geometry: GpuGeometry;
  readonly uuid: string;
  readonly resetOnModeChange: boolean;
  migEnabled: boolean;
  pending: boolean;
  instances: ModelInstance[] = [];
  #nextId = 1;

  constructor(geometry: GpuGeometry, uuid: string, layout: Layout, resetOnModeChange: boolean) {
    this.geometry = geometry;
    this.uuid = uuid;
    this.resetOnModeChange = resetOnModeChange;
    this.migEnabled = layout.migEnabled;
    this.pending = layout.migEnabled;
    for (const instance of layout.instances) {
      const id = this.#nextId++;
      const computeInstances = (instance.computeInstances ?? this.#filling(instance.profileId)).map(
        ({ profileId, start }, number) => ({ id: number, profileId, start }),
      );
      const { profileId, start, inUse = false } = instance;
      this.instances.push({ id, profileId, start, inUse, computeInstances });
    }
  }

  layout(): Layout {
    return {
      migEnabled: this.migEnabled,
      instances: this.instances
        .map((instance): LayoutInstance => ({ ...instance, computeInstances: [...instance.computeInstances] }))
        .sort((a, b) => a.start - b.start),
    };
  }

  run(command: readonly string[]): Answer {
    const words = command.join(" ");
    const matched = (pattern: RegExp) => pattern.exec(words)?.groups;
    if (!words.endsWith(`-i ${this.uuid}`) && !words.startsWith(`nvidia-smi -i ${this.uuid} `)) {
      return failed("acts on every GPU");
    }
    const mode = matched(/^nvidia-smi -i \S+ -mig (?<mode>[01])$/);
    if (mode !== undefined) return this.#setMode(mode.mode === "1");
    if (/^nvidia-smi --gpu-reset -i \S+$/.test(words)) {
      if (this.instances.length > 0) return failed("In use by another client");
      this.migEnabled = this.pending;
      return done;
    }
    if (!this.migEnabled) return failed("No MIG-enabled devices found.");
    const create = matched(/^nvidia-smi mig -cgi (?<profile>[^:\s]+):(?<start>\d+)(?<fill> -C)? -i \S+$/);
    if (create !== undefined)
      return this.#create(create.profile ?? "", Number(create.start), create.fill !== undefined);
    const destroy = matched(/^nvidia-smi mig -dgi -gi (?<gi>\d+) -i \S+$/);
    if (destroy !== undefined) return this.#destroy(Number(destroy.gi));
    const createInside = matched(/^nvidia-smi mig -cci (?<profile>\d+) -gi (?<gi>\d+) -i \S+$/);
    if (createInside !== undefined) return this.#createInside(Number(createInside.gi), Number(createInside.profile));
    const destroyInside = matched(/^nvidia-smi mig -dci -ci (?<ci>\d+) -gi (?<gi>\d+) -i \S+$/);
    if (destroyInside !== undefined) return this.#destroyInside(Number(destroyInside.gi), Number(destroyInside.ci));
    return failed(`not understood: ${words}`);
  }

  #profile(profileId: number) {
    return this.geometry.profiles.find((profile) => profile.id === profileId);
  }

  #filling(profileId: number): readonly LayoutComputeInstance[] {
    const profile = this.#profile(profileId);
    const inside = profile?.computeInstanceProfiles.find((one) => one.computeSlices === profile.computeSlices);
    return inside === undefined ? [] : [{ profileId: inside.id, start: 0 }];
  }

  #setMode(enabled: boolean): Answer {
    if (!enabled && this.instances.length > 0) return failed("In use by another client");
    this.pending = enabled;
    if (!this.resetOnModeChange) this.migEnabled = enabled;
    return done;
  }

  #create(profileName: string, start: number, fill: boolean): Answer {
    const profile = this.geometry.profiles.find(
      (candidate) => String(candidate.id) === profileName || candidate.name === profileName,
    );
    if (profile === undefined || !profile.starts.includes(start)) return failed("Invalid Argument");
    const together = [...this.instances, { profileId: profile.id, start }];
    if (!mayExistTogether(this.geometry, together)) return failed("Insufficient Resources");
    const id = this.#nextId++;
    const computeInstances = fill ? this.#filling(profile.id).map((inside) => ({ ...inside, id: 0 })) : [];
    this.instances.push({ id, profileId: profile.id, start, inUse: false, computeInstances });
    return { words: null, created: id };
  }

  #destroy(id: number): Answer {
    const instance = this.instances.find((candidate) => candidate.id === id);
    if (instance === undefined) return failed("Not Found");
    if (instance.inUse || instance.computeInstances.length > 0) return failed("In use by another client");
    this.instances = this.instances.filter((candidate) => candidate !== instance);
    return done;
  }

  #createInside(id: number, profileId: number): Answer {
    const instance = this.instances.find((candidate) => candidate.id === id);
    if (instance === undefined) return failed("Not Found");
    const profile = this.#profile(instance.profileId);
    const sizeOf = (of: number) => profile?.computeInstanceProfiles.find((one) => one.id === of)?.computeSlices ?? 0;
    const inside = profile?.computeInstanceProfiles.find((one) => one.id === profileId);
    if (inside === undefined) return failed("Invalid Argument");
    const taken = new Set(
      instance.computeInstances.flatMap((one) =>
        Array.from({ length: sizeOf(one.profileId) }, (_, slice) => one.start + slice),
      ),
    );
    const isFree = (start: number) =>
      Array.from({ length: inside.computeSlices }, (_, slice) => start + slice).every((slice) => !taken.has(slice));
    // First fit: the driver chooses, and the lowest free start is what it was seen to choose.
    const start = [...inside.starts].sort((a, b) => a - b).find(isFree);
    if (start === undefined) return failed("Insufficient Resources");
    const used = new Set(instance.computeInstances.map((one) => one.id));
    let ci = 0;
    while (used.has(ci)) ci++;
    instance.computeInstances.push({ id: ci, profileId, start });
    return done;
  }

  #destroyInside(id: number, ci: number): Answer {
    const instance = this.instances.find((candidate) => candidate.id === id);
    if (instance === undefined || !instance.computeInstances.some((one) => one.id === ci)) return failed("Not Found");
    if (instance.inUse) return failed("In use by another client");
    instance.computeInstances = instance.computeInstances.filter((one) => one.id !== ci);
    return done;
  }
}
