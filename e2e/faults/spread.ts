/**
 * Which faults are tried at which call. By default every call gets a fault, every change of the driver and every write to
 * the journal gets every kind that can leave something half done, and the kinds at mere readings take turns.
 * `TESSERA_FAULTS=all` tries every kind at every call.
 */
import type { Call, FaultKind } from "./in-process-host.ts";

export const exhaustive = process.env.TESSERA_FAULTS === "all";

const interruptions: readonly FaultKind[] = ["cancel", "hang-up"];
const onReads: readonly FaultKind[] = ["crash-before", "driver-fails", "driver-lies", "driver-hangs", ...interruptions];
const onChanges: readonly FaultKind[] = [
  "crash-before",
  "crash-half",
  "crash-after",
  "driver-fails",
  "driver-fails-after",
  "driver-lies",
  "driver-hangs",
  "driver-hangs-after",
  "driver-undead",
];
const onWrites: readonly FaultKind[] = ["crash-before", "crash-torn", "crash-after", "disk-full"];

const turn = (kinds: readonly FaultKind[], at: number, count: number): readonly FaultKind[] =>
  Array.from({ length: count }, (_, step) => kinds[(at + step) % kinds.length]).filter((kind) => kind !== undefined);

/** The kinds of fault for the call at this position. */
export function kindsFor(call: Call, at: number): readonly FaultKind[] {
  if (call.kind === "read") return exhaustive ? onReads : turn(onReads, at, 1);
  const kinds = call.kind === "change" ? onChanges : onWrites;
  return [...kinds, ...(exhaustive ? interruptions : turn(interruptions, at, 1))];
}

/** As `kindsFor`, for the second of two faults: fewer, since there are many pairs. */
export function secondKindsFor(call: Call, at: number): readonly FaultKind[] {
  if (exhaustive) return kindsFor(call, at);
  if (call.kind === "read") return turn(onReads, at, 1);
  if (call.kind === "write") return turn(onWrites, at, 2);
  return ["crash-before", "crash-half", ...turn(onChanges.slice(2), at, 1)];
}
