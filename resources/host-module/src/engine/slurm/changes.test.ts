import { expect, test } from "vitest";
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

test("usage begins anew on the subject's row and on each below it; the cluster is Slurm's root", () => {
  const person = { uid: 7, user: "ada" };
  const below = [{ subject: "taaaa_p01/7", person }];
  expect(slurmChangesOf({ kind: "reset-usage", subject: "cluster", person: null, below }, resources)).toEqual([
    { kind: "reset-usage", target: { kind: "account", account: "root" } },
    { kind: "reset-usage", target: { kind: "member", account: "taaaa_p01", user: "ada" } },
  ]);
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
