import { describe, expect, test } from "vitest";
import { hostContract } from "../../shared/protocol/contract.ts";
import { english } from "../i18n/en/index.ts";
import { textIn } from "../i18n/index.ts";
import { chinese } from "../i18n/zh-CN/index.ts";
import { commandChoices, commandInWords, kindInWords, roleInWords } from "./words.ts";

const t = textIn("en");

describe("commands", () => {
  test.each([
    ["English", english],
    ["Chinese", chinese],
  ] as const)("of the contract and of the timer have words in %s", (_, catalog) => {
    const named = Object.keys(catalog).filter((key) => key.startsWith("audit.command-"));
    const wanted = [...Object.keys(hostContract), "grant.settle", "quota.reset"].map((name) => `audit.command-${name}`);
    expect(named.sort()).toEqual(wanted.sort());
  });

  test("are said in words, and stay as they are where none are known", () => {
    expect(commandInWords(t, "quota.set")).toBe("Set limits");
    expect(commandInWords(textIn("zh-CN"), "watch.complete")).toBe("读取链路与 Xid 事件");
    expect(commandInWords(t, "constructor")).toBe("constructor");
  });

  test("that only read are not offered to look for", () => {
    const offered = commandChoices(t).map(([command]) => command);
    expect(offered).toContain("tenant.create");
    expect(offered).not.toContain("quota.get");
  });
});

test("roles and kinds of objects are words, and unknown ones stay", () => {
  expect(roleInWords(t, "host")).toBe("host's timer");
  expect(roleInWords(t, "king")).toBe("king");
  expect(kindInWords(t, "reset")).toBe("card-hours of");
  expect(kindInWords(t, "toString")).toBe("toString");
});
