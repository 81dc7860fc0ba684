import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJson, readJson } from "./json.ts";
import { Reading } from "./reading.ts";
import { hasSamples, jsonReleases, sample, samplesLike } from "./testing/samples.ts";
import { capabilities, compareRelease, readVersion, versionMismatch } from "./version.ts";

test("versions as tools print them", () => {
  const read = (text: string) => readVersion(text).facts;
  expect(
    ["slurm-wlm 22.05.8\n", "slurm 26.05.3", "24.05.0-0rc1", "slurm 25.11.0~pre1", "slurm 24.11"].map(read),
  ).toEqual([
    { release: "22.05.8", year: 22, month: 5, micro: 8 },
    { release: "26.05.3", year: 26, month: 5, micro: 3 },
    { release: "24.05.0-0rc1", year: 24, month: 5, micro: 0 },
    { release: "25.11.0~pre1", year: 25, month: 11, micro: 0 },
    { release: "24.11", year: 24, month: 11, micro: null },
  ]);
  expect(readVersion("sinfo: error: no", { source: "sinfo --version" })).toEqual({
    facts: null,
    unread: [{ source: "sinfo --version", field: "version", reason: "no version of Slurm", raw: "sinfo: error: no" }],
  });
});

test("what each release can do", () => {
  const can = (text: string) => {
    const { json, grpTresBillingEnforced, gresByReconfigure, note } = capabilities(readVersion(text).facts);
    return [
      json.squeue,
      json["scontrol show node"],
      json["sacctmgr show assoc"],
      json["scontrol show config"],
      grpTresBillingEnforced,
      gresByReconfigure,
      note === "",
    ];
  };
  expect(
    ["20.11.8", "22.05.8", "23.02.7", "23.11.11", "24.05.8", "24.11.7", "26.05.3", "27.11.0", "?"].map(can),
  ).toEqual([
    [false, false, false, false, false, false, false],
    [true, false, false, false, false, false, true],
    [true, true, true, false, false, false, false],
    [true, true, true, false, false, true, true],
    [true, true, true, false, false, true, true],
    [true, true, true, false, true, true, true],
    [true, true, true, true, true, true, true],
    [true, true, true, true, true, true, false],
    [false, false, false, false, false, false, false],
  ]);
});

test("releases are in the order of time", () => {
  const version = fc.record({
    release: fc.constant(""),
    year: fc.integer({ min: 15, max: 40 }),
    month: fc.constantFrom(2, 5, 8, 11),
    micro: fc.constant(null),
  });
  fc.assert(
    fc.property(version, version, (a, b) => {
      const months = (of: typeof a) => of.year * 12 + of.month;
      expect(Math.sign(compareRelease(a, [b.year, b.month]))).toBe(Math.sign(months(a) - months(b)));
    }),
  );
});

test("parts of different releases are told by name", () => {
  const of = (text: string) => readVersion(text).facts;
  expect(versionMismatch({ sinfo: of("22.05.8"), slurmctld: of("22.05.9"), sacctmgr: null })).toBeNull();
  expect(versionMismatch({ sinfo: of("22.05.8"), slurmctld: of("24.11.7") })).toBe(
    "Slurm's parts are of different releases: sinfo 22.05.8, slurmctld 24.11.7.",
  );
});

describe("JSON is what says its parser", () => {
  const read = (text: string) => readJson(text, new Reading("x"));
  test("in the words of 22.05, 23.02 and later", () => {
    const texts = [
      '{"meta": {"plugin": {"type": "openapi/v0.0.38"}, "Slurm": {"release": "22.05.8"}}}',
      '{"meta": {"plugins": {"data_parser": "v0.0.39"}, "Slurm": {"release": "23.02.7"}}}',
      '{"meta": {"plugin": {"type": "", "data_parser": "data_parser/v0.0.45+complex"}, "slurm": {"release": "26.05.3", "cluster": "c"}}}',
    ];
    expect(
      texts.map((text) => [read(text)?.parserNumber, read(text)?.release, read(text)?.cluster, isJson(text)]),
    ).toEqual([
      [38, "22.05.8", null, true],
      [39, "23.02.7", null, true],
      [45, "26.05.3", "c", true],
    ]);
  });
  test("a bare Infinity, as 23.11 and 24.05 print it, is null; a name that says so stays", () => {
    const text =
      '{"meta": {"plugin": {"data_parser": "x"}}, "level": -Infinity, "all": [NaN, 1], "name": "\\" : Infinity,"}';
    expect(read(text)?.root).toMatchObject({ level: null, all: [null, 1], name: '" : Infinity,' });
  });
  test("text, damaged JSON, and JSON of somebody else are none", () => {
    expect(
      ["Time|Action", "{", "[]", "{}", '{"meta": 1}', "", "null"].map((text) => [read(text), isJson(text)]),
    ).toEqual(Array.from({ length: 7 }, () => [null, false]));
  });
  test("nothing makes it throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        read(text);
        read(`{"meta":${text},"errors":${text}}`);
      }),
    );
  });
});

describe.skipIf(!hasSamples)("real output", () => {
  test("every JSON of the lab says its parser, and every text is none", () => {
    const jsons = samplesLike(/^lab\/.*\.json$/).filter((name) => !isJson(sample(name)));
    const texts = samplesLike(/^lab\/.*\/text\/.*\.txt$/).filter((name) => isJson(sample(name)));
    expect([jsons, texts]).toEqual([[], []]);
  });
  test("the parser of each release", () => {
    const parsers = jsonReleases.map(
      (release) => readJson(sample(`lab/${release}/json/squeue.json`), new Reading("x"))?.parserNumber,
    );
    expect(parsers).toEqual([40, 41, 42, 43, 44, 45]);
  });
});
