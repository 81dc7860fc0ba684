import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { askedTres, readJobs, readJobsJson, type SlurmJob } from "./jobs.ts";
import { hasSamples, jsonReleases, labReleases, sample, samplesLike, sampleText } from "./testing/samples.ts";

const running = `JobId=5 ArrayJobId=4 ArrayTaskId=1 JobName=train it all
   UserId=alice(5101) GroupId=users(100) MCS_label=N/A
   Priority=10000 Nice=0 Account=t1_p01 QOS=own
   JobState=RUNNING Reason=None Dependency=(null)
   Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=0:0
   RunTime=00:00:49 TimeLimit=2-00:00:00 TimeMin=N/A
   SubmitTime=2026-12-02T07:37:05 EligibleTime=2026-12-02T07:37:05
   StartTime=2026-12-02T07:37:05 EndTime=2026-12-04T07:37:05 Deadline=N/A
   Partition=gpu AllocNode:Sid=localhost:2730
   NodeList=g[3-4]
   NumNodes=2 NumCPUs=16 NumTasks=2 CPUs/Task=8 ReqB:S:C:T=0:0:*:*
   ReqTRES=cpu=16,mem=64G,node=2,billing=16,gres/gpu=3
   AllocTRES=cpu=16,mem=64G,node=2,billing=16,gres/gpu=3,gres/gpu:a100=3
   JOB_GRES=gpu:a100:3
     Nodes=g3 CPU_IDs=0-3 Mem=32768 GRES=gpu:a100:2(IDX:0-1)
     Nodes=g4 CPU_IDs=0-3 Mem=32768 GRES=gpu:a100:1(IDX:7)
   Command=/home/alice/run.sh Account=other
   TresPerJob=gres/gpu:3
`;

test("a job of an array: who, what it asked for, what it holds and where", () => {
  expect(readJobs(running)).toEqual({
    facts: [
      {
        id: 5,
        arrayJobId: 4,
        arrayTasks: "1",
        name: "train it all",
        user: "alice",
        userId: 5101,
        account: "t1_p01",
        qos: "own",
        partition: "gpu",
        associationId: null,
        state: "RUNNING",
        flags: [],
        reason: null,
        requestedTres: { cpu: 16, mem: 65_536, node: 2, billing: 16, "gres/gpu": 3 },
        allocatedTres: { cpu: 16, mem: 65_536, node: 2, billing: 16, "gres/gpu": 3, "gres/gpu:a100": 3 },
        asked: { perNode: {}, perJob: { "gres/gpu": 3 }, perTask: {}, perSocket: {} },
        gresDetail: [
          { nodes: "g3", gres: [{ name: "gpu", type: "a100", count: 2, index: [0, 1] }] },
          { nodes: "g4", gres: [{ name: "gpu", type: "a100", count: 1, index: [7] }] },
        ],
        nodes: "g[3-4]",
        nodeCount: 2,
        timeLimitMinutes: 2880,
        priority: 10_000,
        reservation: null,
        submittedAt: Date.UTC(2026, 11, 2, 7, 37, 5) / 1000,
        startedAt: Date.UTC(2026, 11, 2, 7, 37, 5) / 1000,
        endsAt: Date.UTC(2026, 11, 4, 7, 37, 5) / 1000,
        restarts: 2,
      },
    ],
    unread: [],
  });
});

test("local times are those of the given zone", () => {
  const submitted = readJobs(running, { utcOffsetMinutes: 480 }).facts[0]?.submittedAt;
  expect(submitted).toBe(Date.UTC(2026, 11, 1, 23, 37, 5) / 1000);
});

test("a job's name cannot pass for another user, account or state", () => {
  const spoof = "x UserId=root(0) Account=other";
  const oneLine = `JobId=7 JobName=${spoof} UserId=eve(9) GroupId=users(100) Account=t9 QOS=own JobState=PENDING Reason=None`;
  const manyLines = `JobId=7 JobName=${spoof}\n   UserId=eve(9) GroupId=users(100)\n   Priority=1 Account=t9 QOS=own\n   JobState=PENDING Reason=None\n`;
  const broken = `JobId=7 JobName=x\n   UserId=root(0) GroupId=root(0)\n   UserId=eve(9) GroupId=users(100)\n   Priority=1 Account=t9 QOS=own\n`;
  const who = (text: string) => {
    const { facts, unread } = readJobs(text);
    return [facts.map(({ user, account }) => [user, account]), unread.map(({ field }) => field)];
  };
  expect(who(manyLines)).toEqual([[["eve", "t9"]], []]);
  expect(who(oneLine)).toEqual([[[null, null]], ["JobId=7 UserId", "JobId=7 Account"]]);
  expect(who(broken)).toEqual([[[null, "t9"]], ["JobId=7 UserId", "JobId=7 GroupId"]]);
});

