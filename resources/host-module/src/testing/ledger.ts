import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Actor } from "../audit/row.ts";
import type { Acting } from "../ledger/change.ts";
import { type Ledger, openLedger } from "../ledger/ledger.ts";

export const ops: Actor = {
  uid: 1000,
  user: "ops",
  loginUid: 1000,
  keyFingerprint: "SHA256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg",
  address: "192.0.2.7",
};
export const ada: Actor = { uid: 1001, user: "ada", loginUid: null, keyFingerprint: null, address: null };

export const asOps: Acting = { actor: ops, role: "administrator" };
export const asAda: Acting = { actor: ada, role: "lead" };

/** The time of everything that a test does, unless it says otherwise. */
export const noon = new Date("2026-03-04T12:00:00.000Z");
export const noonText = noon.toISOString();

/** Random bytes that are none: the same ids in each run. */
export function countingBytes(start = 0): (length: number) => Uint8Array {
  let next = start;
  return (length) => Uint8Array.from({ length }, () => next++);
}

/** A ledger in a directory of its own, both gone when the test is over. */
export interface TemporaryLedger extends Disposable {
  readonly directory: string;
  readonly path: string;
  readonly ledger: Ledger;
  /** Another connection to the same file. */
  another(): Ledger;
}

export function temporaryLedger(): TemporaryLedger {
  const directory = mkdtempSync(join(tmpdir(), "tessera-ledger-"));
  const path = join(directory, "ledger.sqlite");
  const opened: Ledger[] = [];
  const open = () => {
    const ledger = openLedger(path, { now: () => noon, busyTimeoutMs: 2_000 });
    opened.push(ledger);
    return ledger;
  };
  return {
    directory,
    path,
    ledger: open(),
    another: open,
    [Symbol.dispose]() {
      for (const ledger of opened) ledger.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
