/** Hosts without SSH and without processes, behind the same interface: for tests of what stands above the connection. */

import { AppError, type AppErrorData } from "../../../shared/errors.ts";
import { commandsOf, layoutOf, layoutVersion, planGpu } from "../../../shared/mig/index.ts";
import type { GpuPlan, Layout } from "../../../shared/mig/types.ts";
import type { Json } from "../../../shared/protocol/changes.ts";
import { changesBetween } from "../../../shared/protocol/changes.ts";
import {
  type ApplyResult,
  type HostPlan,
  type Operation,
  protocolVersion,
  type StepProgress,
  type WatchEvent,
} from "../../../shared/protocol/contract.ts";
import type { HostInventory } from "../../../shared/protocol/inventory.ts";
import type { HostConnector, HostLink } from "../clusters/connector.ts";
import { fakeGeometry, fakeInventory, instancesOf } from "./fake-inventory.ts";

/** WantedGpu as JSON carries it: what is not there is absent, never undefined. */
interface WantedGpu {
  readonly gpuUuid: string;
  readonly layout: Layout;
  readonly basedOn?: string;
}

type Fault = { readonly code: AppErrorData["code"]; readonly message: string };

/** One host that a test can look into and break. */
export class FakeHost {
  readonly name: string;
  inventory: HostInventory;
  /** The next connections fail with this, until it is null again. */
  refuses: Fault | null = null;
  /** Called between the steps of an apply. */
  betweenSteps: () => Promise<void> = async () => undefined;
  readonly operations: Operation[] = [];
  /** Somebody is at work on the open operation. */
  running = false;
  connections = 0;
  requests: string[] = [];
  /** Answers of commands that are not faked here, by their names; a task's gets `progress` and its signal too. */
  readonly answers = new Map<
    string,
    (input: unknown, progress: (value: unknown) => void, signal: AbortSignal | undefined) => unknown
  >();
  readonly #watchers = new Set<(event: WatchEvent) => void>();
  readonly #links = new Set<(error: AppErrorData) => void>();
  #revision = 0;
  #nextInstanceId = 100;

