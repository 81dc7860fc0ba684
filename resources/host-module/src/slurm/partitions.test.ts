import { describe, expect, test } from "vitest";
import { readPartitions } from "./partitions.ts";
import { hasSamples, labReleases, sampleText } from "./testing/samples.ts";

test("a partition's own QOS, and none, on many lines and on one", () => {
  const text = `PartitionName=gpu
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   AllocNodes=ALL Default=YES QoS=wide
   Nodes=g[1-4]

PartitionName=debug AllowGroups=ALL AllowQos=ALL AllocNodes=ALL Default=NO QoS=N/A DefaultTime=NONE Nodes=g5
`;
  expect(readPartitions(text)).toEqual({
    facts: [
      { name: "gpu", qos: "wide" },
      { name: "debug", qos: null },
    ],
    unread: [],
  });
});

test("no partition is an answer, and what is none is listed", () => {
  expect(readPartitions("No partitions in the system\n")).toEqual({ facts: [], unread: [] });
  expect(readPartitions("slurm_load_partitions error\n").unread).toHaveLength(1);
});

describe.skipIf(!hasSamples)("real outputs", () => {
  test.each(labReleases)("of %s", (release) => {
    expect(readPartitions(sampleText(`lab/${release}/text/scontrol_partition.txt`))).toEqual({
      facts: [{ name: "gpu", qos: null }],
      unread: [],
    });
  });

  test("of a cluster whose partitions have QOS", () => {
    const { facts, unread } = readPartitions(sampleText("ood_core/owens_partitions.txt"));
    expect(unread).toEqual([]);
    expect(facts?.filter(({ qos }) => qos !== null).map(({ qos }) => qos)).toEqual(
      expect.arrayContaining(["debug", "gpudebug", "owens-gpu-partition", "owens-hugemem-partition", "quick"]),
    );
    expect(facts).toHaveLength(15);
  });
});
