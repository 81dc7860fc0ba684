import { describe, expect, it } from "vitest";
import type { GrantView, RequestView, WaitReason } from "../../shared/protocol/control.ts";
import { fraction } from "../../shared/quota/index.ts";
import { modelOf } from "../quota/model.ts";
import { lead, nowMs, smallAnswer } from "../quota/testing/answers.ts";
import { countdown, inboxOf, mayDecide, missingFor, openForMe, previewRaise, untilOf } from "./model.ts";

function request(id: string, change: Partial<RequestView> = {}): RequestView {
  return {
    id,
    subject: "t0nxp_p01",
    raise: { cards: fraction(2) },
    why: "a deadline",
    until: "2026-05-06T00:00:00.000Z",
    askedBy: { uid: 1001, user: "lena" },
    askedAt: "2026-05-04T07:00:00.000Z",
    state: "asked",
    decidedBy: null,
    decidedAt: null,
    answer: null,
    version: 1,
    approver: "lead",
    notes: [],
    ...change,
  };
}

function grant(id: string, state: GrantView["state"], until: string): GrantView {
  const times = { startedAt: null, endedAt: null };
  return { id, requestId: "r1", subject: "t0nxp_p01", raise: {}, until, state, version: 1, ...times };
}

describe("who decides", () => {
  const requests = [
    request("own"),
    request("too-much", { approver: "administrator" }),
    request("other-tenant", { subject: "t0v1s_p01" }),
    request("decided", { state: "refused" }),
  ];
  const decided = (me: Parameters<typeof mayDecide>[0]) =>
    requests.filter((each) => mayDecide(me, each)).map(({ id }) => id);

  it("is the lead for what fits the tenant, an administrator for all", () => {
    expect(decided(lead)).toEqual(["own"]);
    expect(openForMe(lead, requests)).toBe(1);
    expect(decided({ ...lead, role: "administrator" })).toEqual(["own", "too-much", "other-tenant"]);
    expect(decided({ ...lead, role: "member", leads: [] })).toEqual([]);
  });
});

it("sorts what is to do first, then by time, and keeps ended grants out", () => {
  const inbox = inboxOf(
    {
      requests: [
        request("needs-administrator", { approver: "administrator", askedAt: "2026-05-01T00:00:00.000Z" }),
        request("later", { askedAt: "2026-05-03T00:00:00.000Z" }),
        request("earlier", { askedAt: "2026-05-02T00:00:00.000Z" }),
        request("old", { state: "refused", decidedAt: "2026-04-01T00:00:00.000Z" }),
        request("new", { state: "withdrawn" }),
      ],
      grants: [
        grant("long", "running", "2026-06-01T00:00:00.000Z"),
        grant("over", "ended", "2026-05-01T00:00:00.000Z"),
        grant("soon", "approved", "2026-05-05T00:00:00.000Z"),
      ],
    },
    lead,
  );
  const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);
  expect([ids(inbox.open), ids(inbox.grants), ids(inbox.history)]).toEqual([
    ["earlier", "later", "needs-administrator"],
    ["soon", "long"],
    ["new", "old"],
  ]);
});

it("counts down to zero only at the end", () => {
  const left = (milliseconds: number) => countdown(nowMs + milliseconds, nowMs);
  expect(left(90_061_000)).toEqual({ days: 1, hours: 1, minutes: 2 });
  expect(left(1)).toEqual({ days: 0, hours: 0, minutes: 1 });
  expect(left(0)).toEqual({ days: 0, hours: 0, minutes: 0 });
  expect(left(-5)).toEqual({ days: 0, hours: 0, minutes: 0 });
});

it("lasts to the end of a day", () => {
  const noon = new Date(2026, 4, 30, 12).getTime();
  const ends = (["today", "3-days", "2-weeks"] as const).map((preset) => untilOf(preset, noon));
  const midnights = [new Date(2026, 4, 31), new Date(2026, 5, 3), new Date(2026, 5, 14)];
  expect(ends).toEqual(midnights.map((date) => date.getTime()));
});

it("prefills what a level of its own misses, and names the levels where asking here does not help", () => {
  const blocker = {
    level: "project",
    name: "Chat",
    limit: fraction(8),
    used: fraction(7),
    asked: fraction(2),
    missing: fraction(1),
    changedBy: "lead",
  } as const;
  const above = {
    ...blocker,
    subject: "t0nxp",
    resource: "cards",
    level: "tenant",
    changedBy: "administrator",
  } as const;
  const reason: WaitReason = {
    reason: "AssocGrpGRES",
    sentence: "",
    blockers: [
      { ...blocker, subject: "t0nxp_p01", resource: "cards" },
      { ...blocker, subject: "t0nxp_p01", resource: "license/matlab" },
      above,
    ],
  };
  expect(missingFor("t0nxp_p01", reason)).toEqual({ raise: { cards: fraction(1) }, elsewhere: [above] });
});

describe("a preview of a raise", () => {
  const { tree } = modelOf(smallAnswer, nowMs);
  const own = (limit: number) => ({
    resource: "cards",
    limit: fraction(limit),
    nodeId: "t0nxp_p01",
    level: "project",
  });

  it("tells the limit before and then", () => {
    expect(previewRaise(tree, "t0nxp_p01", { cards: fraction(2) })).toEqual([
      { resource: "cards", before: own(8), after: own(10) },
    ]);
  });

  it("names the level that goes on binding", () => {
    const tenant = { resource: "cards", limit: fraction(12), nodeId: "t0nxp", level: "tenant" };
    expect(previewRaise(tree, "t0nxp_p01", { cards: fraction(9) })).toEqual([
      { resource: "cards", before: own(8), after: tenant },
    ]);
  });

  it("changes nothing where the subject has no limit of its own, and leaves out what nobody limits", () => {
    expect(previewRaise(tree, "t0nxp_p01/1001", { cards: fraction(2), cpuCores: fraction(4) })).toEqual([
      { resource: "cards", before: own(8), after: own(8) },
    ]);
  });
});
