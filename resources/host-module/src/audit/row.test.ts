import { expect, test } from "vitest";
import { ada, ops } from "../testing/ledger.ts";
import { actorOf } from "./row.ts";

test("whoever calls is named with the login they came by, where there is one", () => {
  const { uid, user, ...login } = ops;
  expect([actorOf({ caller: { uid, user }, login }), actorOf({ caller: { uid: ada.uid, user: ada.user } })]).toEqual([
    ops,
    ada,
  ]);
});
