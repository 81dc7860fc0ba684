import { expect, test } from "vitest";
import type { Organisation } from "../../shared/protocol/control.ts";
import { findAcross, isTooLong, peopleOf, versionOf } from "./model.ts";

const li = { uid: 12001, user: "li.wei", version: 3 };
const chen = { uid: 12002, user: "chen.yu", version: 4 };
const createdAt = "2026-06-01T08:00:00.000Z";
const tenant = {
  id: "t3f2k",
  displayName: "nlp",
  createdAt,
  version: 1,
  leads: [li],
  projects: [
    { id: "t3f2k_p01", displayName: "chat", createdAt, version: 2, members: [li, chen] },
    { id: "t3f2k_p02", displayName: "eval", createdAt, version: 5, members: [chen] },
  ],
};
const organisation: Organisation = { revision: 7, tenants: [tenant], administrators: [] };

test("a person in several projects of a tenant counts once", () => {
  expect(peopleOf(tenant)).toBe(2);
});

test("people and projects are found across tenants, by user, uid or name", () => {
  const at = { tenantId: "t3f2k", tenant: "nlp" };
  expect(findAcross(organisation, " ")).toEqual([]);
  expect(findAcross(organisation, "CHAT")).toEqual([{ ...at, project: "chat", person: null }]);
  expect(findAcross(organisation, "12001")).toEqual([
    { ...at, project: null, person: li },
    { ...at, project: "chat", person: li },
  ]);
  expect(findAcross(organisation, "chen").map(({ project }) => project)).toEqual(["chat", "eval"]);
});

test("versions are those of what the subject names; of what is gone there is none", () => {
  expect(
    ["t3f2k", "t3f2k_p02", "t3f2k_p01/12002", "t3f2k_p02/12001", "t3f2m"].map((id) => versionOf(organisation, id)),
  ).toEqual([1, 5, 4, null, null]);
});

test("a name is counted in characters, as it is kept", () => {
  expect(["名".repeat(100), `  ${"e\u0301".repeat(100)} `, "🙂".repeat(100)].map(isTooLong)).toEqual([
    false,
    false,
    false,
  ]);
  expect(isTooLong("n".repeat(101))).toBe(true);
});
