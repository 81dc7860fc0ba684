import fc from "fast-check";
import { expect, test } from "vitest";
import { readGres } from "./gres.ts";
import { Reading } from "./reading.ts";
import {
  addTres,
  amountOf,
  gresTotal,
  nameTres,
  readRequest,
  readTres,
  readTresLimits,
  staticTresIds,
  type TresCounts,
  writeTres,
} from "./tres.ts";

test("counts, memory in MiB whatever the unit, typed before or after the whole", () => {
  const reading = new Reading("x");
  expect(readTres("cpu=4,mem=1000M,node=1,billing=1,gres/gpu:a100_1g.5gb=1,gres/gpu=1", "f", reading)).toEqual({
    cpu: 4,
    mem: 1000,
    node: 1,
    billing: 1,
    "gres/gpu:a100_1g.5gb": 1,
    "gres/gpu": 1,
  });
  const memories = ["8192", "8G", "6.50G", "2T", "512K", "0"].map((raw) => readTres(`mem=${raw}`, "f", reading));
  expect(memories).toEqual([
    { mem: 8192 },
    { mem: 8192 },
    { mem: 6656 },
    { mem: 2 * 1024 ** 2 },
    { mem: 0.5 },
    { mem: 0 },
  ]);
  expect([amountOf("gres/vram", "2K"), amountOf("billing", "1M")]).toEqual([2048, 1024 ** 2]);
  expect(reading.unread).toEqual([]);
});

test("no limit is no entry; nothing is nothing", () => {
  const reading = new Reading("x");
  expect(readTres("cpu=N,mem=,gres/gpu=-1,node=2", "f", reading)).toEqual({ node: 2 });
  expect(["", "(null)", "N/A", null, undefined].map((raw) => readTres(raw, "f", reading))).toEqual([
    {},
    {},
    {},
    {},
    {},
  ]);
  expect(reading.unread).toEqual([]);
});

test("limit and use of the association manager", () => {
  const reading = new Reading("x");
  expect(readTresLimits("cpu=128(8),mem=N(16384),gres/gpu=4(2),bad,cpu=4", "f", reading)).toEqual([
    { tres: "cpu", limit: 128, used: 8 },
    { tres: "mem", limit: null, used: 16384 },
    { tres: "gres/gpu", limit: 4, used: 2 },
  ]);
  expect(reading.unread.map(({ raw }) => raw)).toEqual(["bad", "4"]);
});

test("GPUs are counted once: the whole where it is given, else the types", () => {
  const totals = [
    { "gres/gpu:a100_1g.5gb": 2, "gres/gpu:a100": 1, "gres/gpu": 4 },
    { "gres/gpu": 8 },
    { "gres/gpu:h100": 3 },
    { cpu: 4 },
  ].map((counts) => gresTotal(counts));
  expect(totals).toEqual([
    { total: 4, byType: { "a100_1g.5gb": 2, a100: 1 }, untyped: 1 },
    { total: 8, byType: {}, untyped: 8 },
    { total: 3, byType: { h100: 3 }, untyped: 0 },
    { total: 0, byType: {}, untyped: 0 },
  ]);
});

test("what a job asks for, in the words of every release", () => {
  const reading = new Reading("x");
  const asked = [
    "gres:gpu:a100_1g.5gb:1",
    "gres/gpu:a100:8",
    "gres/gpu:2",
    "gres/gpu=2",
    "cpu=4",
    "cpu:4,gres/gpu",
    "N/A",
    "(null)",
  ];
  expect(asked.map((raw) => readRequest(raw, "f", reading))).toEqual([
    { "gres/gpu:a100_1g.5gb": 1 },
    { "gres/gpu:a100": 8 },
    { "gres/gpu": 2 },
    { "gres/gpu": 2 },
    { cpu: 4 },
    { cpu: 4, "gres/gpu": 1 },
    {},
    {},
  ]);
  expect(reading.unread).toEqual([]);
});