test("values of every shape in JSON: plain, in an object, states as a word or a list", () => {
  const meta = { plugin: { data_parser: "data_parser/v0.0.99" } };
  const plain = {
    job_id: 1,
    job_state: "pending",
    time_limit: 60,
    submit_time: 5,
    user_name: "a",
    account: "p",
    tres_req_str: "cpu=1",
    tres_alloc_str: "",
  };
  const shaped = {
    ...plain,
    job_id: { set: true, infinite: false, number: 1 },
    job_state: ["PENDING"],
    time_limit: { set: true, infinite: true, number: 0 },
    submit_time: { set: true, infinite: false, number: 5 },
  };
  const { facts, unread } = readJobsJson(JSON.stringify({ jobs: [plain, shaped, { name: "no id" }, 7], meta }));
  const seen = facts?.map(({ id, state, timeLimitMinutes, submittedAt, user, account, requestedTres }) => [
    id,
    state,
    timeLimitMinutes,
    submittedAt,
    user,
    account,
    requestedTres,
  ]);
  expect(seen).toEqual([
    [1, "PENDING", 60, 5, "a", "p", { cpu: 1 }],
    [1, "PENDING", "unlimited", 5, "a", "p", { cpu: 1 }],
  ]);
  expect(unread.map(({ reason }) => reason)).toEqual(["an entry without job_id", "an entry without job_id"]);
});

test("cut or damaged at any place, neither reader throws", () => {
  fc.assert(
    fc.property(fc.nat(running.length), fc.string({ maxLength: 12 }), fc.jsonValue(), (at, noise, value) => {
      readJobs(running.slice(0, at) + noise + running.slice(at));
      readJobs(running.slice(0, at));
      const job = {
        job_id: 1,
        job_state: value,
        gres_detail: value,
        tres_req_str: value,
        time_limit: value,
        user_name: value,
      };
      readJobsJson(JSON.stringify({ jobs: [job, value], errors: [value], meta: { plugin: { type: "x" } } }));
    }),
    { numRuns: 300 },
  );
});

describe.skipIf(!hasSamples)("the lab cluster, seven releases", () => {
  /** Times and what only one of the two prints are left out. */
  const comparable = (jobs: readonly SlurmJob[] | null) =>
    jobs?.map((job) => ({
      id: job.id,
      user: job.user,
      userId: job.userId,
      account: job.account,
      qos: job.qos,
      state: job.state,
      reason: job.reason,
      held: job.allocatedTres,
      asked: Object.keys(job.allocatedTres).length === 0 ? askedTres(job) : null,
      perNode: job.asked.perNode,
      nodes: job.nodes,
      index: job.gresDetail.map(({ gres }) => gres),
      timeLimitMinutes: job.timeLimitMinutes,
      lasts: job.startedAt === null || job.endsAt === null ? null : job.endsAt - job.startedAt,
    }));

  test("text and JSON of every release tell the same five jobs", () => {
    const oldest = readJobs(sampleText("lab/deb22.05/text/scontrol_job_d.txt"));
    const expected = comparable(oldest.facts);
    expect(
      expected?.map(({ id, user, account, state, reason, held, asked, nodes }) => [
        id,
        user,
        account,
        state,
        reason,
        held["gres/gpu"],
        asked?.["gres/gpu"],
        nodes,
      ]),
    ).toEqual([
      [1, "lab_alice", "a_vision", "RUNNING", null, 1, undefined, "g1"],
      [2, "lab_alice", "a_vision", "RUNNING", null, 1, undefined, "g1"],
      [3, "lab_alice", "a_vision", "PENDING", "AssocGrpGRES", undefined, 1, null],
      [4, "lab_bob", "a_nlp", "PENDING", "AssocGrpGRES", undefined, 8, null],
      [5, "lab_carol", "b_llm", "RUNNING", null, 16, undefined, "g[3-4]"],
    ]);
    for (const release of labReleases) {
      const text = readJobs(sampleText(`lab/${release}/text/scontrol_job_d.txt`));
      expect([release, comparable(text.facts), text.unread]).toEqual([release, expected, []]);
      const names = release === "deb22.05" ? ["squeue"] : ["squeue", "scontrol_jobs"];
      for (const name of names) {
        const json = readJobsJson(sampleText(`lab/${release}/json/${name}.json`));
        const read = comparable(json.facts)?.toSorted((a, b) => a.id - b.id);
        // JSON has one entry a node, text one line for nodes that hold the same.
        const merged = read?.map((job) => ({ ...job, index: job.id === 5 ? job.index.slice(0, 1) : job.index }));
        expect([release, name, merged, json.unread]).toEqual([release, name, expected, []]);
      }
    }
    expect(jsonReleases).toHaveLength(6);
  });

  test("other sites: every job has a user, an account and a state, and nothing is left unread", () => {
    const names = samplesLike(/slurm-web\/.*\/slurm-jobs?(-gpus.*)?\.json$/);
    const read = names.map((name) => {
      const { facts, unread } = readJobsJson(sample(name));
      const isWhole = facts?.every((job) => job.user !== null && job.account !== null && job.state !== null);
      return [name, isWhole, (facts?.length ?? 0) > 0, unread];
    });
    expect(read).toEqual(names.map((name) => [name, true, true, []]));
    expect(names.length).toBeGreaterThan(15);
  });

  test("a refusal of slurmrestd is listed, not taken for an empty queue in silence", () => {
    const { unread } = readJobsJson(sample("slurm-web/25.11-dp0.0.44/slurm-jwt-invalid-token.json"));
    expect(unread.map(({ field }) => field)).toContain("errors");
  });
});
