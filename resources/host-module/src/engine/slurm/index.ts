/** Slurm as the engine: slurmdbd is the truth about accounts and limits, slurmctld about what is in use. */
import { AppError, type AppErrorData } from "../../../../../shared/errors.ts";
import type { Enforcement, EngineStatus } from "../../../../../shared/protocol/control.ts";
import type { SlurmAnswer } from "../../slurm/answers.ts";
import { commandsFor, type SlurmChange, type SlurmCommand } from "../../slurm/commands.ts";
import { checkSlurm, type QuotaEnforcement } from "../../slurm/doctor.ts";
import type { SlurmJob } from "../../slurm/jobs.ts";
import { SlurmReader } from "../../slurm/reader.ts";
import type { SlurmFacts } from "../../slurm/reading.ts";
import type { System } from "../../system.ts";
import type { Engine, EngineChange, EngineOutcome, EnginePerson, EngineState } from "../engine.ts";
import { slurmChanges } from "./changes.ts";
import { cardShareGres } from "./counted-gres.ts";
import { waitReason } from "./explain.ts";
import { type CardCounting, isSameInSlurm } from "./limit-mapping.ts";
import { engineState } from "./state.ts";
import { allocationsOf, liveUsage, phaseOf } from "./usage.ts";

const cancelledWithinMs = 30_000;
const pollMs = 500;

/** Throws AppError where slurmctld or slurmdbd does not answer. */
export async function slurmEngine(system: System): Promise<Engine> {
  const reader = new SlurmReader(system);
  const settings = known(await reader.settings(), "scontrol show config");
  const cluster = settings.cluster ?? "";
  const counting: CardCounting = settings.trackedTres.includes(`gres/${cardShareGres}`) ? "shares" : "whole";
  return new SlurmEngine(system, reader, cluster, counting);
}

function known<Facts>(reading: SlurmFacts<Facts | null>, what: string): Facts {
  if (reading.facts !== null) return reading.facts;
  const [first] = reading.unread;
  throw new AppError({
    code: "unreadable",
    message: `Slurm does not answer (${what}).`,
    remedy: "Nothing was changed. Look whether slurmctld and slurmdbd run, then try again.",
    evidence: { details: first === undefined ? "" : `${first.source}: ${first.reason}\n${first.raw}` },
  });
}

class SlurmEngine implements Engine {
  readonly kind = "slurm";
  private readonly system: System;
  private readonly reader: SlurmReader;
  private readonly cluster: string;
  private readonly counting: CardCounting;

  constructor(system: System, reader: SlurmReader, cluster: string, counting: CardCounting) {
    this.system = system;
    this.reader = reader;
    this.cluster = cluster;
    this.counting = counting;
  }

  async status(): Promise<EngineStatus> {
    const [version, capabilities, settings, nodes] = await Promise.all([
      this.reader.version(),
      this.reader.capabilities(),
      this.reader.settings(),
      this.reader.nodes(),
    ]);
    const types = (nodes.facts ?? []).flatMap(({ gres }) =>
      gres.filter(({ name }) => name === "gpu").flatMap(({ type }) => type ?? []),
    );
    const checkup = checkSlurm(known(settings, "scontrol show config"), capabilities, types);
    return {
      kind: "slurm",
      version: version.facts?.release ?? null,
      enforcement: this.enforcement(checkup.quotas, types),
      findings: checkup.findings.map(({ check, level, message, remedy, change }) => ({
        ...{ check, level, message, remedy },
        ...(change === null ? {} : { change: { file: change.file, lines: [`${change.key}=${change.value}`] } }),
      })),
    };
  }

