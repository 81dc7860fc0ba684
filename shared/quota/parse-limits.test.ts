import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import { fraction, sum, toWords } from "./fraction.ts";
import { amountsOf } from "./limits.ts";
import { describeRefusal, parseLimits, parseUsage, readLimits } from "./parse-limits.ts";
import { amount, limits, usage } from "./testing/arbitraries.ts";

/** `cards: negative "-1"` for each refusal, or the amounts. */
function outcome(value: unknown): readonly string[] {
  const parsed = parseLimits(value);
  return parsed.ok
    ? amountsOf(parsed.value).map(([resource, each]) => `${resource} = ${toWords(each)}`)
    : parsed.refusals.map(({ field, fault, found }) => `${field}: ${fault} ${JSON.stringify(found)}`);
}

describe("parseLimits", () => {
  it.each<[unknown, readonly string[]]>([
    [{}, []],
    [{ cards: null, gpuTypes: null, cardHours: undefined }, []],
    [{ cards: 0 }, ["cards = 0"]],
    [{ cards: 0.1 }, ["cards = 1/10"]],
    [{ cards: "1 2/7", cpuCores: "64", memoryGiB: 0.5 }, ["cards = 1 2/7", "cpuCores = 64", "memoryGiB = 1/2"]],
    [{ cards: { numerator: 3, denominator: 7 } }, ["cards = 3/7"]],
    [{ gpuTypes: { "H100-SXM5-80GB/1g.10gb+me": 3, a30: null } }, ["gpuType:H100-SXM5-80GB/1g.10gb+me = 3"]],
    [{ gpuTypes: {} }, []],
    [{ cardHours: { hours: 100, period: { kind: "none" } } }, ["cardHours:none = 100"]],
    [
      { cardHours: { hours: "1/2", period: { kind: "week", timeZone: "europe/berlin" } } },
      ["cardHours:week:Europe/Berlin = 1/2"],
    ],
    [{ cards: 100_000_000 }, ["cards = 100000000"]],
  ])("%j", (value, expected) => {
    expect(outcome(value)).toEqual(expected);
  });

  it.each<[unknown, readonly string[]]>([
    [null, [': not-an-object "null"']],
    ["cards", [': not-an-object "cards"']],
    [[{ cards: 1 }], [': not-an-object "a list"']],
    [{ cards: -1 }, ['cards: negative "-1"']],
    [{ cards: "-1/2" }, ['cards: negative "-1/2"']],
    [{ cards: { numerator: -1, denominator: 2 } }, ['cards: negative "-1/2"']],
    [{ cards: "many" }, ['cards: not-a-number "many"']],
    [{ cards: "" }, ['cards: not-a-number ""']],
    [{ cards: true }, ['cards: not-a-number "true"']],
    [{ cards: Number.NaN }, ['cards: not-a-number "NaN"']],
    [{ cards: 1e-9 }, ['cards: not-a-number "1e-9"']],
    [{ cards: { numerator: 2, denominator: 4 } }, ['cards: not-a-number "an object"']],
    [{ cards: "1/17" }, ['cards: too-fine "1/17"']],
    [{ cards: "0.0001" }, ['cards: too-fine "0.0001"']],
    [{ memoryGiB: "1/3" }, ['memoryGiB: too-fine "1/3"']],
    [{ cpuCores: 1.5, gpuTypes: { a30: "1/2" } }, ['cpuCores: not-whole "1.5"', 'gpuTypes.a30: not-whole "1/2"']],
    [{ cards: 100_000_001 }, ['cards: too-large "100000001"']],
    [{ gpus: 1, Cards: 2 }, ['gpus: unknown-field "1"', 'Cards: unknown-field "2"']],
    [{ gpuTypes: [1] }, ['gpuTypes: not-an-object "a list"']],
    [
      { gpuTypes: { "": 1, "a b": 1, __proto__x: 1, "a:b": 1 } },
      [
        'gpuTypes.: bad-gpu-type ""',
        'gpuTypes.a b: bad-gpu-type "a b"',
        'gpuTypes.__proto__x: bad-gpu-type "__proto__x"',
        'gpuTypes.a:b: bad-gpu-type "a:b"',
      ],
    ],
    [JSON.parse('{"gpuTypes":{"__proto__":1}}'), ['gpuTypes.__proto__: bad-gpu-type "__proto__"']],
    [{ cardHours: 100 }, ['cardHours: not-an-object "100"']],
    [{ cardHours: {} }, ['cardHours.hours: missing ""', 'cardHours.period: missing ""']],
    [{ cardHours: { hours: 1, period: "month" } }, ['cardHours.period: not-an-object "month"']],
    [
      { cardHours: { hours: 1, period: { kind: "year", timeZone: "UTC" } } },
      ['cardHours.period.kind: unknown-period "year"'],
    ],
    [{ cardHours: { hours: 1, period: { kind: "month" } } }, ['cardHours.period.timeZone: missing ""']],
    [
      { cardHours: { hours: -1, period: { kind: "month", timeZone: "Mars" } } },
      ['cardHours.hours: negative "-1"', 'cardHours.period.timeZone: unknown-time-zone "Mars"'],
    ],
    [
      { cardHours: { hours: 1, period: { kind: "none", timeZone: "UTC" } } },
      ['cardHours.period.timeZone: unknown-field "UTC"'],
    ],
    [{ cards: 1, ["x".repeat(1_000)]: "y".repeat(1_000) }, [`${"x".repeat(59)}…: unknown-field "${"y".repeat(59)}…"`]],
  ])("%.80j is refused", (value, expected) => {
    expect(outcome(value)).toEqual(expected);
  });

  it("reads every limits back from its JSON", () => {
    fc.assert(
      fc.property(limits, (each) => {
        expect(parseLimits(JSON.parse(JSON.stringify(each)))).toEqual({ ok: true, value: each });
      }),
    );
  });

  it("answers anything with limits or with refusals, and what it accepted it accepts again unchanged", () => {
    const field = fc.constantFrom("cards", "cpuCores", "memoryGiB", "cardHours", "gpuTypes", "hours", "period", "kind");
    const { value: unknownValue } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        amount,
        fc.constantFrom("month", "UTC", "1/2", -1, null),
        fc.dictionary(field, tie("value")),
      ),
    }));
    fc.assert(
      fc.property(fc.oneof(fc.dictionary(field, unknownValue), fc.anything()), (value) => {
        const parsed = parseLimits(value);
        if (parsed.ok) expect(parseLimits(parsed.value)).toEqual(parsed);
        else expect(parsed.refusals.length).toBeGreaterThan(0);
      }),
    );
  });

  it("accepts nothing that could not be added up over 20,000 people: the finest shares together stay exact", () => {
    const finest = ["1/7", "1/256", "1/27", "1/11", "0.001"].map((cards) => parseLimits({ cards }));
    const amounts = finest.flatMap((parsed) => (parsed.ok ? (parsed.value.cards ?? []) : []));
    expect(amounts).toHaveLength(5);
    const many = Array.from({ length: 20_000 }, (_, index) => amounts[index % 5] ?? fraction(0));
    expect(toWords(sum([fraction(100_000_000), ...many]))).toBe("100001102 13939/16632");
  });
});

