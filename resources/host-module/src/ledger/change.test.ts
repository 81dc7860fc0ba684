import fc from "fast-check";
import { expect, test } from "vitest";
import { AppError } from "../../../../shared/errors.ts";
import { type Limits, readLimits } from "../../../../shared/quota/index.ts";
import { readAudit } from "../audit/read.ts";
import { asAda, asOps, noonText, temporaryLedger } from "../testing/ledger.ts";
import { verifyAudit } from "./check.ts";
import { administrators, leads, members, people, projects, tenants } from "./organisation.ts";
import { fromZero, grants, limits, requests, resets } from "./quotas.ts";
import { settings } from "./settings.ts";
import { subjectColumns } from "./subject.ts";

const act = { ...asOps, command: "test" };
const adasAct = { ...asAda, command: "test" };
const tenant = { id: "t0001", displayName: "A", createdAt: noonText };
const project = { id: "t0001_p01", tenantId: "t0001", displayName: "P", createdAt: noonText };
const grace = { uid: 2001, user: "grace", seenAt: noonText };
const some = readLimits({
  cards: "7/2",
  gpuMemoryGiB: 140,
  cpuCores: 64,
  cardHours: { hours: 1000, period: { kind: "month", timeZone: "Asia/Shanghai" } },
  gpuTypes: { "a100_3g.20gb": 4 },
});

function thrown(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

test("every kind of object goes in and comes back as it was, and its removal is on record", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const person = subjectColumns({ scope: "person", projectId: project.id, uid: grace.uid });
  const request = {
    ...{ id: "r000000", ...person, amount: some, why: "a deadline", until: noonText, askedBy: grace.uid },
    ...{ askedAt: noonText, state: "asked" as const, decidedBy: null, decidedAt: null, answer: null },
  };
  const grant = {
    ...{ id: "g000000", requestId: request.id, ...person, amount: some, until: noonText },
    ...{ state: "approved" as const, revert: null, startedAt: null, endedAt: null },
  };
  const reset = { ...person, period: "month" as const, timeZone: "Asia/Shanghai", lastDoneAt: null, ...fromZero };
  const member = { projectId: project.id, uid: grace.uid, role: "member" as const };
  const stored = ledger.change(act, (change) => [
    change.insert(people, grace),
    change.insert(administrators, { uid: grace.uid }),
    change.insert(tenants, tenant),
    change.insert(leads, { tenantId: tenant.id, uid: grace.uid }),
    change.insert(projects, project),
    change.insert(members, member),
    change.insert(settings, { name: "share-rule", value: { of: ["compute", "memory"] } }),
    change.insert(limits, { ...person, limits: some }),
    change.insert(resets, reset),
    change.insert(requests, request),
    change.insert(grants, grant),
  ]);
  const found = () => [
    ...[ledger.find(people, grace), ledger.find(administrators, grace), ledger.find(tenants, tenant)],
    ...[ledger.find(leads, { tenantId: tenant.id, uid: grace.uid }), ledger.find(projects, project)],
    ...[ledger.find(members, member), ledger.find(settings, { name: "share-rule" }), ledger.find(limits, person)],
    ...[ledger.find(resets, person), ledger.find(requests, request), ledger.find(grants, grant)],
  ];
  expect([found(), stored.map(({ version }) => version)]).toEqual([stored, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]]);

  ledger.change(act, (change) => {
    change.remove(grants, grant, 11);
    change.remove(requests, request, 10);
    change.remove(resets, person, 9);
    change.remove(limits, person, 8);
    change.remove(settings, { name: "share-rule" }, 7);
    change.remove(members, member, 6);
    change.remove(projects, project, 5);
    change.remove(leads, { tenantId: tenant.id, uid: grace.uid }, 4);
    change.remove(tenants, tenant, 3);
    change.remove(administrators, grace, 2);
    change.remove(people, grace, 1);
  });
  expect(found()).toEqual(Array(11).fill(null));
  // Newest first: what went last came first.
  const rows = readAudit(ledger.database, { kind: "administrator" }).rows;
  const told = rows.map(({ object, tenant, before, after }) => ({ object, tenant, before, after }));
  expect(told.slice(0, 11)).toEqual(
    told
      .slice(11)
      .toReversed()
      .map(({ object, tenant, after }) => ({ object, tenant, before: after, after: null })),
  );
  expect(verifyAudit(ledger)).toMatchObject({ intact: true, rows: 22 });
});

