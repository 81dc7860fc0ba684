import { afterEach, beforeEach, expect, test } from "vitest";
import { fraction, type Limits } from "../../../../../shared/quota/index.ts";
import type { Act } from "../../ledger/change.ts";
import { grants, limits, requests } from "../../ledger/quotas.ts";
import { subjectColumns } from "../../ledger/subject.ts";
import type { System } from "../../system.ts";
import { asOps, countingBytes, noon, ops, type TemporaryLedger, temporaryLedger } from "../../testing/ledger.ts";
import { addMember, addProject, createTenant } from "../../testing/tenants.ts";
import { periodsIn } from "../quota-tree.ts";
import { type LeaseWish, releaseLease, takeLease } from "./leases.ts";
import { localEngine } from "./local-engine.ts";

const act: Act = { actor: ops, role: "administrator", command: "lease.take" };
const at = (minutes: number) => new Date(noon.getTime() + minutes * 60_000);
let temporary: TemporaryLedger;
let projectId: string;
let tenantId: string;

beforeEach(() => {
  temporary = temporaryLedger();
  tenantId = createTenant(temporary.ledger, asOps, { displayName: "T" }, noon, countingBytes()).id;
  projectId = addProject(temporary.ledger, asOps, { tenantId, displayName: "P" }, noon).id;
  addMember(temporary.ledger, asOps, { projectId, account: { uid: 1000, user: "ada" } }, noon);
});
afterEach(() => temporary[Symbol.dispose]());

const setTenant = (value: Limits) =>
  temporary.ledger.change(act, (change) =>
    change.insert(limits, { ...subjectColumns({ scope: "tenant", tenantId }), limits: value }),
  );
const wish = (gpuInstanceId: number | null, until: Date | null = null): LeaseWish => ({
  ...{ projectId, uid: 1000, gpuUuid: "GPU-1", gpuInstanceId, until },
  amounts: { cards: fraction(1, 2), gpuTypes: { "h100/3g.40gb": fraction(1) } },
});
const engineAt = (minutes: number) => {
  const system: System = {
    run: () => Promise.reject(new Error("runs nothing")),
    files: {
      ...{ read: async () => null, list: async () => null, status: async () => null, readLink: async () => null },
      ...{ makeDirectory: async () => {}, replace: async () => {}, append: async () => {}, remove: async () => {} },
      lock: () => Promise.reject(new Error("locks nothing")),
      isLocked: async () => false,
    },
    now: () => at(minutes),
    ...{ hostName: "g1", architecture: "x86_64", root: false, caller: { uid: 1000, user: "ops" }, ledgerPath: null },
  };
  return localEngine(temporary.ledger, system);
};

test("a lease is taken within the limit, and one beyond it is refused with the level, how much, and who can change it", async () => {
  setTenant({ cards: fraction(3, 4) });
  const { id } = takeLease(temporary.ledger, act, wish(1), noon);
  expect(() => takeLease(temporary.ledger, act, wish(2), noon)).toThrow(
    expect.objectContaining({
      code: "conflict",
      message: "This lease would be beyond a limit. The tenant T may use 3/4 cards, 1/2 in use: 1/4 missing.",
      remedy: "A platform administrator can change that limit; or ask for more.",
      evidence: {
        details: "The tenant T may use 3/4 cards, 1/2 in use: 1/4 missing.",
        blockedBy: [
          {
            ...{ subject: tenantId, level: "tenant", name: "T", resource: "cards", changedBy: "administrator" },
            ...{ limit: fraction(3, 4), used: fraction(1, 2), asked: fraction(1, 2), missing: fraction(1, 4) },
          },
        ],
      },
    }),
  );
  expect(() => takeLease(temporary.ledger, act, wish(2), noon, () => false)).toThrow(
    expect.objectContaining({
      message: "This lease would be beyond a limit. The tenant has no room for that: 1/4 cards missing.",
      evidence: expect.objectContaining({
        blockedBy: [expect.objectContaining({ subject: null, name: "", limit: fraction(0), used: fraction(0) })],
      }),
    }),
  );
  releaseLease(temporary.ledger, act, id, at(1));
  expect(takeLease(temporary.ledger, act, wish(2), at(1)).id).not.toBe(id);
});

test("an instance is leased once, a whole GPU with all its instances", () => {
  takeLease(temporary.ledger, act, wish(1), noon);
  for (const place of [1, null]) {
    expect(() => takeLease(temporary.ledger, act, wish(place), noon)).toThrow(
      expect.objectContaining({ code: "in-use" }),
    );
  }
  expect(takeLease(temporary.ledger, act, wish(2), noon).gpuInstanceId).toBe(2);
});

