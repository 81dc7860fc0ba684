import { expect, test } from "vitest";
import { parseComputeInstances, parseGpuInstances } from "./instances.ts";

const gpuInstances = `+---------------------------------------------------------+
| GPU instances:                                          |
| GPU   Name               Profile  Instance   Placement  |
|                            ID       ID       Start:Size |
|=========================================================|
|   0  MIG 1g.24gb+me        21        3          0:3     |
+---------------------------------------------------------+
|  11  MIG 4g.96gb            0        0          0:12    |
+---------------------------------------------------------+
`;

const computeInstances = `$ sudo nvidia-smi mig -lci
+--------------------------------------------------------------------+
| Compute instances:                                                 |
| GPU     GPU       Name             Profile   Instance   Placement  |
|       Instance                       ID        ID       Start:Size |
|         ID                                                         |
|====================================================================|
|   1      2       MIG 1c.3g.40gb       0         0          0:1     |
+--------------------------------------------------------------------+
|   1      2       MIG 2c.3g.40gb       1*        1          1:2     |
+--------------------------------------------------------------------+
`;

test("-lgi lists every GPU instance with its profile and its placement", () => {
  expect(parseGpuInstances(gpuInstances)).toEqual({
    facts: [
      { gpuIndex: 0, profile: "1g.24gb+me", profileId: 21, gpuInstanceId: 3, placement: { start: 0, size: 3 } },
      { gpuIndex: 11, profile: "4g.96gb", profileId: 0, gpuInstanceId: 0, placement: { start: 0, size: 12 } },
    ],
    unread: [],
  });
});

test("-lci lists every compute instance inside its GPU instance", () => {
  const rows = [
    { profile: "1c.3g.40gb", profileId: 0, computeInstanceId: 0, placement: { start: 0, size: 1 } },
    { profile: "2c.3g.40gb", profileId: 1, computeInstanceId: 1, placement: { start: 1, size: 2 } },
  ];
  expect(parseComputeInstances(computeInstances)).toEqual({
    facts: rows.map((row) => ({ gpuIndex: 1, gpuInstanceId: 2, ...row })),
    unread: [],
  });
});

test("Windows line ends change nothing", () => {
  expect(parseGpuInstances(gpuInstances.replaceAll("\n", "\r\n"))).toEqual(parseGpuInstances(gpuInstances));
});

test("a cut row is no fact: 0:1 may have been 0:12", () => {
  const cut = gpuInstances.slice(0, gpuInstances.indexOf("0:12") + 3);
  const { facts, unread } = parseGpuInstances(cut);
  expect(facts).toHaveLength(1);
  expect(unread).toEqual([
    {
      field: "GPU instances",
      reason: "the row is not as the driver prints it, or is cut",
      raw: "|  11  MIG 4g.96gb            0        0          0:1",
    },
  ]);
});

test("a message instead of a table has no rows", () => {
  expect(parseGpuInstances("No GPU instances found: Not Found\n")).toEqual({ facts: [], unread: [] });
});
