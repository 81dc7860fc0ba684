/**
 * Makes changes in Slurm, many in one command where its grammar allows, and says of each what came of it. What was not
 * answered for certain is read back once: what stands is done, and what does not is called failed only where slurmdbd
 * answered, for a change whose answer was lost may still come.
 */
import { AppError, type AppErrorData, toErrorData } from "../../../../../shared/errors.ts";
import type { SlurmAnswer } from "../../slurm/answers.ts";
import { commandsFor, type SlurmChange, type SlurmCommand } from "../../slurm/commands.ts";
import { refuseName } from "../../slurm/names.ts";
import type { SlurmReader } from "../../slurm/reader.ts";
import type { EngineChange, EngineOutcome } from "../engine.ts";
import { checkedChangesOf, commandsOf, independentRuns, standsIn } from "./changes.ts";
import type { SlurmResources } from "./limit-mapping.ts";
import { subjectOfAccount } from "./state.ts";

export interface ApplyOptions {
  readonly reader: SlurmReader;
  readonly cluster: string;
  readonly resources: SlurmResources;
  readonly signal?: AbortSignal;
  readonly progress?: (done: number) => void;
}

/** One change of Slurm, and which of ours it belongs to. */
interface Step {
  readonly change: SlurmChange;
  readonly owner: number;
}

type Doubt = { readonly outcome: "doubt"; readonly answer: SlurmAnswer; readonly argv: readonly string[] };
type StepOutcome = EngineOutcome | Doubt;

/**
 * sacctmgr waits for slurmdbd nearly all of its time (0.37 s of waiting and 0.02 s of work for one limit), and slurmdbd
 * answers several of them at once.
 */
const mostAtOnce = 4;

/** Never throws; the outcomes are in the order of the changes. */
export async function applyChanges(
  changes: readonly EngineChange[],
  options: ApplyOptions,
): Promise<readonly EngineOutcome[]> {
  const { cluster, resources, progress } = options;
  const refused = new Map<number, EngineOutcome>();
  const steps: Step[] = [];
  for (const [owner, change] of changes.entries()) {
    try {
      for (const step of checkedChangesOf(change, resources, cluster)) steps.push({ change: step, owner });
    } catch (error) {
      refused.set(owner, { outcome: "failed", error: toErrorData(error) });
    }
  }
  const outcomes: (StepOutcome | undefined)[] = steps.map(() => undefined);
  const lastSteps = new Map(steps.map(({ owner }, place) => [owner, place]));
  let done = changes.length - lastSteps.size;
  progress?.(done);
  const settle = (place: number, outcome: StepOutcome) => {
    outcomes[place] = outcome;
    const owner = steps[place]?.owner;
    if (owner !== undefined && lastSteps.get(owner) === place) done += 1;
  };
  const run = new CommandRun(options, steps, settle);
  const all = steps.map(({ change }) => change);
  for (const commands of independentRuns(all, commandsOf(all, cluster))) {
    await eachOf(commands, mostAtOnce, async (command) => {
      await run.make(command);
      progress?.(done);
    });
  }
  await decideDoubts(steps, outcomes, options);
  if (changes.some(({ kind }) => kind.startsWith("remove-"))) await giveDefaultAccounts(options);
  const own: EngineOutcome[][] = changes.map(() => []);
  for (const [place, { owner }] of steps.entries()) {
    const outcome = outcomes[place];
    if (outcome !== undefined && outcome.outcome !== "doubt") own[owner]?.push(outcome);
  }
  return changes.map((_, owner) => refused.get(owner) ?? together(own[owner] ?? []));
}

/** Runs `work` on each, in their order, on no more than so many at a time. */
async function eachOf<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
}

class CommandRun {
  readonly #options: ApplyOptions;
  readonly #steps: readonly Step[];
  readonly #settle: (place: number, outcome: StepOutcome) => void;
  /** Why nothing more is sent: slurmdbd is away, or there is no sacctmgr. */
  #stopped: AppErrorData | null = null;

  constructor(options: ApplyOptions, steps: readonly Step[], settle: (place: number, outcome: StepOutcome) => void) {
    this.#options = options;
    this.#steps = steps;
    this.#settle = settle;
  }