test("the later of two edits of one version is told which fields changed meanwhile, to what, by whom and when", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const there = ledger.change(act, (change) => {
    change.insert(tenants, tenant);
    return change.insert(projects, project);
  });
  const other = temporary.another();
  other.change(adasAct, (change) => change.update(projects, project, there.version, { displayName: "Q" }));
  other.change(act, (change) => change.update(projects, project, 3, { displayName: "R" }));
  const error = thrown(() =>
    ledger.change(act, (change) => change.update(projects, project, there.version, { displayName: "S" })),
  );
  expect(error.toData()).toEqual({
    code: "conflict",
    message: "The project R was changed since you opened it.",
    remedy: "Nothing was changed. Look at what changed, then make your edit again on top of it.",
    evidence: {
      details: `displayName: "P" -> "Q", by ada at ${noonText}\ndisplayName: "Q" -> "R", by ops at ${noonText}`,
      changedMeanwhile: [
        { field: "displayName", before: '"P"', after: '"Q"', by: "ada", at: noonText },
        { field: "displayName", before: '"Q"', after: '"R"', by: "ops", at: noonText },
      ],
    },
  });
  expect(ledger.get(projects, project)).toEqual({ ...project, displayName: "R", version: 4 });
});

test("an object that was removed, or removed and made again, is a conflict as well", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const name = { name: "x" };
  ledger.change(act, (change) => change.insert(settings, { ...name, value: 1 }));
  ledger.change(adasAct, (change) => change.remove(settings, name, 1));
  const edit = () => ledger.change(act, (change) => change.update(settings, name, 1, { value: 2 }));
  const removed = thrown(edit);
  ledger.change(adasAct, (change) => change.insert(settings, { ...name, value: 1 }));
  const again = thrown(edit);
  const by = { by: "ada", at: noonText };
  const gone = [
    { field: "name", before: '"x"', after: null, ...by },
    { field: "value", before: "1", after: null, ...by },
  ];
  expect([removed, again].map(({ code, message, evidence }) => [code, message, evidence?.changedMeanwhile])).toEqual([
    ["conflict", "The setting x was removed since you opened it.", gone],
    [
      "conflict",
      "The setting x was changed since you opened it.",
      [
        ...gone,
        { field: "name", before: null, after: '"x"', ...by },
        { field: "value", before: null, after: "1", ...by },
      ],
    ],
  ]);
  expect(ledger.get(settings, name)).toMatchObject({ value: 1 });
});

test("an edit of nothing writes nothing", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const there = ledger.change(act, (change) => change.insert(tenants, tenant));
  const same = ledger.change(act, (change) => change.update(tenants, tenant, 1, { displayName: " A " }));
  expect([same, verifyAudit(ledger).rows]).toEqual([there, 1]);
});

test("what others belong to stays, and what belongs to nothing does not come in", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  ledger.change(act, (change) => {
    change.insert(tenants, tenant);
    change.insert(projects, project);
  });
  const orphan = { ...project, id: "t0002_p01", tenantId: "t0002" };
  const codes = [
    thrown(() => ledger.change(act, (change) => change.remove(tenants, tenant, 1))).code,
    thrown(() => ledger.change(act, (change) => change.insert(projects, orphan))).code,
    // An id of one tenant under another one.
    thrown(() => ledger.change(act, (change) => change.insert(projects, { ...orphan, tenantId: "t0001" }))).code,
  ];
  expect(codes).toEqual(["in-use", "not-found", "bad-request"]);
  expect(
    readAudit(ledger.database, { kind: "administrator" }, { outcome: "refused" }).rows.map(({ object }) => object),
  ).toEqual(["project/t0002_p01", "project/t0002_p01", "tenant/t0001"]);
});

test("a change that throws at its end leaves nothing of itself but the record of the attempt", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const error = thrown(() =>
    ledger.change(act, (change) => {
      change.insert(tenants, tenant);
      change.giveId("t0001");
      throw new Error("out of luck");
    }),
  );
  const [row, ...more] = readAudit(ledger.database, { kind: "administrator" }).rows;
  expect([error.code, ledger.list(tenants), ledger.isGivenId("t0001"), more]).toEqual(["internal", [], false, []]);
  expect(row).toMatchObject({ seq: 1, outcome: "failed", object: "tenant/t0001", tenant: "t0001", after: null });
  expect(JSON.parse(row?.error ?? "")).toMatchObject({ message: "A change to the ledger failed: out of luck" });
});

