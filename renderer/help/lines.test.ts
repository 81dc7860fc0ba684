import { expect, test } from "vitest";
import type { KeyCommand } from "../app/keys.ts";
import { keyGroups } from "./lines.ts";

const command = (keys: string, title: KeyCommand["title"]): KeyCommand => ({ keys, title, run: () => true });
const help = command("?", "keys.help");
const titles = (view: string, commands: readonly KeyCommand[], mayPartition = true) =>
  keyGroups(view, commands, mayPartition).map(({ title, lines }) => [title, lines.map((line) => line.title)]);

test("quotas show the keys of their table, then those that hold everywhere, and none of the board", () => {
  const editing = [help, command("ctrl+z", "keys.undo"), command("ctrl+enter", "quota.key-apply")];
  expect(titles("quotas", editing)).toEqual([
    [
      "keys.group-view",
      [
        "quota.key-cells",
        "keys.rowPages",
        "quota.key-ends",
        "keys.openClose",
        "quota.key-mark",
        "quota.key-markOne",
        "quota.key-write",
        "quota.key-type",
        "quota.key-take",
        "quota.key-leave",
        "quota.key-clear",
        "keys.undo",
        "quota.key-apply",
      ],
    ],
    ["keys.group-everywhere", ["keys.help"]],
  ]);
});

test("whoever may change no limit is told no keys for it", () => {
  expect(titles("quotas", [help])[0]?.[1]).not.toContain("quota.key-write");
});

test("the board keeps the keys of its draft, with those of what is selected", () => {
  const groups = titles("board", [help, command("t", "lease.key"), command("ctrl+z", "keys.undo")]);
  expect(groups).toEqual([
    ["keys.group-go", ["lease.key"]],
    ["keys.group-change", ["keys.undo", "keys.apply", "keys.menu", "keys.delete"]],
    ["keys.group-held", ["keys.aim", "keys.aimGpu", "keys.drop", "keys.putBack"]],
    ["keys.group-everywhere", ["keys.help"]],
  ]);
});

test("the board of who may not divide GPUs shows no keys for it", () => {
  expect(titles("board", [help, command("t", "lease.key")], false)).toEqual([
    ["keys.group-go", ["lease.key"]],
    ["keys.group-everywhere", ["keys.help"]],
  ]);
});

test("a view without keys of its own shows what holds everywhere", () => {
  expect(titles("settings", [help])).toEqual([["keys.group-everywhere", ["keys.help"]]]);
});
