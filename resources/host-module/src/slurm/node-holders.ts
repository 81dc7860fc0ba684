/**
 * The holders of this node's GPUs by Slurm's jobs. slurmctld is asked for this one node, an answer of under 2 KB: every ten
 * seconds where things change, every thirty where nothing does, and for all sessions on the host together. Only where its
 * GPUs in use changed it is asked for all jobs, and else for two of those known whether they still hold what they held.
 * Nothing waits for a slurmctld that is silent.
 */
import type { Holder } from "../../../../shared/protocol/inventory.ts";
import type { HolderClaim, HolderContext, HolderSource } from "../inventory/holders.ts";
import { readText } from "../inventory/host-files.ts";
import type { System } from "../system.ts";
import { readGresConf } from "./gres-conf.ts";
import { type Capabilities, type GresSlots, gresSlots, placesOf, readMigMinors } from "./gres-slots.ts";
import { type HeldGpu, heldGpus } from "./held-gres.ts";
import { type Answered, readShared, share } from "./node-holders-shared.ts";
import type { SlurmNode } from "./nodes.ts";
import { SlurmReader } from "./reader.ts";
import { readSlurmd, type Slurmd } from "./slurmd.ts";

export const askEveryMs = 10_000;
/** Where nothing has changed for a while: a thousand hosts ask one slurmctld. */
export const askAtRestMs = 30_000;
const restAfterMs = 60_000;
/** After an attempt that failed. */
const askAgainAfterMs = 30_000;
/** How long what was known is shown while slurmctld is silent. */
const keptMs = 120_000;
/** The first answer is waited for, so that a single reading has it. */
const firstWaitMs = 2_000;
const checkedAtOnce = 2;
const migMinorsPath = "/proc/driver/nvidia-caps/mig-minors";

interface Known extends Answered {
  readonly slots: GresSlots | null;
  readonly capabilities: Capabilities;
}

export function nodeHolders(system: System): HolderSource {
  let known: Known | null = null;
  let asking: Promise<void> | null = null;
  let nextAtMs = Number.NEGATIVE_INFINITY;

  const ask = async (slurmdPid: number) => {
    const atMs = system.now().getTime();
    const found = await readKnown(system, slurmdPid, known).catch(() => null);
    if (found !== null) known = found;
    nextAtMs = found === null ? atMs + askAgainAfterMs : nextAfter(found, atMs);
    asking = null;
  };

  return {
    async claims(context) {
      const slurmd = context.managers.find(({ name }) => name === "slurmd");
      if (slurmd === undefined) return [];
      const nowMs = system.now().getTime();
      const isFirst = nextAtMs === Number.NEGATIVE_INFINITY;
      if (asking === null && nowMs >= nextAtMs) asking = ask(slurmd.pid);
      if (isFirst && asking !== null) await within(firstWaitMs, asking);
      if (known === null || nowMs - known.atMs > keptMs) return [];
      return claimsOf(known, context);
    },
  };
}

async function within(limitMs: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([work, new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)))]);
  clearTimeout(timer);
}

/** Whoever asked asks again first; another session, which read what it was told, comes a second later. */
function nextAfter({ atMs, changedAtMs }: Answered, nowMs: number): number {
  const every = nowMs - changedAtMs < restAfterMs ? askEveryMs : askAtRestMs;
  return atMs < nowMs ? Math.max(nowMs, atMs + every) + 1_000 : nowMs + every;
}

/** Null where slurmctld does not answer. */
async function readKnown(system: System, slurmdPid: number, before: Known | null): Promise<Known | null> {
  const slurmd = await readSlurmd(system, slurmdPid);
  const shared = await readShared(system, slurmd.nodeName, askEveryMs);
  const isNews = shared !== null && shared.atMs > (before?.atMs ?? Number.NEGATIVE_INFINITY);
  const answered = isNews ? shared : await askSlurmctld(system, slurmd.nodeName, before);
  if (answered === null) return null;
  if (!isNews) await share(system, answered);
  const capabilities = readMigMinors((await readText(system.files, migMinorsPath)) ?? "");
  return { ...answered, slots: await slotsOf(system, slurmd, answered.node), capabilities };
}

