import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatRecord, type JournalRecord, parseJournal } from "./journal-records.ts";

const at = "2026-01-01T00:00:00.000Z";
const records: readonly JournalRecord[] = [
  {
    kind: "begin",
    at,
    id: "20260101T000000Z-00000000",
    operation: "apply",
    caller: { uid: 1000, user: "ops" },
    reason: "ein Grund — mit Umlauten: äöü",
    undoes: null,
    host: "gpu1",
    bootId: null,
    version: "0.1.0",
    gpus: [],
  },
  {
    kind: "step-begun",
    at,
    direction: "forward",
    gpuUuid: "GPU-1",
    step: { kind: "set-mig-mode", enabled: true, needsReset: false },
    commands: [["nvidia-smi", "-i", "GPU-1", "-mig", "1"]],
  },
  { kind: "step-done", at, direction: "forward", gpuUuid: "GPU-1", durationMs: 7, layout: "mig=on" },
  { kind: "end", at, outcome: "applied" },
];
const whole = Buffer.concat(records.map(formatRecord));

describe("a journal", () => {
  test("reads back as it was written", () => {
    expect(parseJournal(whole)).toEqual({ records, wholeBytes: whole.length, unreadable: null });
  });

  test("cut anywhere holds exactly the records whose line end is on disk", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: whole.length }), (length) => {
        const { records: read, wholeBytes, unreadable } = parseJournal(whole.subarray(0, length));
        const ends = whole.subarray(0, length).toString("latin1").split("\n").length - 1;
        expect(read).toEqual(records.slice(0, ends));
        expect(wholeBytes).toBe(Buffer.concat(records.slice(0, ends).map(formatRecord)).length);
        expect(unreadable).toBeNull();
      }),
    );
  });

  test("names the first line that is whole and no record", () => {
    const damaged = Buffer.concat([whole, Buffer.from('{"kind":"invented"}\n'), whole]);
    expect(parseJournal(damaged).unreadable).toEqual({ line: 5, text: '{"kind":"invented"}' });
  });
});
