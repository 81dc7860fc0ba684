/**
 * 64 hosts: from nothing to a first snapshot of each, and a refresh, against parallel-ssh and clush that fetch the same
 * driver report. All of it shares this machine's cores: the sshds, the 64 tessera-hosts, and both sides' clients.
 *
 * The first snapshot is what the console's board waits for: connect, start tessera-host, the first push of `watch`.
 * A refresh asks all hosts for their state over the open channels, and each runs its driver's `-q -x` again.
 *
 * Beside them stands what each cannot be cheaper than on this machine: the same connections that start a Node which
 * does nothing, and the same channels on which a shell runs the driver and nobody reads a word of it.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { HostSession } from "../../electron/services/deploy/connect-host.ts";
import type { WatchEvent } from "../../shared/protocol/contract.ts";
import type { HostInventory } from "../../shared/protocol/inventory.ts";
import { type Fleet, startFleet } from "../lab/fleet.ts";
import { Lab, sshdMissing } from "../lab/sshd.ts";
import type { Metric } from "./metric.ts";

const hostCount = 64;
const rounds = 2;
const reportEnd = "end-of-report";
const settleMs = 8_000;
/** On a busy machine fewer rounds are measured, at least one. */
const longestMs = 120_000;

interface Cost {
  readonly wallMs: number;
  /** Of the clients alone: ours in this process, theirs with all their ssh children. */
  readonly cpuMs: number;
}

export async function run(): Promise<readonly Metric[]> {
  const missing = sshdMissing();
  if (missing !== null) throw new Error(missing);
  installTools();
  await using lab = new Lab();
  const fleet = await startFleet(lab, hostCount);
  const hostsFile = lab.write("hosts", `${fleet.addresses.join("\n")}\n`);
  const parallelSsh = ["parallel-ssh", "-p", "64", "-h", hostsFile, "-t", "120", "-x", `-F ${fleet.sshConfig}`, "-i"];
  const clush = ["clush", "-f", "64", "-w", fleet.addresses.join(","), "-o", `-F ${fleet.sshConfig}`, "-l", "root"];

  // Alternately, so that what else the machine does falls on all alike; the first round warms the caches.
  const snapshots: Cost[] = [];
  const refreshes: Cost[] = [];
  const parallelSshCosts: Cost[] = [];
  const clushCosts: Cost[] = [];
  const bareStarts: Cost[] = [];
  const bareReports: Cost[] = [];
  const began = performance.now();
  for (let round = -1; round < rounds; round++) {
    if (round > 0 && performance.now() - began > longestMs) break;
    const ours = await oursOnce(fleet);
    const pssh = theirs(parallelSsh);
    const cl = theirs(clush);
    const bare = await bareOnce(fleet);
    if (round < 0) continue;
    snapshots.push(ours.snapshot);
    refreshes.push(ours.refresh);
    parallelSshCosts.push(pssh);
    clushCosts.push(cl);
    bareStarts.push(bare.start);
    bareReports.push(bare.report);
  }
  const wall = (costs: readonly Cost[]) => median(costs.map((cost) => cost.wallMs));
  const cpu = (costs: readonly Cost[]) => median(costs.map((cost) => cost.cpuMs));
  const toParallelSsh = wall(snapshots) / wall(parallelSshCosts);
  const toClush = wall(snapshots) / wall(clushCosts);
  const refreshTo = wall(refreshes) / wall(parallelSshCosts);
  const plain = (metric: string, value: number): Metric => ({ metric, value, unit: "ms", target: "", ok: true });
  return [
    plain("parallel-ssh -p 64, the report of 64 hosts", wall(parallelSshCosts)),
    plain("clush -f 64, the report of 64 hosts", wall(clushCosts)),
    plain("first snapshot of 64 hosts, tessera-host started on each", wall(snapshots)),
    ratio("first snapshot", toParallelSsh, "parallel-ssh", 0.8),
    ratio("first snapshot", toClush, "clush", 0.5),
    plain("refresh of 64 hosts", wall(refreshes)),
    ratio("refresh", refreshTo, "parallel-ssh", 0.05),
    plain("`node -e 0` on 64 hosts over the same connections", wall(bareStarts)),
    comparison("`node -e 0`", wall(bareStarts) / wall(parallelSshCosts), "parallel-ssh"),
    comparison("first snapshot", wall(snapshots) / wall(bareStarts), "`node -e 0`"),
    plain("the report of 64 hosts by a shell over open channels, unread", wall(bareReports)),
    comparison("by a shell, unread", wall(bareReports) / wall(parallelSshCosts), "parallel-ssh"),
    comparison("refresh", wall(refreshes) / wall(bareReports), "by a shell, unread"),
    plain("CPU of parallel-ssh and its clients", cpu(parallelSshCosts)),
    plain("CPU of clush and its clients", cpu(clushCosts)),
    plain("CPU of the console, first snapshot", cpu(snapshots)),
    plain("CPU of the console, refresh", cpu(refreshes)),
  ];
}

