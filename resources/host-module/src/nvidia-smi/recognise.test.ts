import { expect, test } from "vitest";
import {
  computeInstanceList,
  deviceList,
  firstGpu,
  gpuInstanceList,
  nvlinkStatus,
  topologyMatrix,
  xmlReport,
} from "../testing/reports.ts";
import { recognise } from "./recognise.ts";

test.each([
  [xmlReport([firstGpu]), ["query-xml"]],
  [xmlReport([firstGpu]).slice(0, 900), ["query-xml"]],
  [`${deviceList}\n${gpuInstanceList}`, ["gpu-instances", "device-list"]],
  [computeInstanceList, ["compute-instances"]],
  [topologyMatrix, ["topology"]],
  ["\tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tOK\tX\n", ["peer-to-peer"]],
  [nvlinkStatus, ["nvlink", "device-list", "messages"]],
  ["GPU  0 Profile ID 19 Placements: {0,1}:1\n", ["gpu-instance-placements"]],
  ["GPU  0 GI  5 Profile ID  0 Placement : {0}:1\n", ["compute-instance-placements"]],
  ["# gpu    pwr  gtemp\n    0     69     41\n", ["device-monitor"]],
  ["# gpu         pid   type\n    0      21180     C\n", ["process-monitor"]],
  ["index, name\n0, NVIDIA L4\n", ["query-gpu"]],
  ["0, NVIDIA L4, 23034 MiB\n", ["query-gpu"]],
  ["No GPU instances found: Not Found\n", ["messages"]],
  ["NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n", ["kernel-log"]],
  ['List of valid properties to query for the switch "--query-gpu":\n\n"timestamp"\n', ["help"]],
  ["Dear support,\nour GPU is slow.\n", []],
  ["", []],
])("%j", (output, kinds) => {
  expect(recognise(output)).toEqual(kinds);
});
