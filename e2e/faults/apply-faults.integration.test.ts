/**
 * A fault at every call of `mig apply`, in memory. Afterwards the layout is the old or the new one, or the
 * operation stands open, says so, refuses other changes and can be finished as well as rolled back.
 */
import { afterAll, describe, expect, test, vi } from "vitest";
import * as operations from "../../resources/host-module/src/mig/operations.ts";
import { checkAftermath, held, outcomeOf, prepared, undisturbed } from "./aftermath.ts";
import type { Fault } from "./in-process-host.ts";
import { scenarios } from "./scenarios.ts";
import { exhaustive, kindsFor } from "./spread.ts";

// Hundreds of cases a test: a busy machine, or every kind of fault, takes minutes.
vi.setConfig({ testTimeout: 1_200_000 });

let cases = 0;
afterAll(() =>
  console.log(`mig apply in memory: ${cases} fault cases${exhaustive ? ", every kind at every call" : ""}`),
);

describe.each(scenarios)("$name", (scenario) => {
  test("a fault at every call leaves the old layout, the new one, or an operation that can be completed", async () => {
    const { before, after, calls } = await undisturbed(scenario);
    const ends = { open: 0, closed: 0 };
    const strike = async (fault: Fault) => {
      cases += 1;
      const { host, request } = prepared(scenario);
      const heldBefore = held(host);
      const process = host.process([fault]);
      const outcome = await outcomeOf(process, (system, context) => operations.apply(system, request, context));
      const where = `${scenario.name}, ${fault.kind} at ${fault.at} (${calls[fault.at]?.words}): ${JSON.stringify(outcome).slice(0, 600)}`;
      ends[await checkAftermath(host, process, outcome, request, { before, after, heldBefore }, where)] += 1;
    };
    for (const [at, call] of calls.entries()) {
      for (const kind of kindsFor(call, at)) {
        await strike({ at, kind });
        if (kind === "disk-full") await strike({ at, kind, stays: true });
      }
    }
    expect(ends.open).toBeGreaterThan(0);
    expect(ends.closed).toBeGreaterThan(0);
  });
});