test("written in Slurm's order, in whole numbers, or not at all", () => {
  expect(writeTres({ mem: 1_024_000, "gres/gpu": 4, "gres/gpu:a100_1g.5gb": 3, cpu: 128 })).toBe(
    "cpu=128,gres/gpu:a100_1g.5gb=3,gres/gpu=4,mem=1024000M",
  );
  const refused = [{ cpu: 1.5 }, { cpu: -1 }, { cpu: Number.NaN }, { "gres/gpu=1,cpu": 1 }, { "": 1 }, { "a b": 1 }];
  expect(refused.map((counts) => writeTres(counts))).toEqual([null, null, null, null, null, null]);
});

const counts: fc.Arbitrary<TresCounts> = fc.dictionary(
  fc.constantFrom(
    "cpu",
    "mem",
    "node",
    "billing",
    "gres/gpu",
    "gres/gpu:a100",
    "gres/gpu:a100_1g.5gb",
    "license/x",
    "__proto__",
  ),
  fc.nat(2 ** 40),
);

test("what is written is read again", () => {
  const isPlain = (value: TresCounts) => !Object.hasOwn(value, "__proto__");
  fc.assert(
    fc.property(counts.filter(isPlain), (value) => {
      const reading = new Reading("x");
      expect(readTres(writeTres(value), "f", reading)).toEqual(value);
      expect(reading.unread).toEqual([]);
    }),
  );
});

test("sums go resource by resource, in any order", () => {
  fc.assert(
    fc.property(counts, counts, (a, b) => {
      expect(addTres(a, b)).toEqual(addTres(b, a));
      expect(gresTotal(addTres(a, a)).total).toBe(2 * gresTotal(a).total);
      expect(addTres(a, {})).toEqual(addTres(a));
    }),
  );
});

test("numbers of the database by name; one that is not known stays a number", () => {
  const ids = new Map([...staticTresIds, [1001, "gres/gpu"] as const]);
  expect(nameTres({ 1: 128, 1001: 8, 1099: 1 }, ids)).toEqual({ cpu: 128, "gres/gpu": 8, 1099: 1 });
});

test("generic resources of nodes and jobs, configured and used, with the places in gres.conf", () => {
  const reading = new Reading("x");
  const gres = (raw: string) => readGres(raw, "f", reading);
  expect(gres("gpu:a100:4(S:0-1),gpu:a100_3g.20gb:8,nvme:3500,gpu:2,lustre:no_consume:1")).toEqual([
    { name: "gpu", type: "a100", count: 4, index: null },
    { name: "gpu", type: "a100_3g.20gb", count: 8, index: null },
    { name: "nvme", type: null, count: 3500, index: null },
    { name: "gpu", type: null, count: 2, index: null },
    { name: "lustre", type: null, count: 1, index: null },
  ]);
  expect(gres("gpu:a100:3(IDX:0-1,5),gpu:b:0(IDX:N/A),shard:a100:8(-/5,5/5,3/5,0/5),vram:2K")).toEqual([
    { name: "gpu", type: "a100", count: 3, index: [0, 1, 5] },
    { name: "gpu", type: "b", count: 0, index: [] },
    { name: "shard", type: "a100", count: 8, index: null },
    { name: "vram", type: null, count: 2048, index: null },
  ]);
  expect([gres("(null)"), gres("N/A"), gres("")]).toEqual([[], [], []]);
  expect(reading.unread).toEqual([]);
  expect(gres("gpu:a100:1(IDX:0),=;,9x")).toHaveLength(1);
  expect(reading.unread.map(({ raw }) => raw)).toEqual(["=;", "9x"]);
});

test("no text makes them throw", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const reading = new Reading("x");
      readTres(text, "f", reading);
      readTresLimits(text, "f", reading);
      readRequest(text, "f", reading);
      readGres(text, "f", reading);
    }),
  );
});