async function oursOnce(fleet: Fleet): Promise<{ readonly snapshot: Cost; readonly refresh: Cost }> {
  const { hosts, transport } = fleet.connections();
  const sessions: HostSession[] = [];
  const snapshot = await costOf(async () => {
    await Promise.all(
      fleet.addresses.map(async (address) => {
        const session = await hosts.connectHost(fleet.target(address));
        sessions.push(session);
        await firstPush(session);
      }),
    );
  });
  // What the first push leaves out is asked for as the console does it: once all hosts are on the screen.
  await Promise.all(sessions.map((session) => session.request("watch.complete", {})));
  await sleep(settleMs);
  const refresh = await costOf(async () => {
    await Promise.all(sessions.map(async (session) => check(await session.request("inventory", {}))));
  });
  for (const session of sessions) session.close();
  transport.close();
  return { snapshot, refresh };
}

/** The least that a start and a refresh can cost here, over the console's own transport. */
async function bareOnce(fleet: Fleet): Promise<{ readonly start: Cost; readonly report: Cost }> {
  const started = fleet.connections();
  const start = await costOf(async () => {
    await Promise.all(
      fleet.addresses.map(async (address) => {
        const connection = await started.transport.connect(fleet.target(address));
        const { stream, ended } = await connection.open([process.execPath, "-e", "0"]);
        stream.resume();
        if ((await ended) !== 0) throw new Error("`node -e 0` failed");
      }),
    );
  });
  started.transport.close();
  const { transport } = fleet.connections();
  const shells = await Promise.all(
    fleet.addresses.map(async (address) => {
      const connection = await transport.connect(fleet.target(address));
      return connection.open(["sh", "-c", `while read line; do nvidia-smi -q -x; echo ${reportEnd}; done`]);
    }),
  );
  await sleep(settleMs);
  const report = await costOf(async () => {
    await Promise.all(shells.map(({ stream }) => untilReportEnd(stream)));
  });
  transport.close();
  return { start, report };
}

function untilReportEnd(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    let tail = "";
    stream.on("data", (chunk: Buffer) => {
      tail = (tail + chunk.toString("latin1")).slice(-reportEnd.length - 1);
      if (tail.trimEnd().endsWith(reportEnd)) resolve();
    });
    stream.write("again\n");
  });
}

function firstPush(session: HostSession): Promise<void> {
  return new Promise((resolve, reject) => {
    const seen = ({ changes: [first] }: WatchEvent) => {
      const { gpus } = Object(first !== undefined && "value" in first ? first.value : null);
      if (Array.isArray(gpus) && gpus.length === 8) resolve();
      else reject(new Error("the first push does not show 8 GPUs"));
    };
    // It ends with the connection, at the end of the round.
    session.task("watch", { intervalMs: 600_000, untilComplete: true }, seen).catch(reject);
  });
}

function check(inventory: HostInventory): void {
  if (inventory.gpus.length !== 8) throw new Error(`${inventory.gpus.length} GPUs instead of 8`);
}

async function costOf(work: () => Promise<void>): Promise<Cost> {
  const cpu = process.cpuUsage();
  const began = performance.now();
  await work();
  const wallMs = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1_000 };
}

/** The time of a program with all its children, in its own process group, by the shell's `times`. */
function theirs(argv: readonly string[]): Cost {
  const began = performance.now();
  const { stdout, status, stderr } = spawnSync(
    "bash",
    ["-c", '"$@" >/dev/null || exit 9; times', "bash", ...argv, "nvidia-smi -q -x"],
    {
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const wallMs = performance.now() - began;
  if (status !== 0) throw new Error(`${argv[0]} failed: ${stderr.slice(-2_000)}`);
  const children = stdout.trim().split("\n").at(-1) ?? "";
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map((match) => Number(match[1]) * 60 + Number(match[2]));
  return { wallMs, cpuMs: seconds.reduce((sum, part) => sum + part, 0) * 1_000 };
}

function installTools(): void {
  if (existsSync("/usr/bin/parallel-ssh") && existsSync("/usr/bin/clush")) return;
  execFileSync("apt-get", ["install", "-y", "-q", "pssh", "clustershell"], { stdio: ["ignore", "ignore", "inherit"] });
}

function ratio(what: string, value: number, to: string, target: number): Metric {
  return { metric: what, value, unit: `x ${to}`, target: `at most ${target} x`, ok: value <= target };
}

function comparison(what: string, value: number, to: string): Metric {
  return { metric: what, value, unit: `x ${to}`, target: "", ok: true };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
