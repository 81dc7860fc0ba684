import { expect, test } from "vitest";
import { fraction } from "../../shared/quota/index.ts";
import type { QuotaDraft } from "./draft.ts";
import { draftKeeper, draftOf, draftText } from "./kept-draft.ts";

const draft: QuotaDraft = new Map([
  ["t0nxp", { limits: { cards: fraction(3, 7), gpuTypes: { h100: fraction(2) } }, basedOn: 4 }],
  [
    "t0nxp_p01",
    {
      limits: { cardHours: { hours: fraction(10), period: { kind: "month", timeZone: "Europe/Berlin" } } },
      basedOn: 0,
    },
  ],
]);

function memory(full = false): Storage {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    removeItem: (key: string) => items.delete(key),
    setItem: (key: string, text: string) => {
      if (full) throw new DOMException("full", "QuotaExceededError");
      items.set(key, text);
    },
  } as unknown as Storage;
}

test("a draft is read back as it was, with the versions it was based on", () => {
  expect(draftOf(draftText(draft))).toEqual(draft);
});

test("an empty draft leaves nothing, and what cannot be read is no draft", () => {
  expect(draftText(new Map())).toBeNull();
  expect([null, "{", "{}", '[["t0nxp"]]', '[["t0nxp",{"cards":-1},1]]'].map((text) => draftOf(text).size)).toEqual([
    0, 0, 0, 0, 0,
  ]);
});

test("each user of a cluster has their own, and a full storage says so", () => {
  const storage = memory();
  expect(draftKeeper(() => storage, "c1", 1001).write(draft)).toBe(true);
  expect(draftKeeper(() => storage, "c1", 1001).read()).toEqual(draft);
  expect(draftKeeper(() => storage, "c1", 1002).read().size).toBe(0);
  expect(draftKeeper(() => storage, "c2", 1001).read().size).toBe(0);
  expect(draftKeeper(() => memory(true), "c1", 1001).write(draft)).toBe(false);
});
