import { expect, test } from "vitest";
import { fraction } from "../../shared/quota/index.ts";
import { choosableTypes, type HostModels, inventoryTypes, namedTypes } from "./gpu-types.ts";
import { allocation, node, smallAnswer } from "./testing/answers.ts";

const hosts: readonly HostModels[] = [
  { inventory: null },
  {
    inventory: {
      gpus: [
        { name: "NVIDIA H100 80GB HBM3", geometry: "H100-SXM5-80GB" },
        { name: "NVIDIA H100 80GB HBM3", geometry: "H100-SXM5-80GB" },
        { name: "NVIDIA L4", geometry: null },
      ],
      geometries: { "H100-SXM5-80GB": { profiles: [{ name: "1g.10gb" }, { name: "3g.40gb" }] } },
    },
  },
];

test("types of the inventory are called as work is counted", () => {
  expect([...inventoryTypes(hosts)]).toEqual(["h100", "h100/1g.10gb", "h100/3g.40gb", "l4"]);
});

test("types that limits and work name come with those of the inventory, each once; what is no name of one is left out", () => {
  const named = namedTypes({
    ...smallAnswer,
    nodes: [node("cluster", "cluster", null, "Cluster", { gpuTypes: { a30: fraction(2) } })],
    allocations: [{ ...allocation("41", "t0nxp_p01", "running", 1), gpuTypes: { h100: 1 } }],
  });
  const inventory = inventoryTypes(hosts);
  expect(choosableTypes(named, new Set([...inventory, "no type"]))).toEqual([
    "a30",
    "h100",
    "h100/1g.10gb",
    "h100/3g.40gb",
    "l4",
  ]);
});
