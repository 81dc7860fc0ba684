import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readNodes, readNodesJson } from "./nodes.ts";
import { hasSamples, labReleases, sample, samplesLike, sampleText } from "./testing/samples.ts";

const node = (rest: string) =>
  `NodeName=g1 Arch=x86_64 CoresPerSocket=32  CPUAlloc=8 CPUEfctv=64 CPUTot=64 CPULoad=0.64 ${rest} NodeHostName=h1 Version=26.05.3 OS=Linux 6.1 #1 SMP @0  RealMemory=512000 AllocMem=16384 Partitions=gpu,all  BootTime=2026-12-02T07:04:37`;

test("what a node has and what is in use, by type, with the places held", () => {
  const text = node(
    "Gres=gpu:a100:4,gpu:a100_1g.5gb:7,vram:235 GresUsed=gpu:a100:1(IDX:0),gpu:a100_1g.5gb:2(IDX:4-5),vram:0 State=MIXED+DRAIN CfgTRES=cpu=64,mem=500G,gres/gpu=11,gres/gpu:a100=4 AllocTRES=cpu=8,mem=16G,gres/gpu=3,gres/gpu:a100=1 Reason=ECC error [root@2026-07-22T23:31:17]",
  );
  expect(readNodes(text)).toEqual({
    facts: [
      {
        name: "g1",
        hostName: "h1",
        state: "MIXED",
        flags: ["DRAIN"],
        reason: "ECC error [root@2026-07-22T23:31:17]",
        partitions: ["gpu", "all"],
        version: "26.05.3",
        cpus: 64,
        cpusAllocated: 8,
        memoryMiB: 512_000,
        memoryAllocatedMiB: 16_384,
        gres: [
          { name: "gpu", type: "a100", count: 4, index: null },
          { name: "gpu", type: "a100_1g.5gb", count: 7, index: null },
          { name: "vram", type: null, count: 235, index: null },
        ],
        gresUsed: [
          { name: "gpu", type: "a100", count: 1, index: [0] },
          { name: "gpu", type: "a100_1g.5gb", count: 2, index: [4, 5] },
          { name: "vram", type: null, count: 0, index: null },
        ],
        configuredTres: { cpu: 64, mem: 512_000, "gres/gpu": 11, "gres/gpu:a100": 4 },
        allocatedTres: { cpu: 8, mem: 16_384, "gres/gpu": 3, "gres/gpu:a100": 1 },
        gpus: { configured: 11, used: 3 },
        gpusByType: { a100: { configured: 4, used: 1 }, "a100_1g.5gb": { configured: 7, used: 2 } },
        bootedAt: Date.UTC(2026, 11, 2, 7, 4, 37) / 1000,
      },
    ],
    unread: [],
  });
});

const gpusOf = (rest: string) => {
  const { facts, unread } = readNodes(node(rest));
  return [facts[0]?.gpus, facts[0]?.gpusByType, unread.length];
};

test("places of type pad are no capacity and no use", () => {
  const gres =
    "Gres=gpu:a100:4,gpu:pad:24,gpu:a100_1g.5gb:7 GresUsed=gpu:a100:4(IDX:0-3),gpu:pad:24(IDX:4-27),gpu:a100_1g.5gb:7(IDX:28-34)";
  const byType = { a100: { configured: 4, used: 4 }, "a100_1g.5gb": { configured: 7, used: 7 } };
  expect(gpusOf(`${gres} CfgTRES=cpu=64,gres/gpu=35 AllocTRES=cpu=64,gres/gpu=35`)).toEqual([
    { configured: 11, used: 11 },
    byType,
    0,
  ]);
  expect(gpusOf(`${gres} CfgTRES=cpu=64 AllocTRES=cpu=64`)).toEqual([{ configured: 11, used: 11 }, byType, 0]);
});

test("GPUs that Slurm does not track are counted by Gres and GresUsed; without those the use is not known", () => {
  const used = "GresUsed=gpu:h100:3(IDX:0-2)";
  expect(gpusOf(`Gres=gpu:h100:4 ${used} CfgTRES=cpu=32,mem=512G,billing=32 AllocTRES=cpu=8`)).toEqual([
    { configured: 4, used: 3 },
    { h100: { configured: 4, used: 3 } },
    0,
  ]);
  expect(gpusOf("Gres=gpu:h100:4 CfgTRES=cpu=32,billing=32 AllocTRES=")).toEqual([
    { configured: 4, used: null },
    { h100: { configured: 4, used: null } },
    0,
  ]);
  expect(gpusOf("Gres=gpu:h100:4 CfgTRES=cpu=32,gres/gpu=4 AllocTRES=gres/gpu=2")).toEqual([
    { configured: 4, used: 2 },
    { h100: { configured: 4, used: null } },
    0,
  ]);
  expect(gpusOf(`Gres=gpu:h100:4 ${used} CfgTRES=gres/gpu=4 AllocTRES=gres/gpu=1`)[2]).toBe(1);
});

