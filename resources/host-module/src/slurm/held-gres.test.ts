import { describe, expect, test } from "vitest";
import { heldGpus } from "./held-gres.ts";
import { readJobs, readJobsJson } from "./jobs.ts";
import { hasSamples, jsonReleases, labReleases, sample } from "./testing/samples.ts";

const job = (lines: string, state = "RUNNING") => `JobId=5 JobName=x
   UserId=alice(5101) GroupId=users(100) MCS_label=N/A
   Account=t1_p01 QOS=own
   JobState=${state} Reason=None Dependency=(null)
   StartTime=2026-12-02T07:37:05 EndTime=2026-12-04T07:37:05 Deadline=N/A
   NodeList=g[3-5]
   AllocTRES=cpu=16,node=3,gres/gpu=5,gres/gpu:a100=5
${lines}
   WorkDir=/tmp
`;
const detail = `     Nodes=g3 CPU_IDs=0-3 Mem=1 GRES=vram:80,gpu:a100:2(IDX:0-1),gpu:a100_1g.5gb:1(IDX:9)
     Nodes=g[4-5] CPU_IDs=0-3 Mem=1 GRES=gpu:a100:1(IDX:7),shard:a100:8(8/8)`;
const held = (text: string, node: string) =>
  (readJobs(text).facts[0] === undefined ? [] : readJobs(text).facts).flatMap((each) =>
    heldGpus(each, node).map(({ index }) => index),
  );

test("by node: several lines, ranges, several types, a list of nodes", () => {
  expect(["g3", "g4", "g5", "g6", "g"].map((node) => held(job(detail), node))).toEqual([[0, 1, 9], [7], [7], [], []]);
});

test("who: account, user, job and start", () => {
  const [first] = readJobs(job(detail)).facts;
  expect(first === undefined ? null : heldGpus(first, "g4")).toEqual([
    {
      jobId: 5,
      index: 7,
      holder: {
        tenant: null,
        project: "t1_p01",
        user: "alice",
        by: "job",
        allocation: "5",
        since: "2026-12-02T07:37:05.000Z",
      },
    },
  ]);
});

test.each([
  ["CONFIGURING", [7]],
  ["SUSPENDED", [7]],
  ["CANCELLED+COMPLETING", [7]],
  ["PENDING", []],
  ["CANCELLED", []],
  ["COMPLETED", []],
])("%s holds %j", (state, indexes) => {
  expect(held(job(detail, state), "g4")).toEqual(indexes);
});

test.each([
  ["no device", "     Nodes=g[3-5] CPU_IDs=0 Mem=1 GRES=gpu:a100:0(IDX:N/A)"],
  ["a line of the user's own beside Slurm's", `${detail}\n     Nodes=g4 CPU_IDs=0 Mem=1 GRES=gpu:a100:1(IDX:0)`],
  ["a list of nodes that is none", "     Nodes=g[4- CPU_IDs=0 Mem=1 GRES=gpu:a100:5(IDX:0-4)"],
  ["a range without end", "     Nodes=g4 CPU_IDs=0 Mem=1 GRES=gpu:a100:5(IDX:0-99999999999)"],
])("%s: nothing", (_name, lines) => {
  expect(held(job(lines), "g4")).toEqual([]);
});

test("JSON names no nodes: they stand in the job's own list, one text a node", () => {
  const json = (details: readonly string[]) =>
    JSON.stringify({
      jobs: [
        { job_id: 5, job_state: ["RUNNING"], nodes: "g[3-4]", tres_alloc_str: "gres/gpu=3", gres_detail: details },
      ],
      meta: { plugin: { data_parser: "data_parser/v0.0.42" } },
    });
  const on = (node: string, details: readonly string[]) =>
    (readJobsJson(json(details)).facts ?? []).flatMap((each) => heldGpus(each, node).map(({ index }) => index));
  const two = ["gpu:a100:2(IDX:0-1)", "gpu:a100:1(IDX:7)"];
  expect([on("g3", two), on("g4", two)]).toEqual([[0, 1], [7]]);
  expect(on("g4", ["gpu:a100:3(IDX:0-2)"])).toEqual([]);
});

describe.skipIf(!hasSamples)("real clusters", () => {
  const expected = { g1: ["lab_alice 4", "lab_alice 0"], g3: 8, g4: 8 };
  const summary = (jobs: Parameters<typeof heldGpus>[0][]) => {
    const on = (node: string) => jobs.flatMap((each) => heldGpus(each, node));
    return {
      g1: on("g1").map(({ holder, index }) => `${holder.user} ${index}`),
      g3: on("g3").length,
      g4: on("g4").length,
    };
  };
  test.each(labReleases)("text of %s", (release) => {
    expect(summary([...readJobs(sample(`lab/${release}/text/scontrol_job_d.txt`)).facts])).toEqual(expected);
  });
  test.each(jsonReleases)("JSON of %s", (release) => {
    expect(summary([...(readJobsJson(sample(`lab/${release}/json/squeue.json`)).facts ?? [])])).toEqual(expected);
  });
});
