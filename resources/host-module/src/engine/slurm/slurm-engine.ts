/** Limits kept by Slurm: accounts are our ids, and slurmdbd is the truth about what holds. */
import { setTimeout as sleep } from "node:timers/promises";
import { AppError, type AppErrorData, toErrorData } from "../../../../../shared/errors.ts";
import type { SlurmTransactionView } from "../../../../../shared/protocol/control.ts";
import type { SlurmSettings } from "../../slurm/config.ts";
import { padType } from "../../slurm/nodes.ts";
import { SlurmReader } from "../../slurm/reader.ts";
import type { SlurmFacts, Unread } from "../../slurm/reading.ts";
import type { SlurmTransaction } from "../../slurm/transactions.ts";
import { explainWait } from "../../slurm/wait-reason.ts";
import type { System } from "../../system.ts";
import { type Baselines, type Engine, noBaselines } from "../engine.ts";
import { applyChanges } from "./apply.ts";
import { commandsOf, slurmChangesOf } from "./changes.ts";
import { allocationsOf, stateOfJob, timeOf, waitReasonOf } from "./jobs.ts";
import { limitsFromSlurm, resourcesOf, type SlurmResources, toSlurm } from "./limit-mapping.ts";
import { minutesIn, notCountedAt, stateOf, usageIn } from "./state.ts";
import { silentStatus, statusOf } from "./status.ts";

const cancelTimeoutMs = 30_000;
const pollMs = 250;

interface Cluster {
  readonly name: string;
  readonly settings: SlurmSettings;
  readonly gpuTypes: readonly string[];
  readonly resources: SlurmResources;
}

/**
 * The engine of the cluster whose tools this host has. Never throws: where slurmctld does not answer, `status` says so and
 * the rest throws AppError `timeout`; an engine made later asks again.
 */
export async function slurmEngine(system: System, signal?: AbortSignal): Promise<Engine> {
  const reader = new SlurmReader(system, signal);
  return engineOf(system, reader, await findCluster(reader), signal);
}

type Found = { readonly atMs: number } & (
  | { readonly cluster: Cluster; readonly error: null }
  | { readonly cluster: null; readonly error: AppErrorData }
);

/** A status is about the configuration as it is now; one that was read to make this engine is. */
const statusMaxAgeMs = 2_000;

async function findCluster(reader: SlurmReader): Promise<Found> {
  const atMs = performance.now();
  return readCluster(reader).then(
    (cluster) => ({ atMs, cluster, error: null }),
    (error: unknown) => ({ atMs, cluster: null, error: toErrorData(error) }),
  );
}

async function readCluster(reader: SlurmReader): Promise<Cluster> {
  const settings = factsOf(await reader.settings());
  const nodes = factsOf(await reader.nodes());
  const { cluster } = settings;
  if (cluster === null) throw silent("scontrol show config names no cluster");
  const gpuTypes = [...new Set(nodes.flatMap((node) => Object.keys(node.gpusByType)))].filter((t) => t !== padType);
  return { name: cluster, settings, gpuTypes, resources: resourcesOf(settings.trackedTres, gpuTypes) };
}