  private enforcement(quotas: readonly QuotaEnforcement[], types: readonly string[]): readonly Enforcement[] {
    const of = (resource: string, quota: QuotaEnforcement["quota"]): Enforcement => {
      const found = quotas.find((each) => each.quota === quota);
      const enforced = found?.enforced ?? false;
      return { resource, enforced, why: enforced ? "" : (found?.because ?? "it was not checked") };
    };
    const divided = types.some((type) => /\d+g\./.test(type));
    const whole: Pick<Enforcement, "enforced" | "why"> = {
      enforced: false,
      why: `Slurm counts a slice as a whole card here: gres/${cardShareGres} is not configured and tracked.`,
    };
    const cards = of("cards", this.counting === "shares" ? "gpu-memory" : "gpu-cards");
    const hours = of("cardHours", "card-hours");
    return [
      this.counting === "whole" && divided ? { ...cards, ...whole } : cards,
      of("gpuMemoryGiB", "gpu-memory"),
      of("cpuCores", "cpu-cores"),
      of("memoryGiB", "memory"),
      this.counting === "whole" && divided ? { ...hours, ...whole } : hours,
      of("gpuTypes", "gpu-types"),
    ];
  }

  async state(people: readonly EnginePerson[]): Promise<EngineState> {
    const [associations, accounts, qos] = await Promise.all([
      this.reader.associations(),
      this.reader.accounts(),
      this.reader.qos(),
    ]);
    const rows = known(associations, "sacctmgr show assoc").filter(({ cluster }) => cluster === this.cluster);
    const facts = {
      associations: rows,
      accounts: known(accounts, "sacctmgr show account"),
      qos: known(qos, "sacctmgr show qos"),
    };
    const everybody = [...people, ...(await this.strangers(rows, people))];
    const state = engineState(facts, everybody, this.counting);
    const unread = [...associations.unread, ...accounts.unread, ...qos.unread];
    return { ...state, unread: [...state.unread, ...unread.map(({ source, reason }) => `${source}: ${reason}`)] };
  }

  /** Users of the accounting whom the ledger does not know, with the uids that the system knows them by. */
  private async strangers(
    rows: readonly { readonly user: string | null }[],
    people: readonly EnginePerson[],
  ): Promise<readonly EnginePerson[]> {
    const names = new Set(people.map(({ user }) => user));
    const others = [...new Set(rows.flatMap(({ user }) => user ?? []))].filter((user) => !names.has(user));
    if (others.length === 0) return [];
    const result = await this.system.run(["getent", "passwd", "--", ...others], { timeoutMs: 15_000 });
    return new TextDecoder()
      .decode(result.stdout)
      .split("\n")
      .flatMap((line) => {
        const [user = "", , uid = ""] = line.split(":");
        return others.includes(user) && /^\d{1,10}$/.test(uid) ? [{ user, uid: Number(uid) }] : [];
      });
  }

  async usage(people: readonly EnginePerson[], periods: Parameters<Engine["usage"]>[1]) {
    const manager = known(await this.reader.associationManager(), "scontrol show assoc_mgr");
    return liveUsage(manager.associations, uidsOf(people), periods, this.counting);
  }

  commands(changes: readonly EngineChange[]): readonly (readonly string[])[] {
    return this.plan(changes).map(({ argv }) => argv);
  }

  private plan(changes: readonly EngineChange[]): readonly SlurmCommand[] {
    return commandsFor(
      changes.flatMap((change) => slurmChanges(change, this.counting)),
      this.cluster,
    );
  }

