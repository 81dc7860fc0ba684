import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readLayout } from "./read-layout.ts";

const instance = { id: 3, profile: "3g.20gb", start: 4 };
const gpu = { index: 0, model: "NVIDIA A100-SXM4-40GB", mig: true, instances: [instance] };
const layoutWith = (changes: object) => ({
  schema: "tessera.layout/1",
  hosts: [{ name: "gpu01", rack: "r1", gpus: [{ ...gpu, ...changes }] }],
});

const refusalOf = (value: unknown): unknown => {
  try {
    return readLayout(value);
  } catch (error) {
    return error;
  }
};

test("what a file leaves out has a default, and nothing moves that was not said to be movable", () => {
  const layout = readLayout(layoutWith({ instances: [{ ...instance, allocation: { tenant: "nlp" } }] }));
  expect(layout.hosts[0]).toMatchObject({
    pool: null,
    gpus: [{ uuid: null, allocation: null, instances: [{ allocation: { tenant: "nlp", movable: false, cost: 1 } }] }],
  });
});

test("instances come ascending by start, under the names of the table", () => {
  const instances = [instance, { id: 1, profile: "MIG 2g.10gb", start: 0, allocation: null }];
  const [host] = readLayout(layoutWith({ instances })).hosts;
  expect(host?.gpus[0]?.instances.map(({ id, profile }) => [id, profile])).toEqual([
    [1, "2g.10gb"],
    [3, "3g.20gb"],
  ]);
});

test("a GPU that MIG does not divide may be of any model", () => {
  const [host] = readLayout(layoutWith({ model: "NVIDIA L40S", mig: false, instances: [] })).hosts;
  expect(host?.gpus[0]).toMatchObject({ model: "NVIDIA L40S", instances: [] });
});

describe("refused, with where it stands and what to do", () => {
  test.each([
    ["an unknown profile", { instances: [{ ...instance, profile: "9g.20gb" }] }, "instance 3"],
    ["a start that the profile has not", { instances: [{ ...instance, start: 3 }] }, "memory slice 3"],
    ["an overlap", { instances: [instance, { id: 4, profile: "1g.5gb", start: 5 }] }, "overlaps"],
    ["an id twice", { instances: [instance, { id: 3, profile: "1g.5gb", start: 0 }] }, "two instances"],
    ["a model that is not known", { model: "NVIDIA Z1" }, "NVIDIA Z1"],
    ["instances while MIG is off", { mig: false }, "MIG is off"],
    ["a holder of the whole while MIG is on", { allocation: { tenant: "nlp" } }, "whole GPU"],
  ])("%s", (_, changes, words) => {
    expect(refusalOf(layoutWith(changes))).toMatchObject({
      code: "illegal-layout",
      message: expect.stringMatching(new RegExp(`host gpu01, GPU 0.*${words}`)),
      remedy: expect.stringMatching(/\w/),
    });
  });

  test.each([
    ["another schema", { schema: "tessera.layout/2", hosts: [] }, "schema"],
    ["no hosts", { schema: "tessera.layout/1" }, "hosts"],
    ["a mode in words", layoutWith({ mig: "on" }), "hosts[0].gpus[0].mig"],
    [
      "a cost of nothing",
      layoutWith({ instances: [{ ...instance, allocation: { cost: 0 } }] }),
      "hosts[0].gpus[0].instances[0].allocation.cost",
    ],
    ["no object", null, "the whole"],
  ])("%s", (_, value, where) => {
    expect(refusalOf(value)).toMatchObject({ code: "bad-request", message: expect.stringContaining(where) });
  });

  test("a host or an index that stands twice", () => {
    const host = { name: "gpu01", gpus: [gpu] };
    const twice = { schema: "tessera.layout/1", hosts: [host, host] };
    const index = { schema: "tessera.layout/1", hosts: [{ name: "gpu01", gpus: [gpu, gpu] }] };
    expect(refusalOf(twice)).toMatchObject({ code: "illegal-layout", message: expect.stringContaining("twice") });
    expect(refusalOf(index)).toMatchObject({ code: "illegal-layout", message: expect.stringContaining("index 0") });
  });
});

test("the example of the documentation is one", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/defrag.md"), "utf8");
  const [, example = ""] = /```json\n(.*?)```/s.exec(page) ?? [];
  const [host] = readLayout(JSON.parse(example)).hosts;
  expect(host?.gpus.map(({ instances }) => instances.map(({ profile }) => profile))).toEqual([
    ["1g.5gb", "3g.20gb"],
    [],
  ]);
});
