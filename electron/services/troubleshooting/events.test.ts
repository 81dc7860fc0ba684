import { expect, test, vi } from "vitest";
import type { TroubleEvent } from "../../../shared/api/contract.ts";
import { AppError } from "../../../shared/errors.ts";
import { keptEvents, TroubleLog } from "./events.ts";

test("a subscriber gets what is kept, then what is new, and no more than the last few hundred are kept", async () => {
  const log = new TroubleLog();
  for (let index = 0; index < keptEvents + 50; index += 1) log.add({ level: "info", what: `event ${index}` });
  const batches: (readonly TroubleEvent[])[] = [];
  const stop = new AbortController();
  log.subscribe((events) => batches.push(events), stop.signal);
  expect(batches[0]?.map((event) => event.what).slice(0, 2)).toEqual(["event 50", "event 51"]);
  expect(batches[0]).toHaveLength(keptEvents);
  log.add({ level: "warning", what: "one", host: "h" });
  log.add({ level: "warning", what: "two", durationMs: 1.6 });
  await vi.waitFor(() => expect(batches).toHaveLength(2));
  expect(batches[1]).toMatchObject([
    { what: "one", host: "h", durationMs: null, error: null },
    { what: "two", host: null, durationMs: 2 },
  ]);
  stop.abort();
  log.add({ level: "info", what: "three" });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(batches).toHaveLength(2);
});

test("timed work is kept with how it ended, and its failure goes on to the caller", async () => {
  const log = new TroubleLog();
  expect(await log.timed("good", "h", async () => 5)).toBe(5);
  const failure = new AppError({ code: "timeout", message: "late", remedy: "" });
  await expect(log.timed("bad", null, () => Promise.reject(failure))).rejects.toBe(failure);
  const batches: (readonly TroubleEvent[])[] = [];
  log.subscribe((events) => batches.push(events), new AbortController().signal);
  expect(batches[0]).toMatchObject([
    { what: "good", host: "h", level: "info", error: null },
    { what: "bad", host: null, level: "error", error: { code: "timeout" } },
  ]);
});
