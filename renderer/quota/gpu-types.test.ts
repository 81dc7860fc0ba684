import { expect, test } from "vitest";
import { fraction } from "../../shared/quota/index.ts";
import { choosableTypes, type HostModels, inventoryTypes, namedTypes } from "./gpu-types.ts";
import { allocation, node, smallAnswer } from "./testing/answers.ts";

const hosts: readonly HostModels[] = [
  { inventory: null },
  {
    inventory: {
      gpus: [{ geometry: "H100-SXM5-80GB" }, { geometry: "H100-SXM5-80GB" }, { geometry: null }],
      geometries: { "H100-SXM5-80GB": { profiles: [{ name: "1g.10gb" }, { name: "3g.40gb" }] } },
    },
  },
];

test("types of the inventory are called as the engine counts them", () => {
  expect([...inventoryTypes(hosts, "slurm")]).toEqual(["h100", "h100/1g.10gb", "h100/3g.40gb"]);
  expect([...inventoryTypes(hosts, "local")]).toEqual([
    "H100-SXM5-80GB",
    "H100-SXM5-80GB/1g.10gb",
    "H100-SXM5-80GB/3g.40gb",
  ]);
});

test("types that limits and work name come with those of the inventory, each once; what is no name of one is left out", () => {
  const named = namedTypes({
    ...smallAnswer,
    nodes: [node("cluster", "cluster", null, "Cluster", { gpuTypes: { a30: fraction(2) } })],
    allocations: [{ ...allocation("41", "t0nxp_p01", "running", 1), gpuTypes: { h100: 1 } }],
  });
  const inventory = inventoryTypes(hosts, "slurm");
  expect(choosableTypes(named, new Set([...inventory, "no type"]))).toEqual([
    "a30",
    "h100",
    "h100/1g.10gb",
    "h100/3g.40gb",
  ]);
});
