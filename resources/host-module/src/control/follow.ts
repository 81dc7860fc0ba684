/** Tells a console when it should ask again: the ledger changed, or what is in use did. */
import { createHash } from "node:crypto";
import type { ControlEvent } from "../../../../shared/protocol/control.ts";
import type { Access } from "../access/access.ts";
import type { System } from "../system.ts";
import { engineOf, enginePeople, ledgerOf } from "./context.ts";
import { mayReadSubject } from "./sight.ts";

const ledgerEveryMs = 1_000;
/** Jobs are asked for less often: slurmctld answers everybody. */
const usageEveryMs = 5_000;

/** Pushes at once, then whenever something differs, until the signal is raised. An engine that is silent is asked again. */
export async function follow(
  system: System,
  access: () => Promise<Access>,
  signal: AbortSignal,
  push: (event: ControlEvent) => void,
): Promise<void> {
  let usage = { revision: 0, digest: "" };
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let last = "";
  while (!signal.aborted) {
    const ledgerRevision = headOf(system);
    if (performance.now() - askedAtMs >= usageEveryMs) {
      const digest = await usageDigest(system, await access()).catch(() => usage.digest);
      if (digest !== usage.digest) usage = { revision: usage.revision + 1, digest };
      askedAtMs = performance.now();
    }
    const event = { ledgerRevision, usageRevision: usage.revision };
    if (JSON.stringify(event) !== last) push(event);
    last = JSON.stringify(event);
    await pause(ledgerEveryMs, signal);
  }
}

function headOf(system: System): number {
  const row = ledgerOf(system).database.prepare(`SELECT max("seq") AS head FROM audit`).get();
  return Number(row?.head ?? 0);
}

/** Of what the caller may see: that something happens elsewhere is not told either. */
async function usageDigest(system: System, access: Access): Promise<string> {
  const engine = await engineOf(system);
  const allocations = await engine.allocations(enginePeople(ledgerOf(system)));
  const seen = allocations.filter(
    ({ subject }) => access.administrator || (subject !== null && mayReadSubject(access, subject)),
  );
  return createHash("sha256").update(JSON.stringify(seen)).digest("hex");
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}
