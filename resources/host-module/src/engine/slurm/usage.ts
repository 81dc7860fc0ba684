/** What is in use by Slurm's own live count, and the jobs behind it. */
import type { AllocationView } from "../../../../../shared/protocol/control.ts";
import {
  compare,
  type Fraction,
  type Period,
  subtract,
  sum,
  type Usage,
  zero,
} from "../../../../../shared/quota/index.ts";
import type { LiveAssociation } from "../../slurm/assoc-mgr.ts";
import { askedTres, type SlurmJob } from "../../slurm/jobs.ts";
import type { TresCounts, TresLimit } from "../../slurm/tres.ts";
import { amountsOf, type CardCounting, cardTres, hoursOf } from "./limit-mapping.ts";
import { subjectOf } from "./state.ts";

/**
 * In use by subject, of each itself: people by their own rows; of accounts only the card-hours that the rows below do not
 * have any more (somebody left, or a row was reset on its own). Slurm has one count for all periods: `periods` are those
 * that limits count in.
 */
export function liveUsage(
  associations: readonly LiveAssociation[],
  uids: ReadonlyMap<string, number>,
  periods: readonly Period[],
  counting: CardCounting,
): ReadonlyMap<string, Usage> {
  const usage = new Map<string, Usage>();
  const hours = new Map<string, Fraction>();
  const below = Map.groupBy(
    associations.filter(({ account, user }) => user !== null || account !== "root"),
    ({ account, user, parentAccount }) => (user === null ? (parentAccount ?? "") : account),
  );
  for (const association of associations) {
    const { account, user, group } = association;
    const subject = subjectOf(account, user, uids);
    if (subject === null) continue;
    const all = hoursIn(group.tresMins, counting);
    const own = user === null ? beyond(all, below.get(account) ?? [], counting) : all;
    hours.set(subject, own);
    const counts: TresCounts = Object.fromEntries(
      group.tres.filter(({ used }) => used > 0).map(({ tres, used }) => [tres, used]),
    );
    const amounts = user === null ? {} : amountsOf(counts, counting).amounts;
    const counted = own.numerator === 0 ? [] : periods.map((period) => ({ hours: own, period }));
    if (Object.keys(amounts).length + counted.length === 0) continue;
    usage.set(subject, { ...amounts, ...(counted.length === 0 ? {} : { cardHours: counted }) });
  }
  return usage;
}

function hoursIn(minutes: readonly TresLimit[], counting: CardCounting): Fraction {
  const used = minutes.find(({ tres }) => tres === cardTres(counting))?.used ?? 0;
  return hoursOf(used, counting);
}

function beyond(all: Fraction, rows: readonly LiveAssociation[], counting: CardCounting): Fraction {
  const rest = subtract(all, sum(rows.map(({ group }) => hoursIn(group.tresMins, counting))));
  return compare(rest, zero) > 0 ? rest : zero;
}

const running: ReadonlySet<string> = new Set([
  "RUNNING",
  "SUSPENDED",
  "COMPLETING",
  "CONFIGURING",
  "STOPPED",
  "SIGNALING",
  "RESIZING",
]);

/** Whether a job holds something, waits for it, or is over. */
export function phaseOf(job: SlurmJob): "running" | "waiting" | "over" {
  if (job.state === "PENDING" || job.state === "REQUEUED") return "waiting";
  return running.has(job.state ?? "") ? "running" : "over";
}

/** Jobs that run or wait. */
export function allocationsOf(
  jobs: readonly SlurmJob[],
  uids: ReadonlyMap<string, number>,
  counting: CardCounting,
): readonly AllocationView[] {
  return jobs.flatMap((job): readonly AllocationView[] => {
    const phase = phaseOf(job);
    if (phase === "over") return [];
    const { amounts } = amountsOf(phase === "running" ? job.allocatedTres : askedTres(job), counting);
    return [
      {
        id: String(job.id),
        kind: "job",
        subject: job.account === null ? null : subjectOf(job.account, job.user ?? "", uids),
        user: job.user,
        name: job.name ?? "",
        state: phase,
        cards: amounts.cards ?? zero,
        gpuMemoryGiB: amounts.gpuMemoryGiB ?? zero,
        cpuCores: amounts.cpuCores ?? zero,
        memoryGiB: amounts.memoryGiB ?? zero,
        gpuTypes: Object.fromEntries(
          Object.entries(amounts.gpuTypes ?? {}).map(([type, count]) => [type, count.numerator]),
        ),
        startedAt: phase === "running" ? iso(job.startedAt) : null,
        endsAt: phase === "running" && job.timeLimitMinutes !== "unlimited" ? iso(job.endsAt) : null,
        hosts: phase === "running" ? job.nodes : null,
        reason: phase === "waiting" ? job.reason : null,
      },
    ];
  });
}

function iso(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1_000).toISOString();
}