describe("parseUsage", () => {
  it("reads every usage back from its JSON", () => {
    fc.assert(
      fc.property(usage, (each) => {
        expect(parseUsage(JSON.parse(JSON.stringify(each)))).toEqual({ ok: true, value: each });
      }),
    );
  });

  it("takes amounts that nobody would set as a limit, but none below zero", () => {
    expect(parseUsage({ cards: "1/17", cpuCores: "1/3", gpuMemoryGiB: "200000000" })).toEqual({
      ok: true,
      value: { cards: fraction(1, 17), cpuCores: fraction(1, 3), gpuMemoryGiB: fraction(200_000_000) },
    });
    expect(parseUsage({ cards: -1, cardHours: { hours: 1, period: { kind: "none" } } })).toEqual({
      ok: false,
      refusals: [
        { field: "cards", fault: "negative", found: "-1" },
        { field: "cardHours", fault: "not-an-object", found: "an object" },
      ],
    });
    expect(parseUsage({ cardHours: [{ hours: 1 }] })).toEqual({
      ok: false,
      refusals: [{ field: "cardHours.0.period", fault: "missing", found: "" }],
    });
  });
});

describe("readLimits", () => {
  it("throws one error that names every field", () => {
    const act = () => readLimits({ cards: -1, gpus: 2 });
    expect(act).toThrow(AppError);
    expect(act).toThrow('The limits were refused. gpus ("2") is no field that is known. cards ("-1") is below zero.');
    expect(readLimits({ cards: 1 })).toEqual({ cards: fraction(1) });
    expect(describeRefusal({ field: "", fault: "not-an-object", found: "" })).toBe(
      "The input has not the shape that is expected.",
    );
  });
});
