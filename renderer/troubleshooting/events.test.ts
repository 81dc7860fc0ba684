import { describe, expect, test } from "vitest";
import type { TroubleEvent } from "../../shared/api/contract.ts";
import { exportName, keep, matching, slowestFirst } from "./events.ts";

function event(what: string, part: Partial<TroubleEvent> = {}): TroubleEvent {
  return { at: "2026-01-01T00:00:00Z", level: "info", host: "gpu-01", what, durationMs: null, error: null, ...part };
}

describe("events", () => {
  const events = [
    event("inventory", { durationMs: 40 }),
    event("connect", { level: "error", host: "gpu-24", durationMs: 900 }),
    event("snapshot"),
  ];

  test("are found by host and words, and by what is asked for", () => {
    expect(matching(events, "all", "gpu-24 conn")).toEqual([events[1]]);
    expect(matching(events, "problems", "")).toEqual([events[1]]);
    expect(slowestFirst(matching(events, "slow", ""))).toEqual([events[1], events[0]]);
  });

  test("told twice are kept once", () => {
    expect(keep(events, [...events, event("watch")])).toEqual([...events, event("watch")]);
  });

  test("are exported under a name that every file system takes", () => {
    expect(exportName(new Date("2026-01-02T03:04:05Z"))).toBe("tessera-events-2026-01-02T030405.json");
  });
});