  async apply(
    changes: readonly EngineChange[],
    { signal, progress }: { readonly signal?: AbortSignal; readonly progress?: (done: number) => void },
  ): Promise<readonly EngineOutcome[]> {
    const outcomes: (EngineOutcome | null)[] = changes.map(() => null);
    const steps: SlurmChange[] = [];
    /** Which change each step is of. */
    const owners: number[] = [];
    for (const [index, change] of changes.entries()) {
      try {
        for (const step of [...(await this.before(change)), ...slurmChanges(change, this.counting)]) {
          steps.push(step);
          owners.push(index);
        }
      } catch (error) {
        outcomes[index] = { outcome: "failed", error: dataOf(error) };
      }
    }
    const doubtful = new Set<number>();
    let done = 0;
    for (const command of commandsFor(steps, this.cluster)) {
      const owned = [...new Set(command.changes.map((place) => owners[place] ?? 0))];
      const goOn = owned.filter((index) => outcomes[index]?.outcome !== "failed");
      if (signal?.aborted === true || goOn.length === 0) {
        for (const index of goOn) outcomes[index] = { outcome: "failed", error: stopped };
        continue;
      }
      const answer = await this.reader.change(command);
      for (const index of owned) {
        outcomes[index] = outcomeOf(answer, outcomes[index] ?? null, command);
        if (answer.outcome === "unknown") doubtful.add(index);
      }
      done = Math.max(done, ...owned.map((index) => index + 1));
      progress?.(done);
    }
    if (doubtful.size > 0) await this.readBack(changes, outcomes, doubtful);
    progress?.(changes.length);
    return outcomes.map((outcome) => outcome ?? { outcome: "unchanged" });
  }

  /** Slurm does not let go of the account that is somebody's default: another one of theirs takes its place. */
  private async before(change: EngineChange): Promise<readonly SlurmChange[]> {
    if (change.kind !== "remove-member") return [];
    const { user } = change.person;
    const [users, associations] = await Promise.all([this.reader.users(), this.reader.associations()]);
    const there = known(users, "sacctmgr show user").find(({ name }) => name === user);
    if (there?.defaultAccount !== change.projectId) return [];
    const other = known(associations, "sacctmgr show assoc").find(
      (row) => row.cluster === this.cluster && row.user === user && row.account !== change.projectId,
    );
    return other === undefined ? [] : [{ kind: "set-default-account", user, account: other.account }];
  }

  /** What an answer left open is looked up; where Slurm does not answer it stays unknown. */
  private async readBack(
    changes: readonly EngineChange[],
    outcomes: (EngineOutcome | null)[],
    doubtful: ReadonlySet<number>,
  ): Promise<void> {
    const people = changes.flatMap((change) => ("person" in change && change.person !== null ? [change.person] : []));
    const state = await this.state(people).catch(() => null);
    if (state === null) return;
    for (const index of doubtful) {
      const change = changes[index];
      const before = outcomes[index];
      const stands = change === undefined ? null : this.stands(change, state);
      if (stands === true) outcomes[index] = { outcome: "done" };
      else if (stands === false && before !== null && before !== undefined && "error" in before) {
        outcomes[index] = { outcome: "failed", error: before.error };
      }
    }
  }

  /** Whether a change is in force; null where the accounting does not show it. */
  private stands(change: EngineChange, { subjects }: EngineState): boolean | null {
    switch (change.kind) {
      case "add-tenant":
        return subjects.has(change.tenantId);
      case "remove-tenant":
        return !subjects.has(change.tenantId);
      case "add-project":
        return subjects.has(change.projectId);
      case "remove-project":
        return !subjects.has(change.projectId);
      case "add-member":
        return subjects.has(`${change.projectId}/${change.person.uid}`);
      case "remove-member":
        return !subjects.has(`${change.projectId}/${change.person.uid}`);
      case "set-limits": {
        const there = subjects.get(change.subject);
        return there !== undefined && isSameInSlurm(there.limits, change.limits, this.counting);
      }
      case "reset-usage":
        return null;
    }
  }

  async allocations(people: readonly EnginePerson[]) {
    return allocationsOf(await this.jobs(), uidsOf(people), this.counting);
  }

  private async jobs(): Promise<readonly SlurmJob[]> {
    return known(await this.reader.jobs(), "scontrol show job");
  }

