/**
 * A second fault while the first is being put right, in memory: at every call of rolling back in the same process, and at
 * every call of a recovery after a crash, in both ways. What holds after one fault must hold after two.
 */
import { afterAll, describe, expect, test, vi } from "vitest";
import * as operations from "../../resources/host-module/src/mig/operations.ts";
import { checkAftermath, held, outcomeOf, prepared, undisturbed } from "./aftermath.ts";
import type { Fault, FaultKind } from "./in-process-host.ts";
import { scenarios } from "./scenarios.ts";
import { exhaustive, secondKindsFor } from "./spread.ts";

// Hundreds of cases a test: a busy machine, or every kind of fault, takes minutes.
vi.setConfig({ testTimeout: 1_200_000 });

let cases = 0;
afterAll(() => console.log(`mig recover and rolling back in memory: ${cases} pairs of faults`));

/** By default the last change of each scenario is struck first, where most has been done already; else each of them. */
function firstFaults(calls: readonly { readonly kind: string }[], kind: FaultKind): readonly Fault[] {
  const changes = calls.flatMap((call, at) => (call.kind === "change" ? [{ at, kind }] : []));
  return exhaustive ? changes : changes.slice(-1);
}

describe.each(scenarios)("$name", (scenario) => {
  test("a fault while rolling back", async () => {
    const { before, after, calls } = await undisturbed(scenario);
    for (const first of firstFaults(calls, "driver-fails-after")) {
      const whole = prepared(scenario);
      const rolledBack = whole.host.process([first, { at: first.at + 1, kind: "driver-fails" }]);
      await outcomeOf(rolledBack, (system, context) => operations.apply(system, whole.request, context));
      expect(whole.host.layouts()).toEqual(before);
      for (const [at, call] of rolledBack.calls.entries()) {
        if (at <= first.at + 1) continue;
        for (const kind of secondKindsFor(call, at)) {
          cases += 1;
          const { host, request } = prepared(scenario);
          const heldBefore = held(host);
          const faults = [first, { at: first.at + 1, kind: "driver-fails" }, { at, kind }] as const;
          const process = host.process(faults);
          const outcome = await outcomeOf(process, (system, context) => operations.apply(system, request, context));
          const where = `${scenario.name}, rolling back, ${kind} at ${at} (${call.words}): ${JSON.stringify(outcome).slice(0, 600)}`;
          await checkAftermath(host, process, outcome, request, { before, after, heldBefore }, where);
        }
      }
    }
  });

  test.each(["finish", "roll-back"] as const)("a fault while recovering: %s", async (way) => {
    const { before, after, calls } = await undisturbed(scenario);
    for (const first of firstFaults(calls, "crash-half")) {
      const { host: crashed, request } = prepared(scenario);
      const heldBefore = held(crashed);
      await outcomeOf(crashed.process([first]), (system, context) => operations.apply(system, request, context));
      const operationId = (await operations.status(crashed.process().system)).open?.id ?? "";
      const recovery = crashed.copy().process();
      await outcomeOf(recovery, (system, context) => operations.recover(system, { operationId, way }, context));
      expect(recovery.calls.length).toBeGreaterThan(0);
      for (const [at, call] of recovery.calls.entries()) {
        for (const kind of secondKindsFor(call, at)) {
          cases += 1;
          const host = crashed.copy();
          const process = host.process([{ at, kind }]);
          const outcome = await outcomeOf(process, (system, context) =>
            operations.recover(system, { operationId, way }, context),
          );
          const where = `${scenario.name}, ${way}, ${kind} at ${at} (${call.words}): ${JSON.stringify(outcome).slice(0, 600)}`;
          const rollBackAsked = way === "roll-back";
          const ends = { before: rollBackAsked ? before : after, after, heldBefore, rollBackAsked };
          const status = await operations.status(host.process().system);
          // Closed is closed in the way that was asked for; open, it may still be led to either end.
          await checkAftermath(
            host,
            process,
            outcome,
            request,
            status.open === null ? ends : { before, after, heldBefore },
            where,
          );
        }
      }
    }
  });
});
