import { expect, test } from "vitest";
import type { AllocationView } from "../../../shared/protocol/control.ts";
import { fraction, type Period, zero } from "../../../shared/quota/index.ts";
import { usageOf } from "./governance.ts";

const month: Period = { kind: "month", timeZone: "UTC" };

const work = (id: string, startedAt: string): AllocationView => ({
  ...({ id, kind: "job", subject: "t1_p01/7", user: "ada", name: "x", state: "running" } as const),
  ...{ cards: fraction(1, 2), gpuMemoryGiB: zero, cpuCores: zero, memoryGiB: zero },
  gpuTypes: { "h100/3g.40gb": 1 },
  ...{ startedAt, endsAt: null, hosts: "g1", reason: null },
});

test("work that has ended is in use no more, and its card-hours stay, those of this month", () => {
  const at = new Date("2026-12-03T12:00:00Z");
  const running = work("1", "2026-12-03T10:00:00Z");
  const past = [
    { allocation: work("2", "2026-11-30T22:00:00Z"), endedAtMs: Date.parse("2026-12-01T02:00:00Z") },
    { allocation: work("3", "2026-11-02T00:00:00Z"), endedAtMs: Date.parse("2026-11-03T00:00:00Z") },
  ];
  expect(usageOf([running], past, () => [month], at).get("t1_p01/7")).toEqual({
    cards: fraction(1, 2),
    gpuTypes: { "h100/3g.40gb": fraction(1) },
    cardHours: [{ period: month, hours: fraction(2) }],
  });
  expect(usageOf([], past, () => [month], at).get("t1_p01/7")).toEqual({
    cardHours: [{ period: month, hours: fraction(1) }],
  });
});
