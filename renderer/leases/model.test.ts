import { expect, test } from "vitest";
import type { LeaseView } from "../../shared/protocol/control.ts";
import { endOf, heldAt, inOrder, leaseOf, mayRelease } from "./model.ts";

const lease = (id: string, more: Partial<LeaseView> = {}): LeaseView => ({
  ...{ id, subject: "t0nxp_p01/1000", user: "max", gpuUuid: "GPU-1", gpuInstanceId: 1, version: 1 },
  ...{ takenAt: "2026-05-06T08:00:00.000Z", until: null },
  ...more,
});
const max = { uid: 1000, role: "member", open: false, leads: [] } as const;

test("a lease is over at its end, and one without an end is not", () => {
  const until = "2026-05-06T12:00:00.000Z";
  const leases = [lease("a"), lease("b", { until })];
  expect(heldAt(leases, Date.parse(until) - 1).map(({ id }) => id)).toEqual(["a", "b"]);
  expect(heldAt(leases, Date.parse(until)).map(({ id }) => id)).toEqual(["a"]);
});

test("a whole GPU's lease holds its instances; one of an instance holds no other", () => {
  const one = { gpuUuid: "GPU-1", gpuInstanceId: 1 };
  expect(leaseOf([lease("a", { gpuInstanceId: null })], one)?.id).toBe("a");
  expect(leaseOf([lease("a", { gpuInstanceId: 2 }), lease("b", { gpuUuid: "GPU-2" })], one)).toBeNull();
});

test("one's own, those of the own tenant for a lead, and all for an administrator may be released", () => {
  const other = lease("b", { subject: "t0nxp_p01/1001" });
  const callers = [
    max,
    { ...max, role: "lead", leads: ["t0nxp"] },
    { ...max, role: "lead", leads: ["t9zzz"] },
    { ...max, role: "administrator" },
  ] as const;
  expect(callers.map((me) => [mayRelease(me, lease("a")), mayRelease(me, other)])).toEqual([
    [true, false],
    [true, true],
    [true, false],
    [true, true],
  ]);
});

test("one's own come first, then what ends first", () => {
  const leases = [
    lease("open"),
    lease("other", { subject: "t0nxp_p01/1001", until: "2026-05-06T09:00:00.000Z" }),
    lease("late", { until: "2026-05-06T12:00:00.000Z" }),
    lease("soon", { until: "2026-05-06T10:00:00.000Z" }),
  ];
  expect(inOrder(max, leases).map(({ id }) => id)).toEqual(["soon", "late", "open", "other"]);
});

test("terms end after hours, or at midnight of a day", () => {
  const now = new Date(2026, 4, 6, 15, 30).getTime();
  expect(endOf("8-hours", now)).toBe(now + 8 * 3_600_000);
  expect(endOf("today", now)).toBe(new Date(2026, 4, 7).getTime());
  expect(endOf("3-days", now)).toBe(new Date(2026, 4, 10).getTime());
  expect(endOf("open", now)).toBeNull();
});