function engineOf(system: System, reader: SlurmReader, first: Found, signal: AbortSignal | undefined): Engine {
  let found = first;
  const here = (): Cluster => {
    if (found.cluster === null) throw new AppError(found.error);
    return found.cluster;
  };

  const notCounted = (baselines: Baselines) => {
    const { resources, settings } = here();
    return notCountedAt(baselines, resources, settings.decayHalfLifeSeconds, system.now().getTime());
  };

  return {
    kind: "slurm",

    status: async () => {
      if (performance.now() - found.atMs > statusMaxAgeMs) found = await findCluster(reader);
      const version = (await reader.version()).facts?.release ?? null;
      if (found.cluster === null) return silentStatus(version, found.error.message);
      const { settings, gpuTypes, resources } = found.cluster;
      return statusOf(settings, await reader.capabilities(), settings.release ?? version, gpuTypes, resources);
    },

    kept: (limits) => {
      const { resources } = here();
      return limitsFromSlurm(toSlurm(limits, resources), resources, limits.cardHours?.period ?? { kind: "none" });
    },

    state: async (people, periodOf, baselines = noBaselines) => {
      const { resources, name } = here();
      const all = await reader.associations();
      const associations = factsOf(all).filter(({ cluster }) => cluster === name);
      const [accounts, qos, partitions] = [await reader.accounts(), await reader.qos(), await reader.partitions()];
      const state = stateOf(
        {
          associations,
          accounts: accounts.facts ?? [],
          qos: qos.facts ?? [],
          partitions: partitions.facts ?? [],
        },
        people,
        resources,
        periodOf,
        baselines,
      );
      return {
        ...state,
        unread: [...state.unread, ...wordsOf([all, accounts, qos, partitions].flatMap((each) => each.unread))],
      };
    },

    usage: async (people, periodOf, baselines = noBaselines) => {
      const { resources } = here();
      const manager = factsOf(await reader.associationManager());
      return usageIn(manager, people, resources, periodOf, notCounted(baselines));
    },

    counted: async (people) => {
      const { resources, settings } = here();
      const minutes = minutesIn(factsOf(await reader.associationManager()), people, resources);
      return { counter: resources.cards?.tres ?? "", minutes, halfLifeSeconds: settings.decayHalfLifeSeconds };
    },

    commands: (changes) => {
      const { resources, name } = here();
      const all = changes.flatMap((change) => slurmChangesOf(change, resources));
      return commandsOf(all, name).map(({ argv }) => argv);
    },

    apply: async (changes, options) => {
      const { cluster, error } = found;
      if (cluster === null) return changes.map(() => ({ outcome: "failed" as const, error }));
      return applyChanges(changes, { ...options, reader, cluster: cluster.name, resources: cluster.resources });
    },

    allocations: async (people) => {
      const { resources } = here();
      return allocationsOf(factsOf(await reader.jobs()), people, resources);
    },

    cancel: async (ids) => {
      here();
      await cancelJobs(system, reader, ids, signal);
    },

    explain: async (id, people, periodOf, baselines = noBaselines) => {
      const { resources, settings } = here();
      const job = factsOf(await reader.jobs()).find((job) => String(job.id) === id);
      if (job === undefined || stateOfJob(job) !== "waiting") {
        throw new AppError({
          code: "not-found",
          message: `No job ${id} waits in Slurm.`,
          remedy: "It has started, ended or never was: look at the list again.",
        });
      }
      const manager = factsOf(await reader.associationManager());
      const explanation = explainWait({ job, manager, safe: settings.enforce.includes("safe") });
      const off = { fromLimit: baselines.inLimit, fromUse: notCounted(baselines) };
      return waitReasonOf(explanation, people, resources, periodOf, off);
    },

    transactions: async (days) =>
      factsOf(await reader.transactions(days))
        .flatMap(transactionView)
        .toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)),
  };
}

function transactionView({
  at,
  actor,
  action,
  where,
  changes,
  info,
}: SlurmTransaction): readonly SlurmTransactionView[] {
  const time = timeOf(at);
  const words = Object.entries(changes).map(([name, value]) => `${name}=${value ?? "none"}`);
  return time === null ? [] : [{ at: time, actor, action, where, info: words.length === 0 ? info : words.join(" ") }];
}

async function cancelJobs(
  system: System,
  reader: SlurmReader,
  ids: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (ids.length === 0) return;
  const bad = ids.find((id) => !/^\d{1,10}$/.test(id));
  if (bad !== undefined) {
    throw new AppError({ code: "bad-request", message: `${JSON.stringify(bad)} is no job.`, remedy: "Name job ids." });
  }
  const argv = ["scancel", ...ids];
  const options = { timeoutMs: cancelTimeoutMs, ...(signal === undefined ? {} : { signal }) };
  const { stderr, exitStatus } = await system.run(argv, options);
  const wanted = new Set(ids);
  const end = performance.now() + cancelTimeoutMs;
  for (;;) {
    const jobs = factsOf(await reader.jobs());
    const left = jobs.filter((job) => wanted.has(String(job.id)) && stateOfJob(job) !== null).map(({ id }) => id);
    if (left.length === 0) return;
    if (performance.now() > end || signal?.aborted === true || exitStatus === 127) {
      throw new AppError({
        code: "in-use",
        message: `Still there after being cancelled: ${left.length === 1 ? "job" : "jobs"} ${left.join(", ")}.`,
        remedy: "A node that does not answer keeps its jobs: look at it, then cancel again.",
        evidence: { command: argv, exitStatus, stderr: new TextDecoder().decode(stderr).slice(0, 2_000) },
      });
    }
    await sleep(pollMs);
  }
}

function factsOf<Facts>({ facts, unread }: SlurmFacts<Facts | null>): Facts {
  if (facts !== null) return facts;
  throw silent(wordsOf(unread)[0] ?? "");
}

function wordsOf(unread: readonly Unread[]): readonly string[] {
  return unread.map(({ source, field, reason, raw }) =>
    [source, field, `${reason}${raw === "" ? "" : ` (${raw})`}`].filter((word) => word !== "").join(": "),
  );
}

function silent(details: string): AppError {
  return new AppError({
    code: "timeout",
    message: "Slurm did not answer.",
    remedy: "See that slurmctld and slurmdbd run, and that this host has their tools.",
    evidence: { details },
  });
}
