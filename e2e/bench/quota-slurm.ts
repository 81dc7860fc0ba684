/**
 * Limits set through the control host of a real Slurm: ssh, sudo and `tessera-host serve`, against a bare sacctmgr that a
 * shell runs over an ssh channel of its own, open before and after like ours. Both run alternately on the same host.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { readLimits } from "../../shared/quota/index.ts";
import type { HostSession } from "../lab/host-session.ts";
import { openShell, type Shell } from "../lab/root-shell.ts";
import { slurmLabMissing } from "../lab/slurm-missing.ts";
import { GovernedLab } from "../roles/governed-lab.ts";
import type { Metric } from "./metric.ts";

const tenantCount = 25;
const projectsPerTenant = 20;
const singleRounds = 15;
const cardShares = 56;

type Channel = HostSession["channel"];

export async function slurmMetrics(): Promise<readonly Metric[]> {
  const missing = slurmLabMissing();
  if (missing !== null) throw new Error(missing);
  await using lab = await GovernedLab.start();
  const ops = lab.as("ops");
  await using shell = await openShell(lab.slurm);
  await using other = await lab.open("ops");
  const projects = await makeProjects(ops, shell);
  const single = await singleLimits(lab, shell);
  const batch = await batches(ops, other.channel, shell, projects);
  const drift = await ops.request("engine.drift", {});
  if (drift.length > 0) throw new Error(`ledger and Slurm differ afterwards: ${JSON.stringify(drift.slice(0, 3))}`);
  return [...single, ...batch];
}

/** Made in Slurm a tenant at a time, and taken into the ledger as what somebody made by hand: one by one takes 0.6 s each. */
async function makeProjects(ops: Channel, shell: Shell): Promise<readonly string[]> {
  const projects: string[] = [];
  for (let tenant = 0; tenant < tenantCount; tenant += 1) {
    const id = `tb${String(tenant).padStart(3, "0")}`;
    const names = Array.from({ length: projectsPerTenant }, (_, project) => `${id}_p${10 + project}`);
    await shell.run(`sacctmgr --immediate add account name=${id} parent=root organization=${id}`);
    await shell.run(`sacctmgr --immediate add account name=${names.join(",")} parent=${id} organization=${id}`);
    projects.push(...names);
  }
  const drift = await ops.request("engine.drift", {});
  const made = drift.filter(({ what, ledger }) => what === "account" && ledger === null);
  const ids = made.map(({ id }) => id).toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const resolutions = ids.map((id) => ({ id, take: "engine" as const }));
  const { outcomes } = await ops.task("engine.resolve", { resolutions }, () => {});
  const bad = outcomes.find(({ outcome }) => outcome !== "done");
  if (bad !== undefined) throw new Error(`not taken into the ledger: ${JSON.stringify(bad)}`);
  return projects;
}

async function singleLimits(lab: GovernedLab, shell: Shell): Promise<readonly Metric[]> {
  const ops = lab.as("ops");
  const subject = lab.alpha.tenant.id;
  const bare: number[] = [];
  const ours: number[] = [];
  for (let round = -2; round < singleRounds; round += 1) {
    const cards = round + 10;
    const bareMs = await elapsed(() => shell.run(bareCommand(lab.bravo.tenant.id, cards)));
    const [edit] = await editsOf(ops, new Map([[subject, cards]]));
    const oursMs = await elapsed(() => set(ops, edit === undefined ? [] : [edit]));
    if (round < 0) continue;
    bare.push(bareMs);
    ours.push(oursMs);
  }
  // Nobody told the ledger of it.
  await shell.run(
    `sacctmgr --immediate modify account where name=${lab.bravo.tenant.id} set GrpTRES=gres/cardshare=-1`,
  );
  const ratio = median(ours) / median(bare);
  const how = "both over an open ssh channel";
  return [
    plain(`one bare sacctmgr, ${how}, median of ${singleRounds}`, median(bare), "ms"),
    plain(`one limit by quota.set, ${how}, median of ${singleRounds}`, median(ours), "ms"),
    atMost("one limit by quota.set", ratio, "x bare sacctmgr", 1.3),
  ];
}

interface Batch {
  readonly wallMs: number;
  readonly planMs: number;
  readonly engineMs: number;
  readonly ledgerMs: number;
  readonly progressEvents: number;
}

