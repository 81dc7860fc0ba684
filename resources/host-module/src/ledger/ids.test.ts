import fc from "fast-check";
import { expect, test } from "vitest";
import { projectIdPattern, tenantIdPattern } from "../../../../shared/organisation/subject.ts";
import { asOps, countingBytes, noonText, temporaryLedger } from "../testing/ledger.ts";
import { newGrantId, newProjectId, newRequestId, newTenantId, type RandomBytes } from "./ids.ts";
import { projects, tenants } from "./organisation.ts";

const act = { ...asOps, command: "test" };

test("ids are short, lower case, and fit the patterns that everything else checks them with", () => {
  using temporary = temporaryLedger();
  temporary.ledger.change(act, (change) => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(255)), (bytes) => {
        const random: RandomBytes = (length) => Uint8Array.from(bytes.take(length));
        expect(newTenantId(change, random)).toMatch(tenantIdPattern);
      }),
    );
  });
});

test("an id that was given once is never given again, whatever chance says", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const sameAgain = (): RandomBytes => {
    const answers = [
      [1, 2, 3, 4],
      [1, 2, 3, 4],
      [255, 31, 32, 0],
    ];
    return () => Uint8Array.from(answers.shift() ?? []);
  };
  const first = ledger.change(act, (change) => newTenantId(change, sameAgain()));
  const second = ledger.change(act, (change) => newTenantId(change, sameAgain()));
  const never = () => ledger.change(act, (change) => newTenantId(change, () => Uint8Array.of(1, 2, 3, 4)));
  expect([first, second]).toEqual(["t1234", "tzz00"]);
  expect(never).toThrow("No free id was found.");
});

test("an id given in a change that failed is free again", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const give = () => ledger.change(act, (change) => newTenantId(change, () => Uint8Array.of(1, 2, 3, 4)));
  const failing = () =>
    ledger.change(act, (change) => {
      newTenantId(change, () => Uint8Array.of(1, 2, 3, 4));
      throw new Error("no");
    });
  expect(failing).toThrow("no");
  expect(give()).toBe("t1234");
});

test("projects are numbered by tenant, and a number is not given again when its project is gone", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  const tenantIds = ["t0001", "t0002"];
  ledger.change(act, (change) => {
    for (const id of tenantIds) change.insert(tenants, { id, displayName: id, createdAt: noonText });
  });
  const add = (tenantId: string) =>
    ledger.change(act, (change) =>
      change.insert(projects, { id: newProjectId(change, tenantId), tenantId, displayName: "P", createdAt: noonText }),
    );
  const first = ["t0001", "t0001", "t0002"].map((tenantId) => add(tenantId));
  ledger.change(act, (change) => {
    for (const project of first) change.remove(projects, project, project.version);
  });
  for (let number = 3; number < 100; number += 1) ledger.change(act, (change) => newProjectId(change, "t0001"));
  const later = [add("t0001"), add("t0002")].map(({ id }) => id);
  expect([first.map(({ id }) => id), later]).toEqual([
    ["t0001_p01", "t0001_p02", "t0002_p01"],
    ["t0001_p100", "t0002_p02"],
  ]);
  for (const id of later) expect(id).toMatch(projectIdPattern);
});

test("requests and grants have ids of their own kind", () => {
  using temporary = temporaryLedger();
  const ids = temporary.ledger.change(act, (change) => [
    newRequestId(change, countingBytes()),
    newGrantId(change, countingBytes()),
  ]);
  expect(ids).toEqual(["r012345", "g012345"]);
});
