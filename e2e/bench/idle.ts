/** 64 connected and watched hosts on which nothing changes: what they send and what the console's process spends. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { HostSession } from "../../electron/services/deploy/connect-host.ts";
import { startFleet } from "../lab/fleet.ts";
import { Lab, sshdMissing } from "../lab/sshd.ts";
import type { Metric } from "./metric.ts";

const hostCount = 64;
/** The rest of the first reading comes 3 s after it. */
const settleMs = 10_000;
/** Three heartbeats of the watch and four keepalives. */
const measureMs = 60_000;

export async function run(): Promise<readonly Metric[]> {
  const missing = sshdMissing();
  if (missing !== null) throw new Error(missing);
  await using lab = new Lab();
  const fleet = await startFleet(lab, hostCount);
  const { hosts, transport } = fleet.connections();
  const sessions: HostSession[] = [];
  await Promise.all(
    fleet.addresses.map(async (address) => {
      const session = await hosts.connectHost(fleet.target(address));
      sessions.push(session);
      await new Promise<void>((resolve) => {
        const watching = session.task("watch", { intervalMs: 30_000 }, () => resolve());
        // It ends with the connection, at the end of the measurement.
        watching.catch(() => undefined);
      });
    }),
  );
  await sleep(settleMs);
  const before = { cpu: process.cpuUsage(), bytes: loopbackBytes() };
  const began = performance.now();
  await sleep(measureMs);
  const seconds = (performance.now() - began) / 1_000;
  const cpu = process.cpuUsage(before.cpu);
  const bytesPerSecond = (loopbackBytes() - before.bytes) / seconds;
  for (const session of sessions) session.close();
  transport.close();
  const cpuPercent = ((cpu.user + cpu.system) / 1_000_000 / seconds) * 100;
  return [
    {
      metric: "all traffic of loopback, headers and other programs included",
      value: bytesPerSecond,
      unit: "B/s",
      target: "at most 2048 B/s",
      ok: bytesPerSecond <= 2_048,
    },
    { metric: "CPU of the console", value: cpuPercent, unit: "% of a core", target: "below 2 %", ok: cpuPercent < 2 },
  ];
}

/** What the loopback interface has received since boot: on loopback every packet is sent and received once. */
function loopbackBytes(): number {
  return Number(readFileSync("/sys/class/net/lo/statistics/rx_bytes", "utf8"));
}