test("a transaction cannot be left open by waiting, nor begun inside another", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const waiting = thrown(() =>
    ledger.change(act, async (change) => {
      change.insert(tenants, tenant);
    }),
  );
  const nested = thrown(() => ledger.change(act, () => ledger.change(act, () => undefined)));
  expect([waiting.message, nested.message, ledger.list(tenants)]).toEqual([
    "A change to the ledger failed: a transaction of the ledger cannot wait for anything",
    "A change to the ledger failed: a transaction of the ledger is open already",
    [],
  ]);
});

test("requests and grants go forward only, and no grant runs before its way back is on record", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const cluster = subjectColumns({ scope: "cluster" });
  const version = (work: () => { readonly version: number }) => {
    try {
      return work().version;
    } catch (error) {
      return error instanceof AppError ? error.code : error;
    }
  };
  ledger.change(act, (change) => {
    change.insert(requests, {
      ...{ id: "r000000", ...cluster, amount: some, why: "", until: noonText, askedBy: 1 },
      ...{ askedAt: noonText, state: "asked", decidedBy: null, decidedAt: null, answer: null },
    });
    change.insert(grants, {
      ...{ id: "g000000", requestId: "r000000", ...cluster, amount: some, until: noonText },
      ...{ state: "approved", revert: null, startedAt: null, endedAt: null },
    });
  });
  const request = (basedOn: number, state: "approved" | "asked", at: string | null) =>
    version(() =>
      ledger.change(act, (change) =>
        change.update(requests, { id: "r000000" }, basedOn, {
          state,
          decidedBy: at === null ? null : 1,
          decidedAt: at,
        }),
      ),
    );
  const grant = (basedOn: number, fields: Parameters<typeof edit>[1]) => version(() => edit(basedOn, fields));
  function edit(
    basedOn: number,
    fields: {
      readonly state?: "running" | "ended" | "cut short";
      readonly revert?: Limits | null;
      readonly startedAt?: string;
      readonly endedAt?: string;
    },
  ) {
    return ledger.change(act, (change) => change.update(grants, { id: "g000000" }, basedOn, fields));
  }
  const running = { state: "running", startedAt: noonText } as const;
  expect([
    request(1, "approved", noonText),
    request(3, "asked", null),
    grant(2, running),
    grant(2, { ...running, revert: some }),
    grant(2, { revert: some }),
    grant(7, running),
    grant(8, { revert: null }),
    grant(8, { state: "ended" }),
    grant(8, { state: "cut short", endedAt: noonText }),
    grant(11, running),
  ]).toEqual([
    ...[3, "bad-request", "bad-request", "bad-request", 7, 8, "bad-request", "bad-request", 11, "bad-request"],
  ]);
});

test("the newest value of an object is always the last of its audit rows", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(
          fc.constantFrom("a", "b", "c"),
          fc.constantFrom("set", "remove"),
          fc.jsonValue().filter((value) => value !== null),
        ),
        {
          maxLength: 15,
        },
      ),
      (steps) => {
        using temporary = temporaryLedger();
        const { ledger } = temporary;
        for (const [name, step, value] of steps) {
          const current = ledger.find(settings, { name });
          const json: unknown = JSON.parse(JSON.stringify(value));
          ledger.change(act, (change) => {
            if (step === "remove")
              return current === null ? undefined : change.remove(settings, { name }, current.version);
            const typed = settings.parse({ name, value: json });
            if (!("value" in typed)) throw new Error(typed.wrong);
            if (current === null) change.insert(settings, typed.value);
            else change.update(settings, { name }, current.version, { value: typed.value.value });
            return undefined;
          });
        }
        for (const name of ["a", "b", "c"]) {
          const last = readAudit(ledger.database, { kind: "administrator" }, { object: `setting/${name}` }).rows[0];
          expect(last?.after ?? null).toBe(
            ledger.find(settings, { name }) === null ? null : JSON.stringify(ledger.find(settings, { name })),
          );
        }
        expect(verifyAudit(ledger)).toMatchObject({ intact: true, notes: [] });
      },
    ),
    { numRuns: 20 },
  );
});
