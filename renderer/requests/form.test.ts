import { describe, expect, it, test } from "vitest";
import { fraction, type Resource } from "../../shared/quota/index.ts";
import { formatRoute, parseRoute } from "../app/views.ts";
import { modelOf } from "../quota/model.ts";
import { lead, node, nowMs, smallAnswer } from "../quota/testing/answers.ts";
import {
  askArgument,
  askable,
  differenceOf,
  minuteOf,
  minuteText,
  parseAsk,
  readAmounts,
  resourcesToAsk,
  textsOf,
  untilFault,
} from "./form.ts";

describe("an address that asks", () => {
  it("is read back as it was written, colons and slashes of its parts included", () => {
    const asks = [
      { subject: "t0nxp_p01/1001", resource: "cards", amount: "1/2" },
      { subject: "t0nxp", resource: "cardHours:month:Europe/Berlin", amount: "40" },
    ] as const;
    for (const ask of asks) {
      const { argument } = parseRoute(formatRoute({ view: "requests", argument: askArgument(ask) }));
      expect(parseAsk(argument)).toEqual(ask);
    }
  });

  it("opens an empty form where it makes no sense, and none where it is about something else", () => {
    const read = ["ask", "ask:nobody:cards:2", "ask:t0nxp:chairs:2", "ask:t0nxp:cards:many", "r000001", null];
    expect(read.map(parseAsk)).toEqual(["empty", "empty", "empty", "empty", null, null]);
  });
});

describe("who may be asked for", () => {
  const ids = (me: Parameters<typeof askable>[0]) =>
    askable(me, [...smallAnswer.nodes, node("t0nxp_p01/1002", "person", "t0nxp_p01", "mo")]).map(({ id }) => id);

  it("is oneself and one's projects", () => {
    const member = { ...lead, uid: 1001, role: "member", leads: [], projects: ["t0nxp_p01"] } as const;
    expect(ids(member)).toEqual(["t0nxp_p01", "t0nxp_p01/1001"]);
  });
  it("is all of the tenant for its lead, every tenant and project for an administrator", () => {
    expect(ids(lead)).toEqual(["t0nxp", "t0nxp_p01", "t0nxp_p02"]);
    expect(ids({ ...lead, role: "administrator", leads: [] })).toEqual([
      "t0nxp",
      "t0nxp_p01",
      "t0nxp_p02",
      "t0v1s",
      "t0v1s_p01",
    ]);
  });
});

describe("amounts", () => {
  const resources: readonly Resource[] = ["cards", "cpuCores", "memoryGiB", "cardHours:month:Europe/Berlin"];

  it("are read exactly; what is empty or zero asks for nothing", () => {
    const texts = { cards: " 1 1/2 ", cpuCores: "", memoryGiB: "0", "cardHours:month:Europe/Berlin": "40" };
    const { raise, faults } = readAmounts(texts, resources);
    const cardHours = { hours: fraction(40), period: { kind: "month", timeZone: "Europe/Berlin" } };
    expect(raise).toEqual({ cards: fraction(3, 2), cardHours });
    expect(faults.size).toBe(0);
    expect(textsOf(raise)).toEqual({ cards: "1 1/2", "cardHours:month:Europe/Berlin": "40" });
  });

  it("say each on its own what is wrong", () => {
    const { raise, faults } = readAmounts({ cards: "two", cpuCores: "1.5", memoryGiB: "-1" }, resources);
    expect(raise).toEqual({});
    expect([...faults.keys()]).toEqual(["cards", "cpuCores", "memoryGiB"]);
    expect(faults.get("cards")).toBeNull();
    expect(faults.get("cpuCores")).toMatch(/whole/);
  });

  test("an approval is less, the same, or more", () => {
    const asked = { cards: fraction(2), cpuCores: fraction(8) };
    expect(differenceOf(asked, asked)).toBe("same");
    expect(differenceOf(asked, { cards: fraction(2) })).toBe("less");
    expect(differenceOf(asked, { cards: fraction(1), cpuCores: fraction(8) })).toBe("less");
    expect(differenceOf(asked, { cards: fraction(1), memoryGiB: fraction(1) })).toBe("more");
  });
});

it("offers only what a subject limits itself, and names who limits the rest", () => {
  const { tree } = modelOf(smallAnswer, nowMs);
  expect(resourcesToAsk(tree, "t0nxp_p01")).toEqual({ own: ["cards"], above: [] });
  expect(resourcesToAsk(tree, "t0nxp_p01/1001")).toEqual({
    own: [],
    above: [{ resource: "cards", limit: fraction(8), subject: "t0nxp_p01" }],
  });
});

it("takes an end that is still to come and within a year", () => {
  const year = 366 * 86_400_000;
  expect([0, 1, year, year + 1].map((after) => untilFault(nowMs + after, nowMs))).toEqual([
    "past",
    null,
    null,
    "too-late",
  ]);
});

it("reads a minute of the local clock, and writes it as it reads it", () => {
  const instant = new Date(2026, 4, 31, 18, 5).getTime();
  expect(minuteOf("2026-05-31T18:05")).toBe(instant);
  expect(minuteText(instant + 59_999)).toBe("2026-05-31T18:05");
  const none = ["", "tomorrow", "2026-02-30T10:00", "2026-05-31T24:00", "2026-05-31T10:60", "2026-05-31"];
  expect(none.map(minuteOf)).toEqual(none.map(() => null));
});