async function askSlurmctld(system: System, nodeName: string, before: Answered | null): Promise<Answered | null> {
  const reader = new SlurmReader(system);
  const node = (await reader.node(nodeName)).facts?.[0];
  if (node === undefined) return null;
  const used = usedOf(node);
  const isSame = before !== null && used.join() === usedOf(before.node).join();
  const same = used.length === 0 ? [] : isSame ? await checked(reader, node.name, before.held) : null;
  const held = same ?? (await allHeld(reader, node.name, used));
  if (held === null) return null;
  const atMs = system.now().getTime();
  return { atMs, changedAtMs: isSame && same !== null ? before.changedAtMs : atMs, node, held };
}

function usedOf(node: SlurmNode): readonly number[] {
  const gpus = (node.gresUsed ?? []).filter(({ name }) => name === "gpu");
  return gpus.flatMap(({ index }) => index ?? []).toSorted((a, b) => a - b);
}

/** The same, those first that were looked at longest ago; null where one of them holds something else by now. */
async function checked(
  reader: SlurmReader,
  node: string,
  held: readonly HeldGpu[],
): Promise<readonly HeldGpu[] | null> {
  const ids = [...new Set(held.map(({ jobId }) => jobId))];
  const looked = new Set(ids.slice(0, checkedAtOnce));
  const now: HeldGpu[] = [];
  for (const id of looked) {
    // Of an array Slurm answers with every task.
    const job = (await reader.job(id)).facts?.find((each) => each.id === id);
    if (job !== undefined) now.push(...heldGpus(job, node));
  }
  const before = held.filter(({ jobId }) => looked.has(jobId));
  if (JSON.stringify(now) !== JSON.stringify(before)) return null;
  return [...held.filter(({ jobId }) => !looked.has(jobId)), ...now];
}

async function allHeld(reader: SlurmReader, node: string, used: readonly number[]): Promise<readonly HeldGpu[] | null> {
  const held = (await reader.jobs()).facts?.flatMap((job) => heldGpus(job, node));
  return held?.filter(({ index }) => used.includes(index)) ?? null;
}

/** Null where Slurm's numbers cannot be followed to devices. */
async function slotsOf({ files }: System, slurmd: Slurmd, node: SlurmNode): Promise<GresSlots | null> {
  for (const directory of slurmd.configurationDirectories) {
    const content = await files.read(`${directory}/gres.conf`);
    const conf = content === null ? null : readGresConf(content, node.name);
    if (content !== null) return conf === null ? null : gresSlots(node.gres, conf);
  }
  return null;
}

function claimsOf(known: Known, { gpus, minorNumbers }: HolderContext): readonly HolderClaim[] {
  const { slots, capabilities, held } = known;
  if (slots === null) return [];
  const claims = new Map<string, HolderClaim>();
  for (const { index, holder } of held) {
    for (const place of placesOf(slots, index, { gpus, minorNumbers, capabilities })) {
      const key = `${place.gpuUuid}/${place.gpuInstanceId ?? ""}`;
      const other = claims.get(key)?.holder;
      claims.set(key, { ...place, holder: other === undefined ? holder : bothOf(other, holder) });
    }
  }
  return [...claims.values()];
}

/** Two jobs on one place, by compute instances or by a text that lies: only what they agree on. */
function bothOf(a: Holder, b: Holder): Holder {
  return {
    tenant: a.tenant === b.tenant ? a.tenant : null,
    project: a.project === b.project ? a.project : null,
    user: a.user === b.user ? a.user : null,
    by: "job",
    allocation: a.allocation === b.allocation ? a.allocation : null,
    since: a.since === b.since ? a.since : null,
  };
}