  constructor(name: string, layouts: readonly Layout[]) {
    this.name = name;
    this.inventory = fakeInventory(name, layouts);
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Changes what the host is, and pushes the difference to whoever watches. */
  become(inventory: HostInventory): void {
    const changes = changesBetween(asJson(this.inventory), asJson(inventory));
    this.inventory = inventory;
    this.push(changes);
  }

  push(changes: WatchEvent["changes"], skip = 0): void {
    this.#revision += 1 + skip;
    const event = structuredClone({ revision: this.#revision, takenAt: this.inventory.takenAt, changes });
    for (const watcher of this.#watchers) watcher(event);
  }

  /** The network goes away under every connection. */
  cut(): void {
    for (const gone of [...this.#links]) gone(error("ssh-closed", `The connection to ${this.name} went away.`));
  }

  link(): HostLink {
    if (this.refuses !== null) throw new AppError(error(this.refuses.code, this.refuses.message));
    this.connections += 1;
    const dead = Promise.withResolvers<AppErrorData>();
    const failed = dead.promise.then((data) => Promise.reject(new AppError(data)));
    failed.catch(() => undefined);
    const end = (data: AppErrorData): void => {
      this.#links.delete(end);
      dead.resolve(data);
    };
    this.#links.add(end);
    return {
      hello: {
        protocolVersion,
        version: "0.0.0",
        hostName: this.name,
        root: true,
        caller: { uid: 0, user: "root" },
      },
      request: (method, input) => {
        this.requests.push(method);
        return Promise.race([failed, this.#answer(method, input)]) as Promise<never>;
      },
      task: (method, input, progress, signal) => {
        this.requests.push(method);
        const run = this.#run(
          method,
          input,
          progress as (value: unknown) => void,
          signal ?? new AbortController().signal,
        );
        return Promise.race([failed, run]) as Promise<never>;
      },
      closed: dead.promise,
      close: () => end(error("ssh-closed", "Closed on purpose.")),
    };
  }

  async #answer(method: string, input: unknown): Promise<unknown> {
    const own = this.answers.get(method);
    if (own !== undefined) return own(input, () => undefined, undefined);
    switch (method) {
      case "inventory":
        return structuredClone(this.inventory);
      case "mig.plan":
        return this.#plan((input as { gpus: readonly WantedGpu[] }).gpus);
      case "mig.status":
        return {
          operations: this.operations.toReversed(),
          open: this.operations.find((operation) => operation.state === "open") ?? null,
          running: this.running,
          undoable: this.operations.findLast(({ state }) => state === "applied")?.id ?? null,
          saved: [],
          restoreOffered: false,
        };
      case "mig.save":
        return { savedGpus: this.inventory.gpus.length };
      default:
        return [];
    }
  }

  async #run(
    method: string,
    input: unknown,
    progress: (value: unknown) => void,
    signal: AbortSignal,
  ): Promise<unknown> {
    const own = this.answers.get(method);
    if (own !== undefined) return own(input, progress, signal);
    if (method === "watch") return this.#watch(progress, signal);
    const step = progress as (value: StepProgress) => void;
    if (method === "mig.apply") return this.#apply((input as { gpus: readonly WantedGpu[] }).gpus, step, signal);
    if (method === "mig.undo") {
      const { operationId } = input as { operationId?: string };
      const operation = this.operations.find((one) => one.id === operationId);
      if (operation === undefined) throw new AppError(error("not-found", "No such operation."));
      const gpus = operation.gpus.map((plan) => ({ gpuUuid: plan.gpuUuid, layout: plan.before }));
      return this.#apply(gpus, step, signal);
    }
    throw new AppError(error("internal", `${method} is not faked.`));
  }

  #watch(progress: (event: WatchEvent) => void, signal: AbortSignal): Promise<null> {
    progress({
      revision: this.#revision,
      takenAt: this.inventory.takenAt,
      changes: [{ path: [], value: asJson(this.inventory) }],
    });
    this.#watchers.add(progress);
    return new Promise((resolve) =>
      signal.addEventListener("abort", () => {
        this.#watchers.delete(progress);
        resolve(null);
      }),
    );
  }

  #plan(wanted: readonly WantedGpu[]): HostPlan {
    return { host: this.name, gpus: wanted.map((gpu) => this.#planGpu(gpu)) };
  }

  #planGpu({ gpuUuid, layout, basedOn }: WantedGpu): GpuPlan {
    const gpu = this.inventory.gpus.find((candidate) => candidate.uuid === gpuUuid);
    if (gpu === undefined) throw new AppError(error("not-found", `No GPU ${gpuUuid}.`));
    const current = layoutOf(gpu, fakeGeometry());
    if (basedOn !== undefined && basedOn !== layoutVersion(current)) {
      throw new AppError(error("stale-plan", "The layout has changed since."));
    }
    const outcome = planGpu({
      gpuUuid,
      gpuIndex: gpu.index,
      gpuName: gpu.name,
      geometry: fakeGeometry(),
      current,
      wanted: layout,
    });
    if (!outcome.ok) throw new AppError(error("illegal-layout", outcome.refusals[0]?.sentence ?? "Not possible."));
    return outcome.plan;
  }

  async #apply(
    wanted: readonly WantedGpu[],
    progress: (step: StepProgress) => void,
    signal: AbortSignal,
  ): Promise<ApplyResult> {
    const plan = this.#plan(wanted);
    const commands: (readonly string[])[] = [];
    const operationId = `${this.name}-${this.operations.length + 1}`;
    for (const gpu of plan.gpus) {
      for (const [stepIndex, step] of gpu.steps.entries()) {
        await this.betweenSteps();
        if (signal.aborted) return { operationId, outcome: "cancelled", gpus: plan.gpus, commands };
        const stepCommands = commandsOf(step, gpu.gpuUuid);
        commands.push(...stepCommands);
        progress({
          operationId,
          gpuUuid: gpu.gpuUuid,
          stepIndex,
          stepCount: gpu.steps.length,
          step,
          commands: stepCommands,
          rollingBack: false,
          outcome: { kind: "done", durationMs: 1 },
        });
      }
    }
    this.#nextInstanceId += 10;
    const after = new Map(plan.gpus.map((gpu) => [gpu.gpuUuid, gpu]));
    this.become({
      ...this.inventory,
      gpus: this.inventory.gpus.map((gpu) => {
        const changed = after.get(gpu.uuid);
        if (changed === undefined) return gpu;
        const mode = changed.after.migEnabled ? "enabled" : "disabled";
        return {
          ...gpu,
          mig: { current: mode, pending: mode },
          instances: instancesOf(changed.after, gpu.uuid, this.#nextInstanceId),
        };
      }),
    });
    this.operations.push({
      id: operationId,
      kind: "apply",
      state: "applied",
      startedAt: this.inventory.takenAt,
      endedAt: this.inventory.takenAt,
      caller: { uid: 0, user: "root" },
      reason: null,
      gpus: plan.gpus,
      doneSteps: plan.gpus.reduce((sum, gpu) => sum + gpu.steps.length, 0),
      begunStep: null,
    });
    return { operationId, outcome: "applied", gpus: plan.gpus, commands };
  }
}

/** Finds hosts by their destination. */
export function fakeConnector(hosts: readonly FakeHost[]): HostConnector {
  const byName = new Map(hosts.map((host) => [host.name, host]));
  return {
    connect: async ({ destination }, phase) => {
      const host = byName.get(destination);
      if (host === undefined) throw new AppError(error("ssh-unreachable", `No host ${destination}.`));
      phase("handshake");
      phase("starting");
      return host.link();
    },
  };
}

function error(code: AppErrorData["code"], message: string): AppErrorData {
  return { code, message, remedy: "" };
}

/** An inventory is plain data by its contract. */
function asJson(inventory: HostInventory): Json {
  return JSON.parse(JSON.stringify(inventory)) as Json;
}