  async cancel(ids: readonly string[]): Promise<void> {
    const jobIds = ids.filter((id) => /^\d{1,10}$/.test(id));
    if (jobIds.length === 0) return;
    await this.system.run(["scancel", ...jobIds], { timeoutMs: 60_000 });
    const deadline = performance.now() + cancelledWithinMs;
    for (;;) {
      const left = (await this.jobs()).filter((job) => jobIds.includes(String(job.id)) && phaseOf(job) !== "over");
      if (left.length === 0) return;
      if (performance.now() > deadline) throw stillThere(left.map(({ id }) => id));
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  async explain(allocationId: string, people: readonly EnginePerson[]) {
    const [jobs, manager] = await Promise.all([this.jobs(), this.reader.associationManager()]);
    const job = jobs.find(({ id }) => String(id) === allocationId);
    if (job === undefined) {
      throw new AppError({
        code: "not-found",
        message: `There is no job ${allocationId}.`,
        remedy: "It may have ended.",
      });
    }
    return waitReason({ job, manager: known(manager, "scontrol show assoc_mgr") }, uidsOf(people), this.counting);
  }

  async transactions(since: string) {
    const rows = known(await this.reader.transactions(since), "sacctmgr show transactions");
    return rows
      .map(({ at, actor, action, where, info }) => ({
        at: at === null ? "" : new Date(at * 1_000).toISOString(),
        ...{ actor, action, where, info },
      }))
      .toSorted((a, b) => (a.at < b.at ? 1 : -1));
  }
}

function uidsOf(people: readonly EnginePerson[]): ReadonlyMap<string, number> {
  return new Map(people.map(({ uid, user }) => [user, uid]));
}

function dataOf(error: unknown): AppErrorData {
  if (error instanceof AppError) return error.toData();
  throw error;
}

const stopped: AppErrorData = {
  code: "cancelled",
  message: "Stopped before this was changed.",
  remedy: "Make the change again.",
};

/** The worst of what was heard about a change so far. */
function outcomeOf(answer: SlurmAnswer, before: EngineOutcome | null, { argv }: SlurmCommand): EngineOutcome {
  if (before !== null && "error" in before) return before;
  switch (answer.outcome) {
    case "done":
      return { outcome: "done" };
    case "nothing-to-do":
      return before ?? { outcome: "unchanged" };
    default:
      return { outcome: answer.outcome === "refused" ? "failed" : "unknown", error: errorOf(answer, argv) };
  }
}

function errorOf({ reason, words, missing }: SlurmAnswer, command: readonly string[]): AppErrorData {
  const evidence = {
    command,
    stderr: words,
    ...(missing.length === 0 ? {} : { details: `not there: ${missing.join(", ")}` }),
  };
  switch (reason) {
    case "jobs-active":
      return {
        code: "in-use",
        message: "Slurm keeps it: jobs of it run or wait.",
        remedy: "Nothing was changed. Wait for them or cancel them, then try again.",
        evidence,
      };
    case "unreachable":
      return {
        code: "unreadable",
        message: "slurmdbd does not answer, so nothing was changed.",
        remedy: "Start slurmdbd and its database, then try again.",
        evidence,
      };
    case "interrupted":
      return {
        code: "timeout",
        message: "slurmdbd went away before it answered.",
        remedy: "Look whether it runs, then try again: it is safe to do so.",
        evidence,
      };
    case "permission":
      return {
        code: "permission",
        message: "Slurm does not let us change this.",
        remedy: "Run as root or SlurmUser.",
        evidence,
      };
    case "absent":
      return {
        code: "not-found",
        message: "Slurm's accounting has no such account or user.",
        remedy: "Look at the differences between ledger and Slurm.",
        evidence,
      };
    case "no-tool":
      return {
        code: "not-found",
        message: "There is no sacctmgr on this host.",
        remedy: "Install Slurm's client tools.",
        evidence,
      };
    default:
      return {
        code: "internal",
        message: `sacctmgr answered: ${words}`,
        remedy: "Look at the differences between ledger and Slurm.",
        evidence,
      };
  }
}

function stillThere(ids: readonly number[]): AppError {
  return new AppError({
    code: "in-use",
    message: `${ids.length} jobs have not ended yet.`,
    remedy: "Nothing else was changed. Wait until they are gone, then try again.",
    evidence: { details: ids.join(", ") },
  });
}