test("states and their marks", () => {
  const states = ["IDLE*", "DOWN+DRAIN+INVALID_REG", "MIXED-", "idle~", "ALLOCATED"].map((state) => {
    const read = readNodes(`NodeName=n State=${state}\n`).facts[0];
    return [read?.state, read?.flags];
  });
  expect(states).toEqual([
    ["IDLE", ["NOT_RESPONDING"]],
    ["DOWN", ["DRAIN", "INVALID_REG"]],
    ["MIXED", ["PLANNED"]],
    ["IDLE", ["POWERED_DOWN"]],
    ["ALLOCATED", []],
  ]);
});

test("no input makes a reader throw", () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (text, value) => {
      readNodes(`NodeName=${text}`);
      readNodes(node(text));
      const entry = { name: "n", gres: value, gres_used: value, state: value, tres: value, partitions: value };
      readNodesJson(JSON.stringify({ nodes: [entry, value], meta: { plugin: { type: "x" } } }));
    }),
  );
});

describe.skipIf(!hasSamples)("real output", () => {
  test("the lab cluster: one line, many lines and JSON of every release tell the same", () => {
    for (const release of labReleases) {
      const many = readNodes(sampleText(`lab/${release}/text/scontrol_nodes_d.txt`));
      const one = readNodes(sampleText(`lab/${release}/text/scontrol_nodes_oneline.txt`));
      const name = release === "deb22.05" ? "sinfo" : "scontrol_nodes";
      const json = readNodesJson(sampleText(`lab/${release}/json/${name}.json`));
      // 22.05 writes `shard:0` among what is used by turns.
      const plain = (facts: typeof many.facts | null) =>
        facts?.map(({ gresUsed, gpus, gpusByType, name: host, state, memoryMiB, cpus, bootedAt }) => ({
          gresUsed: gresUsed?.filter((gres) => gres.name === "gpu"),
          gpus,
          gpusByType,
          host,
          state,
          memoryMiB,
          cpus,
          bootedAt,
        }));
      expect([release, one.unread, many.unread, json.unread]).toEqual([release, [], [], []]);
      expect([release, plain(one.facts)]).toEqual([release, plain(many.facts)]);
      expect([release, plain(json.facts)]).toEqual([release, plain(many.facts)]);
      expect(many.facts.map(({ name: host, state, gpus }) => [host, state, gpus])).toEqual([
        ["g1", "MIXED", { configured: 13, used: 2 }],
        ["g2", "IDLE", { configured: 8, used: 0 }],
        ["g3", "MIXED", { configured: 8, used: 8 }],
        ["g4", "MIXED", { configured: 8, used: 8 }],
      ]);
    }
  });

  test("other sites: every node has a name and a state", () => {
    const texts = samplesLike(/scontrol_nodes\.txt$|hyperpod-gres/).map(
      (name) => [name, readNodes(sample(name))] as const,
    );
    const jsons = samplesLike(/slurm-web\/.*\/slurm-nodes?(-(down|drain|with).*)?\.json$/).map(
      (name) => [name, readNodesJson(sample(name))] as const,
    );
    const bad = [...texts, ...jsons].filter(
      ([, { facts, unread }]) =>
        facts === null ||
        facts.length === 0 ||
        unread.length > 0 ||
        facts.some(({ name, state }) => name === "" || state === null),
    );
    expect(bad).toEqual([]);
    expect(texts.length + jsons.length).toBeGreaterThan(15);
  });

  test("a site that does not track GPUs in its TRES: they are counted all the same", () => {
    const { facts } = readNodesJson(sample("slurm-web/25.11-dp0.0.44/slurm-node-with-gpus-model-allocated.json"));
    expect(facts?.map(({ gpus }) => gpus)).toEqual([{ configured: expect.any(Number), used: expect.any(Number) }]);
    expect(facts?.[0]?.gpus.configured).toBeGreaterThan(0);
  });

  test("a node that is unknown to the cluster is an error that is listed", () => {
    const { facts, unread } = readNodesJson(sample("slurm-web/25.11-dp0.0.44/slurm-node-unfound.json"));
    expect(facts).toBeNull();
    expect(unread.map(({ field }) => field)).toEqual(["errors", "nodes"]);
  });
});