async function batches(
  ops: Channel,
  other: Channel,
  shell: Shell,
  projects: readonly string[],
): Promise<readonly Metric[]> {
  const half = Math.ceil(projects.length / 2);
  const each = (from: number) => new Map(projects.map((project, index) => [project, from + index]));
  const bareCalls = (some: readonly string[], from: number) =>
    elapsed(async () => {
      for (const [index, project] of some.entries()) await shell.run(bareCommand(project, from + index));
    });
  // Half of the bare calls before ours and half after, so that what else the machine does falls on both.
  const bareBeforeMs = await bareCalls(projects.slice(0, half), 10_000);
  const different = await batchOf(ops, each(20_000));
  const alike = await batchOf(ops, new Map(projects.map((project) => [project, 30_000])));
  const bareMs = bareBeforeMs + (await bareCalls(projects.slice(half), 40_000));
  const beside = await answersDuring(other, () => batchOf(ops, each(50_000)));
  const quiet: number[] = [];
  for (let round = 0; round < 5; round += 1) quiet.push(await elapsed(() => other.request("quota.get", {})));
  const count = projects.length;
  return [
    plain(`${count} bare sacctmgr, one after the other over an open ssh channel`, bareMs, "ms"),
    ...partsOf(`${count} different limits in one batch`, different),
    atMost(`${count} different limits in one batch`, different.wallMs / bareMs, `x ${count} bare sacctmgr`, 0.8),
    ...partsOf(`the same limit for ${count} in one batch`, alike),
    atMost(`the same limit for ${count} in one batch`, alike.wallMs / bareMs, `x ${count} bare sacctmgr`, 0.8),
    {
      ...plain("progress events of a batch of different limits", different.progressEvents, ""),
      ...atLeastTwo(different),
    },
    plain("quota.get of another session, nothing else asked, median of 5", median(quiet), "ms"),
    plain("quota.get of another session during a batch, answers", beside.length, ""),
    plain("quota.get of another session during a batch, median", median(beside), "ms"),
    plain("quota.get of another session during a batch, slowest", Math.max(...beside), "ms"),
  ];
}

/** More than that it began and that it ended. */
function atLeastTwo({ progressEvents }: Batch): Pick<Metric, "target" | "ok"> {
  return { target: "more than 2", ok: progressEvents > 2 };
}

function partsOf(what: string, { wallMs, engineMs, ledgerMs, planMs }: Batch): readonly Metric[] {
  return [
    plain(what, wallMs, "ms"),
    plain("  of it sacctmgr and slurmdbd", engineMs, "ms"),
    plain("  of it the ledger's transaction and the answer", ledgerMs, "ms"),
    plain("  of it the request, reading and planning", planMs, "ms"),
  ];
}

/**
 * Where the time goes is read from the audit: the row `begun` is written before the engine is asked, and all rows of the
 * ledger's transaction bear the time at which the first was written. Both clocks are this machine's.
 */
async function batchOf(ops: Channel, cards: ReadonlyMap<string, number>): Promise<Batch> {
  const edits = await editsOf(ops, cards);
  let progressEvents = 0;
  const began = Date.now();
  const wallMs = await elapsed(() =>
    set(ops, edits, () => {
      progressEvents += 1;
    }),
  );
  const timeOf = async (outcome: "begun" | "done") => {
    const last = { subject: "cluster", command: "quota.set", outcome, limit: 1 };
    return Date.parse((await ops.request("audit.list", last)).rows[0]?.at ?? "");
  };
  const [begunAt, doneAt] = [await timeOf("begun"), await timeOf("done")];
  const ledgerMs = began + wallMs - doneAt;
  return { wallMs, planMs: begunAt - began, engineMs: doneAt - begunAt, ledgerMs, progressEvents };
}

async function answersDuring(other: Channel, work: () => Promise<unknown>): Promise<readonly number[]> {
  let running = true;
  const times: number[] = [];
  const working = work().finally(() => {
    running = false;
  });
  while (running) {
    times.push(await elapsed(() => other.request("quota.get", {})));
    await sleep(100);
  }
  await working;
  return times;
}

async function editsOf(ops: Channel, cards: ReadonlyMap<string, number>) {
  const { nodes } = await ops.request("quota.get", {});
  return nodes.flatMap(({ id, version }) => {
    const wanted = cards.get(id);
    return wanted === undefined ? [] : [{ subject: id, limits: readLimits({ cards: wanted }), basedOn: version }];
  });
}

async function set(ops: Channel, edits: Awaited<ReturnType<typeof editsOf>>, heard = () => {}): Promise<void> {
  const { outcomes } = await ops.task("quota.set", { edits }, heard);
  const bad = outcomes.find(({ outcome }) => outcome !== "done");
  if (bad !== undefined || outcomes.length === 0) throw new Error(`not set: ${JSON.stringify(bad)}`);
}

/** What our engine sends for a limit of cards, as an operator would type it. */
function bareCommand(account: string, cards: number): string {
  return `sacctmgr --immediate modify account where name=${account} set GrpTRES=gres/cardshare=${cards * cardShares}`;
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function plain(metric: string, value: number, unit: string): Metric {
  return { metric, value, unit, target: "", ok: true };
}

function atMost(metric: string, value: number, unit: string, most: number): Metric {
  return { metric, value, unit, target: `at most ${most} x`, ok: value <= most };
}
