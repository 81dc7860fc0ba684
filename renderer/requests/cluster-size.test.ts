import { expect, test } from "vitest";
import { syntheticCluster } from "../../e2e/support/synthetic-cluster.ts";
import { fraction } from "../../shared/quota/index.ts";
import { modelOf } from "../quota/model.ts";
import { nowMs, smallAnswer } from "../quota/testing/answers.ts";
import { beyondCluster, clusterSize } from "./cluster-size.ts";

test("a raise beyond all that the cluster has is named, and only where every host has told", () => {
  const { hosts } = syntheticCluster({ hosts: 2 });
  const { tree } = modelOf(smallAnswer, nowMs);
  const size = clusterSize(hosts);
  expect(size.get("cards")).toEqual(fraction(16));
  // The project has 8 of its own.
  expect(beyondCluster(size, tree, "t0nxp_p01", { cards: fraction(8) })).toEqual([]);
  expect(beyondCluster(size, tree, "t0nxp_p01", { cards: fraction(9) })).toEqual([
    { resource: "cards", limit: fraction(17), has: fraction(16) },
  ]);
  const [first] = hosts;
  if (first === undefined) throw new Error("no host");
  const partly = clusterSize([...hosts, { ...first, id: "silent", inventory: null }]);
  expect(beyondCluster(partly, tree, "t0nxp_p01", { cards: fraction(900) })).toEqual([]);
});
