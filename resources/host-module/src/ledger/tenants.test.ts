import { expect, test } from "vitest";
import { readAudit } from "../audit/read.ts";
import { asAda, asOps, countingBytes, noon, noonText, ops, temporaryLedger } from "../testing/ledger.ts";
import { verifyAudit } from "./check.ts";
import { members, people, projects, tenants } from "./organisation.ts";
import { addMember, addProject, createTenant, renameTenant } from "./tenants.ts";

const grace = { uid: 2001, user: "grace" };

/** What the audit says, oldest first, with JSON opened. */
function told(ledger: Parameters<typeof verifyAudit>[0]) {
  return readAudit(ledger.database, { kind: "administrator" })
    .rows.toReversed()
    .map(({ seq, command, tenant, object, before, after, outcome, error }) => ({
      ...{ seq, command, tenant, object, outcome },
      before: before === null ? null : JSON.parse(before),
      after: after === null ? null : JSON.parse(after),
      ...(error === null ? {} : { code: JSON.parse(error).code }),
    }));
}

test("a tenant with a project and a person in it: what is there, and the record of how it came", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const tenant = createTenant(ledger, asOps, { displayName: "  Vision " }, noon, countingBytes());
  const renamed = renameTenant(ledger, asAda, { ...tenant, displayName: "Vision & Speech" });
  const project = addProject(ledger, asAda, { tenantId: tenant.id, displayName: "视觉" }, noon);
  const member = addMember(ledger, asAda, { projectId: project.id, account: grace }, noon);

  const before = { id: "t0123", displayName: "Vision", createdAt: noonText, version: 1 };
  const after = { ...before, displayName: "Vision & Speech", version: 2 };
  const itsProject = { id: "t0123_p01", tenantId: "t0123", displayName: "视觉", createdAt: noonText, version: 3 };
  const person = { ...grace, seenAt: noonText, version: 4 };
  const itsMember = { projectId: "t0123_p01", uid: 2001, role: "member", version: 5 };
  expect([tenant, renamed, project, member]).toEqual([before, after, itsProject, itsMember]);
  expect({
    tenants: ledger.list(tenants),
    projects: ledger.list(projects),
    people: ledger.list(people),
    members: ledger.list(members),
  }).toEqual({ tenants: [after], projects: [itsProject], people: [person], members: [itsMember] });

  const done = { outcome: "done", tenant: "t0123" };
  expect(told(ledger)).toEqual([
    { ...done, seq: 1, command: "tenant.create", object: "tenant/t0123", before: null, after: before },
    { ...done, seq: 2, command: "tenant.rename", object: "tenant/t0123", before, after },
    { ...done, seq: 3, command: "project.add", object: "project/t0123_p01", before: null, after: itsProject },
    // People belong to no tenant: who else is on this cluster is not for a lead to read.
    { ...done, seq: 4, command: "member.add", object: "person/2001", tenant: null, before: null, after: person },
    { ...done, seq: 5, command: "member.add", object: "member/t0123_p01/2001", before: null, after: itsMember },
  ]);
  const [first] = readAudit(ledger.database, { kind: "administrator" }, { command: "tenant.create" }).rows;
  expect(first).toMatchObject({ ...ops, role: "administrator", at: noonText, commandLine: null, error: null });
  expect(verifyAudit(ledger)).toMatchObject({ intact: true, rows: 5, notes: [] });
});

test("an account that was renamed is noted when it is met again; one that was not is left alone", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const { id } = createTenant(ledger, asOps, { displayName: "A" }, noon);
  const [one, two, three] = ["one", "two", "three"].map((displayName) =>
    addProject(ledger, asOps, { tenantId: id, displayName }, noon),
  );
  addMember(ledger, asOps, { projectId: one?.id ?? "", account: grace }, noon);
  addMember(ledger, asOps, { projectId: two?.id ?? "", account: grace }, noon);
  const seen = ledger.get(people, { uid: grace.uid });
  addMember(ledger, asOps, { projectId: three?.id ?? "", account: { ...grace, user: "ghopper" } }, noon);
  expect([seen, ledger.get(people, { uid: grace.uid })]).toEqual([
    { ...grace, seenAt: noonText, version: 5 },
    { ...grace, user: "ghopper", seenAt: noonText, version: 8 },
  ]);
});

test("what cannot be is refused, changes nothing, and the attempt is on record", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const tenant = createTenant(ledger, asOps, { displayName: "A" }, noon, countingBytes());
  const project = addProject(ledger, asOps, { tenantId: tenant.id, displayName: "P" }, noon);
  addMember(ledger, asOps, { projectId: project.id, account: grace }, noon);
  const refused = (work: () => unknown) => {
    try {
      return work();
    } catch (error) {
      return error instanceof Error && "code" in error ? error.code : error;
    }
  };
  expect([
    refused(() => createTenant(ledger, asOps, { displayName: "a\nb" }, noon)),
    refused(() => renameTenant(ledger, asOps, { id: "tzzzz", version: 1, displayName: "B" })),
    refused(() => renameTenant(ledger, asOps, { ...tenant, displayName: "" })),
    refused(() => addProject(ledger, asOps, { tenantId: "tzzzz", displayName: "B" }, noon)),
    refused(() => addMember(ledger, asOps, { projectId: "t0123_p99", account: grace }, noon)),
    refused(() => addMember(ledger, asOps, { projectId: project.id, account: grace }, noon)),
    // The person is new, the project is not there: neither is noted.
    refused(() => addMember(ledger, asOps, { projectId: "t0123_p99", account: { uid: 2002, user: "alan" } }, noon)),
  ]).toEqual(["bad-request", "not-found", "bad-request", "not-found", "not-found", "conflict", "not-found"]);
  expect([ledger.list(tenants), ledger.list(people).map(({ uid }) => uid)]).toEqual([[tenant], [2001]]);
  expect(
    told(ledger)
      .filter(({ outcome }) => outcome !== "done")
      .map(({ command, tenant, object, code }) => [command, tenant, object, code]),
  ).toEqual([
    ["tenant.create", null, null, "bad-request"],
    ["tenant.rename", null, "tenant/tzzzz", "not-found"],
    ["tenant.rename", "t0123", "tenant/t0123", "bad-request"],
    ["project.add", null, "tenant/tzzzz", "not-found"],
    ["member.add", null, "project/t0123_p99", "not-found"],
    ["member.add", "t0123", "member/t0123_p01/2001", "conflict"],
    ["member.add", null, "project/t0123_p99", "not-found"],
  ]);
  expect(verifyAudit(ledger)).toMatchObject({ intact: true, notes: [] });
});
