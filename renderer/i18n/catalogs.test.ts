import i18next from "i18next";
import { describe, expect, test } from "vitest";
import { english } from "./en/index.ts";
import { type MessageKey, resolveLanguage, textIn } from "./index.ts";
import { chinese } from "./zh-CN/index.ts";

function base(key: string): string {
  return key.replace(/_(one|other)$/, "");
}

/** `{{name}}` of a message, sorted. */
function placeholders(message: string): string[] {
  return [...message.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1] ?? "").sort();
}

const files = import.meta.glob<string>(["../**/*.ts", "../**/*.tsx", "!../**/*.test.*", "!./en/**", "!./zh-CN/**"], {
  query: "?raw",
  import: "default",
  eager: true,
});

const literals = new Set<string>();
const prefixes = new Set<string>();
for (const source of Object.values(files)) {
  for (const match of source.matchAll(/["'`]([a-z][A-Za-z]*(?:\.[A-Za-z0-9-]+)+)["'`]/g)) literals.add(match[1] ?? "");
  for (const match of source.matchAll(/`([a-z][A-Za-z]*\.[A-Za-z0-9-]*)\$\{/g)) prefixes.add(match[1] ?? "");
}

describe("catalogs", () => {
  test("hold the same sentences in both languages", () => {
    const inEnglish = [...new Set(Object.keys(english).map(base))].sort();
    const inChinese = [...new Set(Object.keys(chinese).map(base))].sort();
    expect(inChinese).toEqual(inEnglish);
  });

  test("take the same values in both languages", () => {
    const byBase = new Map(Object.entries(chinese).map(([key, message]) => [base(key), placeholders(message)]));
    const differing = Object.entries(english).filter(([key, message]) => {
      // A singular may spell its number out, or leave it away.
      if (key.endsWith("_one")) return false;
      return byBase.get(base(key))?.join() !== placeholders(message).join();
    });
    expect(differing).toEqual([]);
  });

  test("hold no sentence that the source does not use", () => {
    const unused = [...new Set(Object.keys(english).map(base))].filter(
      (key) => !literals.has(key) && ![...prefixes].some((prefix) => key.startsWith(prefix)),
    );
    expect(unused).toEqual([]);
  });

  test("leave nothing in English", () => {
    const names = /^[\x20-\x7e]*$/;
    const untranslated = Object.entries(chinese).filter(
      ([, message]) => names.test(message) && /[a-z]{4,} [a-z]{3,}/.test(message),
    );
    expect(untranslated).toEqual([]);
  });
});

describe("language", () => {
  test("is the operator's choice, else the first of the system's that is spoken here", () => {
    expect(resolveLanguage("zh-CN", ["en-US"])).toBe("zh-CN");
    expect(resolveLanguage("system", ["de-DE", "zh-Hans-CN", "en"])).toBe("zh-CN");
    expect(resolveLanguage("system", ["de-DE"])).toBe("en");
  });

  test("leaves text that a sentence takes as it is, whatever it looks like", () => {
    const hostile = "<img src=x onerror=alert(1)> $t(app.requests) {{time}} __proto__";
    expect(textIn("en")("requests.endsAt", { time: hostile })).toBe(`to ${hostile}`);
  });

  test.each(["en", "zh-CN"] as const)("says every sentence as i18next does, in %s", (language) => {
    const catalog = language === "en" ? english : chinese;
    const own = i18next.createInstance();
    void own.init({
      ...{ lng: language, initAsync: false, keySeparator: false, nsSeparator: false },
      interpolation: { escapeValue: false },
      resources: { [language]: { translation: catalog } },
    });
    const names = new Set(Object.values(catalog).flatMap(placeholders));
    const named = Object.fromEntries([...names].map((name) => [name, `‹${name}›`]));
    const keys = [...new Set(Object.keys(catalog).map(base))] as MessageKey[];
    const said = textIn(language);
    for (const count of [0, 1, 2, 21]) {
      const values = { ...named, count };
      expect(keys.map((key) => said(key, values))).toEqual(keys.map((key) => own.t(key, values)));
    }
    const alone = keys.filter((key) => Object.hasOwn(catalog, key));
    expect(alone.map((key) => said(key))).toEqual(alone.map((key) => own.t(key, {})));
  });

  test("counts in the language's own plural forms", () => {
    expect(textIn("en")("common.hosts", { count: 1 })).toBe("1 host");
    expect(textIn("en")("common.hosts", { count: 24 })).toBe("24 hosts");
    expect(textIn("zh-CN")("common.hosts", { count: 1 })).toBe("1 台主机");
  });
});
