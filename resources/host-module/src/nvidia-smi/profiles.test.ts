import { expect, test } from "vitest";
import {
  parseComputeInstancePlacements,
  parseComputeInstanceProfiles,
  parseGpuInstancePlacements,
  parseGpuInstanceProfiles,
} from "./profiles.ts";

const profiles = `+-------------------------------------------------------------------------------+
| GPU instance profiles:                                                        |
| GPU   Name               ID    Instances   Memory     P2P    SM    DEC   ENC  |
|                                Free/Total   GiB              CE    JPEG  OFA  |
|===============================================================================|
|   0  MIG 1g.18gb+me      20     1/1        16.00      No     16     1     0   |
|                                                               2     1     1   |
+-------------------------------------------------------------------------------+
|   0  MIG 7g.141gb         0     0/1        141.25     Yes    132    7     0   |
`;

test("-lgip: both lines of a row; engines that were cut off are unknown", () => {
  expect(parseGpuInstanceProfiles(profiles)).toEqual({
    facts: [
      {
        gpuIndex: 0,
        name: "1g.18gb+me",
        profileId: 20,
        free: 1,
        total: 1,
        memoryGiB: 16,
        peerToPeer: false,
        multiprocessors: 16,
        decoders: 1,
        encoders: 0,
        copyEngines: 2,
        jpegEngines: 1,
        opticalFlowEngines: 1,
      },
      {
        gpuIndex: 0,
        name: "7g.141gb",
        profileId: 0,
        free: 0,
        total: 1,
        memoryGiB: 141.25,
        peerToPeer: true,
        multiprocessors: 132,
        decoders: 7,
        encoders: 0,
        copyEngines: null,
        jpegEngines: null,
        opticalFlowEngines: null,
      },
    ],
    unread: [],
  });
});

test("-lgipp: one start or many", () => {
  const output =
    "GPU  3 Profile ID 15 Placements: {0,2,4,6}:2\nGPU  3 Profile ID  0 Placement : {0}:8\nGPU  3 Profile ID  9 Pla";
  expect(parseGpuInstancePlacements(output)).toEqual({
    facts: [
      { gpuIndex: 3, profileId: 15, starts: [0, 2, 4, 6], size: 2 },
      { gpuIndex: 3, profileId: 0, starts: [0], size: 8 },
    ],
    unread: [
      {
        field: "placements",
        reason: "the row is not as the driver prints it, or is cut",
        raw: "GPU  3 Profile ID  9 Pla",
      },
    ],
  });
});

test("-lcipp: inside a GPU instance", () => {
  expect(parseComputeInstancePlacements("GPU  1 GI  5 Profile ID  0 Placements: {0,1}:1\n").facts).toEqual([
    { gpuIndex: 1, gpuInstanceId: 5, profileId: 0, starts: [0, 1], size: 1 },
  ]);
});

test("-lcip: the star marks the default", () => {
  const output = `| GPU     GPU       Name             Profile  Instances   Exclusive       Shared       |
|   1      5       MIG 1c.2g.20gb       0      2/2           16        2     0     0   |
|                                                                      2     2         |
|   1      5       MIG 2g.20gb          1*     1/1           32        2     0     0   |
`;
  expect(parseComputeInstanceProfiles(output).facts).toEqual([
    {
      gpuIndex: 1,
      gpuInstanceId: 5,
      name: "1c.2g.20gb",
      profileId: 0,
      isDefault: false,
      free: 2,
      total: 2,
      multiprocessors: 16,
    },
    {
      gpuIndex: 1,
      gpuInstanceId: 5,
      name: "2g.20gb",
      profileId: 1,
      isDefault: true,
      free: 1,
      total: 1,
      multiprocessors: 32,
    },
  ]);
});