  async make(command: SlurmCommand): Promise<void> {
    const { reader, signal, cluster } = this.#options;
    const all = (outcome: StepOutcome) => {
      for (const place of command.changes) this.#settle(place, outcome);
    };
    if (signal?.aborted === true) return all({ outcome: "failed", error: cancelled() });
    if (this.#stopped !== null) return all({ outcome: "failed", error: this.#stopped });
    let answer = await reader.change(command);
    if (answer.reason === "default-account" && (await giveDefaultAccounts(this.#options, command.names))) {
      answer = await reader.change(command);
    }
    switch (answer.outcome) {
      case "done":
        return all({ outcome: "done" });
      case "nothing-to-do":
        // An account of that name may hang below another one, and Slurm says the same.
        return all(
          command.kind === "add-account" ? { outcome: "doubt", answer, argv: command.argv } : { outcome: "unchanged" },
        );
      case "unknown":
        return all({ outcome: "doubt", answer, argv: command.argv });
      case "refused":
    }
    const error = errorOf(answer, command.argv);
    if (answer.reason === "unreachable" || answer.reason === "no-tool") this.#stopped = error;
    const isAboutOne = answer.reason !== "unreachable" && answer.reason !== "no-tool" && answer.reason !== "permission";
    if (!isAboutOne || command.changes.length === 1) return all({ outcome: "failed", error });
    // One of them is refused, and all with it: each half for itself, so that the others are made.
    const middle = Math.ceil(command.changes.length / 2);
    for (const places of [command.changes.slice(0, middle), command.changes.slice(middle)]) {
      const half = places.flatMap((place) => this.#steps[place]?.change ?? []);
      for (const each of commandsFor(half, cluster)) {
        await this.make({ ...each, changes: each.changes.flatMap((at) => places[at] ?? []) });
      }
    }
  }
}

async function decideDoubts(
  steps: readonly Step[],
  outcomes: (StepOutcome | undefined)[],
  { reader }: ApplyOptions,
): Promise<void> {
  if (!outcomes.some((outcome) => outcome?.outcome === "doubt")) return;
  const { facts } = await reader.associations();
  for (const [place, outcome] of outcomes.entries()) {
    const step = steps[place];
    if (outcome?.outcome !== "doubt" || step === undefined) continue;
    const stands = facts === null ? null : standsIn(step.change, facts);
    const error = errorOf(outcome.answer, outcome.argv);
    const wasThere = outcome.answer.outcome === "nothing-to-do";
    if (stands === true) outcomes[place] = { outcome: wasThere ? "unchanged" : "done" };
    else if (stands === false && outcome.answer.reason !== "interrupted")
      outcomes[place] = { outcome: "failed", error };
    else outcomes[place] = { outcome: "unknown", error };
  }
}

/**
 * Who has no default account, or one that is going (these and what is called after them), and is in another one, gets that:
 * a job that names no account would be refused. Whether there was any to give. What fails here stays as it is, and is no
 * failure of the removal.
 */
async function giveDefaultAccounts({ reader, cluster }: ApplyOptions, going: readonly string[] = []): Promise<boolean> {
  const goes = (account: string) => going.some((name) => account === name || account.startsWith(`${name}_p`));
  const users = (await reader.users()).facts ?? [];
  const without = new Set(
    users.filter(({ defaultAccount }) => defaultAccount === null || goes(defaultAccount)).map(({ name }) => name),
  );
  if (without.size === 0) return false;
  const associations = (await reader.associations()).facts ?? [];
  const first = new Map<string, string>();
  for (const { user, account, cluster: of } of associations) {
    if (user === null || of !== cluster || !without.has(user) || first.has(user) || goes(account)) continue;
    if (subjectOfAccount(account) !== null) first.set(user, account);
  }
  for (const [user, account] of first) {
    if (refuseName("user", user) !== null) continue;
    for (const command of commandsFor([{ kind: "set-default-account", user, account }], cluster)) {
      await reader.change(command);
    }
  }
  return first.size > 0;
}

/** What came of all steps of one change: the worst of them. */
function together(outcomes: readonly EngineOutcome[]): EngineOutcome {
  return (
    outcomes.find(({ outcome }) => outcome === "unknown") ??
    outcomes.find(({ outcome }) => outcome === "failed") ??
    outcomes.find(({ outcome }) => outcome === "done") ?? { outcome: "unchanged" }
  );
}

function cancelled(): AppErrorData {
  return {
    code: "cancelled",
    message: "It was stopped before this change.",
    remedy: "Nothing was changed by this one.",
  };
}

const words: Readonly<Record<NonNullable<SlurmAnswer["reason"]>, Pick<AppErrorData, "code" | "message" | "remedy">>> = {
  absent: {
    code: "not-found",
    message: "Slurm has no such account or association.",
    remedy: "Look at the differences between the ledger and Slurm.",
  },
  exists: {
    code: "conflict",
    message: "Slurm has an account of this name below another one.",
    remedy: "Look at the differences between the ledger and Slurm.",
  },
  permission: {
    code: "permission",
    message: "Slurm does not allow this user to change its accounting.",
    remedy: "Run tessera-host by a user who is an administrator in Slurm's accounting, as root is.",
  },
  unreachable: {
    code: "timeout",
    message: "slurmdbd or its database did not answer; nothing was sent.",
    remedy: "See that slurmdbd runs on the accounting host, then try again.",
  },
  "jobs-active": {
    code: "in-use",
    message: "Jobs still run or wait there, so Slurm removes nothing.",
    remedy: "Cancel them, or wait until they have ended.",
  },
  "default-account": {
    code: "in-use",
    message: "It is the default account of people who are in others below it too.",
    remedy: "Remove the projects one by one first.",
  },
  "bad-value": {
    code: "bad-request",
    message: "Slurm did not take a value.",
    remedy: "The evidence has its words.",
  },
  "no-tool": {
    code: "not-found",
    message: "There is no sacctmgr on this host.",
    remedy: "Install Slurm's client tools.",
  },
  interrupted: {
    code: "timeout",
    message: "The connection to slurmdbd was lost before it answered.",
    remedy: "It may or may not be done: look at it again before you repeat it.",
  },
  partly: {
    code: "unreadable",
    message: "Slurm did a part of it, and said that something was wrong.",
    remedy: "Look at the differences between the ledger and Slurm.",
  },
  other: {
    code: "unreadable",
    message: "Slurm's answer was not understood.",
    remedy: "Look at the differences between the ledger and Slurm.",
  },
};

function errorOf(answer: SlurmAnswer, command: readonly string[]): AppErrorData {
  const { code, message, remedy } = words[answer.reason ?? "other"];
  const said = answer.words === "" ? "" : ` Slurm says: ${answer.words}`;
  return new AppError({ code, message: `${message}${said}`, remedy, evidence: { command } }).toData();
}
