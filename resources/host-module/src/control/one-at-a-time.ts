import { setTimeout as sleep } from "node:timers/promises";
import { toErrorData } from "../../../../shared/errors.ts";
import { type System, stateDirectory } from "../system.ts";

const longestWaitMs = 120_000;
const pollMs = 50;

/**
 * Changes that reach beyond the ledger, one after the other, whichever console makes them: between looking at a version
 * and writing the ledger nobody else may change the engine, or the engine would hold the later edit and the ledger the
 * earlier. Throws AppError `locked`, with who is at it, when that takes too long.
 */
export async function oneAtATime<T>(system: System, work: () => Promise<T>): Promise<T> {
  await using _turn = await turnOf(system);
  return await work();
}

async function turnOf(system: System): Promise<AsyncDisposable> {
  const deadline = performance.now() + longestWaitMs;
  for (;;) {
    try {
      return await system.files.lock(`${stateDirectory}/engine.lock`, "a change of tenants or quotas");
    } catch (error) {
      if (toErrorData(error).code !== "locked" || performance.now() > deadline) throw error;
      await sleep(pollMs);
    }
  }
}