test("a lease is over from its end on, though nobody gave it back", () => {
  setTenant({ cards: fraction(1, 2) });
  takeLease(temporary.ledger, act, wish(1, at(10)), noon);
  expect(() => takeLease(temporary.ledger, act, wish(2), at(9.99))).toThrow(
    expect.objectContaining({ code: "conflict" }),
  );
  expect(takeLease(temporary.ledger, act, wish(1), at(10)).takenAt).toBe(at(10).toISOString());
});

test("card-hours count in the period, also of leases that are over; what is asked until the end counts before", async () => {
  setTenant({ cardHours: { hours: fraction(1), period: { kind: "day", timeZone: "UTC" } } });
  takeLease(temporary.ledger, act, wish(1, at(60)), noon);
  const subject = `${projectId}/1000`;
  const usage = async (minutes: number) =>
    (await engineAt(minutes).usage([], periodsIn(temporary.ledger))).get(subject)?.cardHours?.[0]?.hours;
  // Half a card for 30 minutes, for an hour; the next day begins at midnight UTC, 12 hours after noon.
  expect([await usage(30), await usage(90), await usage(12 * 60)]).toEqual([fraction(1, 4), fraction(1, 2), undefined]);
  expect(() => takeLease(temporary.ledger, act, wish(1, at(60 + 61)), at(60))).toThrow(
    "The tenant T may use 1 card-hours, 1/2 in use: 0.01 missing.",
  );
  expect(takeLease(temporary.ledger, act, wish(1, at(60 + 60)), at(60)).until).toBe(at(120).toISOString());
});

test("a lease without an end is refused once the card-hours are used up", () => {
  setTenant({ cardHours: { hours: fraction(1, 2), period: { kind: "day", timeZone: "UTC" } } });
  takeLease(temporary.ledger, act, wish(1, at(60)), noon);
  expect(() => takeLease(temporary.ledger, act, wish(1), at(60))).toThrow(
    "The tenant T may use 1/2 card-hours, 1/2 in use: 0.01 missing.",
  );
  expect(takeLease(temporary.ledger, act, wish(1), at(12 * 60)).until).toBeNull();
});

test("use that is no lease counts where it is given", () => {
  setTenant({ cards: fraction(1, 2) });
  const used = new Map([[`${projectId}/1000`, { cards: fraction(1, 2) }]]);
  expect(() => takeLease(temporary.ledger, act, wish(1), noon, () => true, used)).toThrow(
    "The tenant T may use 1/2 cards, 1/2 in use: 1/2 missing.",
  );
});

test("a grant that runs raises the limit until its end", () => {
  setTenant({ cards: fraction(1, 2) });
  temporary.ledger.change(act, (change) => {
    const columns = subjectColumns({ scope: "tenant", tenantId });
    const amount: Limits = { cards: fraction(1, 2) };
    const until = at(10).toISOString();
    change.insert(requests, {
      ...{ id: "r000000", ...columns, amount, why: "a run", until, askedBy: 1000, askedAt: noon.toISOString() },
      ...{ state: "approved", decidedBy: 1000, decidedAt: noon.toISOString(), answer: null },
    });
    change.insert(grants, {
      ...{ id: "g000000", requestId: "r000000", ...columns, amount, until, state: "running" },
      ...{ revert: { cards: fraction(1, 2) }, startedAt: noon.toISOString(), endedAt: null },
    });
  });
  takeLease(temporary.ledger, act, wish(1), noon);
  expect(takeLease(temporary.ledger, act, wish(2, at(10)), at(9)).gpuInstanceId).toBe(2);
  expect(() => takeLease(temporary.ledger, act, wish(3), at(10))).toThrow(
    expect.objectContaining({ code: "conflict" }),
  );
});

test("the engine tells leases, refuses to remove what is in use, and gives them back", async () => {
  const { id } = takeLease(temporary.ledger, act, wish(1, at(60)), noon);
  const engine = engineAt(5);
  expect(await engine.allocations([])).toMatchObject([
    {
      id,
      kind: "lease",
      subject: `${projectId}/1000`,
      user: "ada",
      state: "running",
      cards: fraction(1, 2),
      hosts: "g1",
    },
  ]);
  const person = { uid: 1000, user: "ada" };
  const removals = [
    { kind: "remove-member", projectId, person },
    { kind: "remove-project", projectId },
    { kind: "remove-tenant", tenantId },
  ] as const;
  const outcomes = async () => (await engine.apply(removals, {})).map(({ outcome }) => outcome);
  expect(await outcomes()).toEqual(["failed", "failed", "failed"]);
  await engine.cancel([id]);
  expect([await outcomes(), await engine.allocations([])]).toEqual([["unchanged", "unchanged", "unchanged"], []]);
  await expect(engine.explain(id, [], () => null)).rejects.toMatchObject({ code: "not-found" });
});
