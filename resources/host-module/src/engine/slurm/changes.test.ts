import { describe, expect, test } from "vitest";
import type { Limits } from "../../../../../shared/quota/index.ts";
import type { SlurmChange } from "../../slurm/commands.ts";
import { commandsOf, independentRuns, slurmChangesOf } from "./changes.ts";
import { resourcesOf } from "./limit-mapping.ts";

const resources = resourcesOf(["cpu", "mem", "gres/cardshare"], []);

test("removals stand in commands of their own, each with the place of its change", () => {
  const set = (account: string): SlurmChange => ({
    kind: "set-limits",
    target: { kind: "account", account },
    limits: { grpTres: { cpu: 1 } },
  });
  const remove = (account: string): SlurmChange => ({ kind: "delete-account", account });
  const commands = commandsOf([set("a"), set("b"), remove("c"), remove("d"), set("e"), set("f")], "lab");
  expect(commands.map(({ kind, names, changes }) => [kind, names, changes])).toEqual([
    ["set-limits", ["a", "b"], [0, 1]],
    ["delete-account", ["c"], [2]],
    ["delete-account", ["d"], [3]],
    ["set-limits", ["e", "f"], [4, 5]],
  ]);
});

describe("minutes that do not count", () => {
  const half = { cardHours: { hours: { numerator: 1, denominator: 2 }, period: { kind: "none" as const } } };
  const set = (before: Limits, after: Limits, notCounted?: { before: number; after: number }) =>
    slurmChangesOf(
      {
        kind: "set-limits",
        subject: "cluster",
        person: null,
        before,
        limits: after,
        ...(notCounted && { notCounted }),
      },
      resources,
    ).map((change) => (change.kind === "set-limits" ? change.limits : null));
  const minutes = (count: number | null) => [{ grpTresMins: { "gres/cardshare": count } }];

  test.each([
    ["stand on top of a new limit", {}, half, { before: 0, after: 100 }, minutes(1780)],
    ["move the limit that stays", half, half, { before: 100, after: 250 }, minutes(1930)],
    ["that stay are no change", half, half, { before: 100, after: 100 }, []],
    ["go with the limit", half, {}, { before: 100, after: 0 }, minutes(null)],
    ["make no limit by themselves", {}, {}, { before: 0, after: 100 }, []],
    ["are none where nothing is said", {}, half, undefined, minutes(1680)],
  ])("%s", (_, before, after, notCounted, changes) => {
    expect(set(before, after, notCounted)).toEqual(changes);
  });
});

test("a person's limits need the name that Slurm knows the person by", () => {
  const limits = { subject: "taaaa_p01/7", before: {}, limits: { cpuCores: { numerator: 1, denominator: 1 } } };
  for (const person of [null, { uid: 8, user: "bob" }]) {
    expect(() => slurmChangesOf({ kind: "set-limits", person, ...limits }, resources)).toThrow(
      expect.objectContaining({ code: "bad-request" }),
    );
  }
});

test("limits of different subjects may be set in any order, those of one and all else may not", () => {
  const set = (account: string, cpu: number): SlurmChange => ({
    kind: "set-limits",
    target: { kind: "account", account },
    limits: { grpTres: { cpu } },
  });
  const changes: readonly SlurmChange[] = [
    ...[set("a", 1), set("b", 2), set("c", 2), set("a", 3), set("d", 4)],
    ...[{ kind: "add-account", account: "e", parent: "root", organization: "e" } as const, set("e", 5), set("f", 6)],
  ];
  const runs = independentRuns(changes, commandsOf(changes, "lab"));
  expect(runs.map((run) => run.map(({ names }) => names.join(",")))).toEqual([
    ["a", "b,c"],
    ["a", "d"],
    ["e"],
    ["e", "f"],
  ]);
});
