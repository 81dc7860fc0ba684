import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAssociationManager } from "./assoc-mgr.ts";
import { readJobs, readJobsJson, type SlurmJob } from "./jobs.ts";
import { readLimitReason } from "./limit-reasons.ts";
import { hasSamples, labReleases, sampleText } from "./testing/samples.ts";
import { explainWait, type WaitExplanation } from "./wait-reason.ts";

/** A job of alice in t1_p01 below t1 below root: 2 GPUs of type a100, 8 CPUs, 64 GiB, for an hour. */
function jobWith(reason: string, rest: Partial<SlurmJob> = {}): SlurmJob {
  const [job] = readJobs(
    `JobId=9 JobName=x\n   UserId=alice(5101) GroupId=users(100)\n   Priority=1 Account=t1_p01 QOS=own\n   JobState=PENDING Reason=${reason} Dependency=(null)\n   TimeLimit=01:00:00\n   Partition=gpu\n   NumNodes=1\n   ReqTRES=cpu=8,mem=64G,node=1,billing=14,gres/gpu=2,gres/gpu:a100=2\n`,
  ).facts;
  if (job === undefined) throw new Error("no job");
  return { ...job, ...rest };
}

interface Row {
  readonly account: string;
  readonly user?: string;
  readonly parent?: string;
  /** Lines in place of those without limits. */
  readonly limits?: string;
}

const row = ({ account, user = "", parent = "", limits = "" }: Row) =>
  `ClusterName=c Account=${account} UserName=${user} Partition= Priority=0 ID=1\n    ParentAccount=${parent} DefAssoc=No\n${limits}\n    GrpJobs=N(0)\n    GrpTRES=\n    GrpTRESMins=\n`;

interface Limits {
  readonly person?: string;
  readonly project?: string;
  readonly tenant?: string;
  readonly cluster?: string;
  readonly qos?: string;
}

function managerWith({ person = "", project = "", tenant = "", cluster = "", qos = "" }: Limits) {
  const rows = [
    row({ account: "root", limits: cluster }),
    row({ account: "t1", parent: "root(1)", limits: tenant }),
    row({ account: "t1_p01", parent: "t1(3)", limits: project }),
    row({ account: "t1_p01", user: "alice(5101)", limits: person }),
    row({ account: "t1_p01", user: "bob(5102)", limits: "    GrpTRES=gres/gpu=0(0)" }),
  ];
  const text = `Current Association Manager state\n\nAssociation Records\n\n${rows.join("")}\nQOS Records\n\nQOS=own(3)\n${qos}\n    GrpJobs=N(0)\n    GrpTRES=\n    GrpTRESMins=\n`;
  const { facts, unread } = readAssociationManager(text);
  expect(unread).toEqual([]);
  return facts;
}

/** What blocks, short: whose, which limit, on what, limit, used (with what is committed), asked, short by. */
function blocksOf(explanation: WaitExplanation) {
  if (explanation.kind !== "limit") return explanation;
  return explanation.blocks.map(({ level, limitName, tres, limit, used, committed, asked, shortBy }) => [
    level.kind,
    level.user ?? level.account ?? level.qos,
    limitName,
    tres,
    `${limit}(${used}${committed > 0 ? `+${committed}` : ""})`,
    asked,
    shortBy,
  ]);
}

const explain = (reason: string, limits: Limits, rest: Partial<SlurmJob> = {}, safe = true) =>
  blocksOf(explainWait({ job: jobWith(reason, rest), manager: managerWith(limits), safe }));

describe("which level blocks, on what, and by how much", () => {
  const cases: readonly (readonly [string, Limits, readonly unknown[]])[] = [
    [
      "AssocGrpGRES",
      { person: "    GrpTRES=gres/gpu=2(1)", project: "    GrpTRES=gres/gpu=4(1)" },
      [["person", "alice", "GrpTRES", "gres/gpu", "2(1)", 2, 1]],
    ],
    [
      "AssocGrpGRES",
      { project: "    GrpTRES=gres/gpu:a100=3(2),gres/gpu=8(2)" },
      [["project", "t1_p01", "GrpTRES", "gres/gpu:a100", "3(2)", 2, 1]],
    ],
    [
      "AssocGrpGRES",
      { tenant: "    GrpTRES=gres/gpu=8(8)", cluster: "    GrpTRES=gres/gpu=100(99)" },
      [
        ["tenant", "t1", "GrpTRES", "gres/gpu", "8(8)", 2, 2],
        ["cluster", "root", "GrpTRES", "gres/gpu", "100(99)", 2, 1],
      ],
    ],
    [
      "AssocGrpCpuLimit",
      { project: "    GrpTRES=cpu=10(4),gres/gpu=0(0)" },
      [["project", "t1_p01", "GrpTRES", "cpu", "10(4)", 8, 2]],
    ],
    [
      "AssocGrpMemLimit",
      { tenant: "    GrpTRES=mem=102400(65536)" },
      [["tenant", "t1", "GrpTRES", "mem", "102400(65536)", 65_536, 28_672]],
    ],
    [
      "AssocGrpBilling",
      { tenant: "    GrpTRES=billing=20(10)" },
      [["tenant", "t1", "GrpTRES", "billing", "20(10)", 14, 4]],
    ],
    [
      "AssocGrpGRESMinutes",
      { project: "    GrpTRESMins=gres/gpu=1000(700)\n    GrpTRESRunMins=gres/gpu=N(250)" },
      [["project", "t1_p01", "GrpTRESMins", "gres/gpu", "1000(700+250)", 120, 70]],
    ],
    [
      "AssocGrpGRESRunMinutes",
      { tenant: "    GrpTRESRunMins=gres/gpu=200(100)" },
      [["tenant", "t1", "GrpTRESRunMins", "gres/gpu", "200(100)", 120, 20]],
    ],
    [
      "AssocGrpCPUMinutesLimit",
      { person: "    GrpTRESMins=cpu=500(100)" },
      [["person", "alice", "GrpTRESMins", "cpu", "500(100)", 480, 80]],
    ],
    ["AssocGrpJobsLimit", { tenant: "    GrpJobs=3(3)" }, [["tenant", "t1", "GrpJobs", null, "3(3)", 1, 1]]],
    ["AssocGrpJobsLimit", { project: "    GrpJobs=0(0)" }, [["project", "t1_p01", "GrpJobs", null, "0(0)", 1, 1]]],
    [
      "AssocGrpWallLimit",
      { tenant: "    GrpWall=100(50.5)" },
      [["tenant", "t1", "GrpWall", null, "100(50.5)", 60, 10.5]],
    ],
    ["AssocMaxJobsLimit", { person: "    MaxJobs=2(2)" }, [["person", "alice", "MaxJobs", null, "2(2)", 1, 1]]],
    [
      "AssocMaxGRESPerJob",
      { person: "    MaxTRESPJ=gres/gpu=1" },
      [["person", "alice", "MaxTRESPerJob", "gres/gpu", "1(0)", 2, 1]],
    ],
    [
      "AssocMaxGRESPerNode",
      { person: "    MaxTRESPN=gres/gpu=1" },
      [["person", "alice", "MaxTRESPerNode", "gres/gpu", "1(0)", 2, 1]],
    ],
    [
      "AssocMaxWallDurationPerJobLimit",
      { person: "    MaxJobs= MaxWallPJ=30" },
      [["person", "alice", "MaxWall", null, "30(0)", 60, 30]],
    ],
    [
      "AssocMaxCpuMinutesPerJobLimit",
      { person: "    MaxTRESMinsPJ=cpu=400" },
      [["person", "alice", "MaxTRESMinsPerJob", "cpu", "400(0)", 480, 80]],
    ],
    ["QOSGrpGRES", { qos: "    GrpTRES=gres/gpu=100(99)" }, [["qos", "own", "GrpTRES", "gres/gpu", "100(99)", 2, 1]]],
    [
      "QOSMaxGRESPerJob",
      { qos: "    MaxTRESPJ=gres/gpu=1" },
      [["qos", "own", "MaxTRESPerJob", "gres/gpu", "1(0)", 2, 1]],
    ],
    [
      "QOSMaxGRESPerUser",
      {
        qos: "    GrpJobs=N(1)\n    User Limits\n      alice(5101)\n        MaxTRESPU=gres/gpu=3(2)\n      bob(5102)\n        MaxTRESPU=gres/gpu=3(3)",
      },
      [["qos", "alice", "MaxTRESPerUser", "gres/gpu", "3(2)", 2, 1]],
    ],
    [
      "QOSMaxGRESPerUser",
      { qos: "    GrpJobs=N(1)\n    User Limits\n      5101\n        MaxTRESPU=gres/gpu=3(2)" },
      [["qos", "alice", "MaxTRESPerUser", "gres/gpu", "3(2)", 2, 1]],
    ],
    [
      "MaxGRESPerAccount",
      {
        qos: "    GrpJobs=N(1)\n    GrpTRES=\n    GrpTRESMins=\n    Account Limits\n      t1_p01\n        MaxTRESPA=gres/gpu=1(0)\n    User Limits",
      },
      [["qos", "t1_p01", "MaxTRESPerAccount", "gres/gpu", "1(0)", 2, 1]],
    ],
    ["QOSMinGRES", { qos: "    MinTRESPJ=gres/gpu=4" }, [["qos", "own", "MinTRES", "gres/gpu", "4(0)", 2, 2]]],
    [
      "AssociationResourceLimit",
      { project: "    GrpTRES=cpu=10(4),gres/gpu=1(1)" },
      [
        ["project", "t1_p01", "GrpTRES", "cpu", "10(4)", 8, 2],
        ["project", "t1_p01", "GrpTRES", "gres/gpu", "1(1)", 2, 2],
      ],
    ],
  ];
  test.each(cases)("%s %j", (reason, limits, expected) => {
    // The rows end with lines without limits, which must not replace those given before them.
    expect(explain(reason, limits)).toEqual(expected);
  });
});

test("a limit that the job's QOS sets itself lifts the same limit of every association", () => {
  const project = "    GrpTRES=cpu=4(0),gres/gpu=1(0)";
  expect(explain("AssocGrpGRES", { project })).toHaveLength(1);
  expect(explain("AssocGrpGRES", { project, qos: "    GrpTRES=gres/gpu=100(0)" })).toEqual([]);
  expect(explain("AssocGrpCpuLimit", { project, qos: "    GrpTRES=gres/gpu=100(0)" })).toHaveLength(1);
});

test("without `safe` only what is used up holds a job back", () => {
  const project = (used: number) => `    GrpTRESMins=gres/gpu=1000(${used})\n    GrpTRESRunMins=gres/gpu=N(250)`;
  expect(explain("AssocGrpGRESMinutes", { project: project(999) }, {}, false)).toEqual([]);
  expect(explain("AssocGrpGRESMinutes", { project: project(1000) }, {}, false)).toEqual([
    ["project", "t1_p01", "GrpTRESMins", "gres/gpu", "1000(1000)", 1, 1],
  ]);
});

test("a job without time limit asks for minutes that nobody knows", () => {
  const limits = { project: "    GrpTRESMins=gres/gpu=1000(1000)" };
  expect(explain("AssocGrpGRESMinutes", limits, { timeLimitMinutes: "unlimited" })).toEqual([
    ["project", "t1_p01", "GrpTRESMins", "gres/gpu", "1000(1000)", null, 1],
  ]);
});

test("somebody else's limit is not this job's, and an association for its partition comes first", () => {
  expect(explain("AssocGrpGRES", {})).toEqual([]);
  const manager = managerWith({});
  const limited = manager.associations
    .filter(({ user }) => user === "alice")
    .map((row) => ({
      ...row,
      partition: "gpu",
      group: { ...row.group, tres: [{ tres: "gres/gpu", limit: 1, used: 0 }] },
    }));
  const associations = [...manager.associations, ...limited];
  const explanation = explainWait({ job: jobWith("AssocGrpGRES"), manager: { ...manager, associations } });
  expect(blocksOf(explanation)).toEqual([["person", "alice", "GrpTRES", "gres/gpu", "1(0)", 2, 1]]);
});

test("where no number blocks it says why, and lists what was looked at", () => {
  const manager = managerWith({ tenant: "    GrpTRES=gres/gpu=8(0)" });
  const noteOf = (job: SlurmJob) => {
    const explanation = explainWait({ job, manager });
    return explanation.kind === "limit"
      ? [explanation.blocks.length, explanation.checks.length, explanation.note]
      : explanation;
  };
  expect(noteOf(jobWith("AssocGrpGRES"))).toEqual([0, 1, expect.stringContaining("have moved")]);
  expect(noteOf(jobWith("AssocGrpGRES", { user: "zed" }))).toEqual([
    0,
    0,
    expect.stringContaining("association is not among"),
  ]);
  expect(noteOf(jobWith("AssocGrpGRES", { user: null }))).toEqual([
    0,
    0,
    expect.stringContaining("association is not among"),
  ]);
  expect(noteOf(jobWith("QOSGrpGRES", { qos: "other" }))).toEqual([0, 0, expect.stringContaining("QOS is not among")]);
  expect(noteOf(jobWith("QOSGrpGRES"))).toEqual([0, 0, expect.stringContaining("partition's QOS")]);
  expect(noteOf(jobWith("QOSUsageThreshold"))).toEqual([0, 0, expect.stringContaining("fair share")]);
  expect(noteOf(jobWith("Priority"))).toEqual({ kind: "no-limit", reason: "Priority" });
});

test("a tree with a loop ends", () => {
  const manager = managerWith({});
  const looped = manager.associations.map((row) => (row.account === "t1" ? { ...row, parentAccount: "t1_p01" } : row));
  expect(explainWait({ job: jobWith("AssocGrpGRES"), manager: { ...manager, associations: looped } }).kind).toBe(
    "limit",
  );
});

/** All reasons of job_state_reason.c that are limits of associations or QOS, by what they are made of. */
describe("Slurm's words", () => {
  const families = ["Unknown", "Mem", "Node", "Energy", "GRES", "License", "BB", "Billing"];
  const association = [
    ..."CpuLimit CPUMinutesLimit CPURunMinutesLimit JobsLimit MemLimit NodeLimit SubmitJobsLimit WallLimit"
      .split(" ")
      .map((word) => `AssocGrp${word}`),
    ..."JobsLimit CpuPerJobLimit CpuMinutesPerJobLimit NodePerJobLimit WallDurationPerJobLimit SubmitJobLimit CpuPerNode"
      .split(" ")
      .map((word) => `AssocMax${word}`),
    ...families.flatMap((family) => ["", "Minutes", "RunMinutes"].map((period) => `AssocGrp${family}${period}`)),
    ...families.flatMap((family) => ["PerJob", "PerNode", "MinutesPerJob"].map((per) => `AssocMax${family}${per}`)),
    "AssociationJobLimit",
    "AssociationResourceLimit",
    "AssociationTimeLimit",
  ];
  const qosFamilies = families.map((family) => (family === "Mem" ? "Memory" : family));
  const qos = [
    ..."CpuLimit CPUMinutesLimit CPURunMinutesLimit JobsLimit MemLimit NodeLimit SubmitJobsLimit WallLimit"
      .split(" ")
      .map((word) => `QOSGrp${word}`),
    ..."CpuPerJobLimit CpuMinutesPerJobLimit NodePerJobLimit WallDurationPerJobLimit CpuPerUserLimit JobsPerUserLimit NodePerUserLimit SubmitJobPerUserLimit CpuPerNode"
      .split(" ")
      .map((word) => `QOSMax${word}`),
    ...qosFamilies.flatMap((family) => ["", "Minutes", "RunMinutes"].map((period) => `QOSGrp${family}${period}`)),
    ...qosFamilies.flatMap((family) =>
      ["PerJob", "PerNode", "PerUser", "MinutesPerJob"].map((per) => `QOSMax${family}${per}`),
    ),
    ...qosFamilies.map((family) => `QOSMin${family}`),
    ...["BB", "Cpu", "Energy", "GRES", "Node", "License", "Memory", "Unknown", "Jobs", "SubmitJobs", "Billing"].map(
      (word) => `Max${word}PerAccount`,
    ),
    "QOSMinCpuNotSatisfied",
    "QOSJobLimit",
    "QOSResourceLimit",
    "QOSTimeLimit",
    "QOSUsageThreshold",
  ];

  test.each(association)("%s", (word) => {
    expect(readLimitReason(word)).toMatchObject({ scope: "association" });
  });
  test.each(qos)("%s", (word) => {
    expect(readLimitReason(word)).toMatchObject({ scope: "qos" });
  });
  test("what they mean", () => {
    expect(
      [
        "AssocGrpCPURunMinutesLimit",
        "QOSMaxMemoryPerUser",
        "MaxGRESPerAccount",
        "(QOSGrpNodeLimit)",
        "QOSMaxWallDurationPerJobLimit",
      ].map(readLimitReason),
    ).toEqual([
      { scope: "association", limits: ["GrpTRESRunMins"], family: "cpu" },
      { scope: "qos", limits: ["MaxTRESPerUser"], family: "mem" },
      { scope: "qos", limits: ["MaxTRESPerAccount"], family: "gres" },
      { scope: "qos", limits: ["GrpTRES"], family: "node" },
      { scope: "qos", limits: ["MaxWall"], family: null },
    ]);
  });
  const others =
    "None Priority Resources Dependency JobHeldUser BeginTime PartitionNodeLimit MaxMemPerLimit InvalidAccount QOSNotAllowed TimeLimit JobArrayTaskLimit AccountingPolicy Reservation".split(
      " ",
    );
  test.each(others)("%s is no limit of theirs", (word) => {
    expect(readLimitReason(word)).toBeNull();
  });
});

test("no reason, job or numbers make it throw", () => {
  const words = fc.constantFrom(
    "AssocGrp",
    "QOSGrp",
    "Max",
    "GRES",
    "Cpu",
    "PerUser",
    "Minutes",
    "constructor",
    "__proto__",
    "Limit",
  );
  const reason = fc.oneof(
    fc.string(),
    fc.array(words, { maxLength: 4 }).map((parts) => parts.join("")),
  );
  const manager = managerWith({ tenant: "    GrpTRES=gres/gpu=8(8)" });
  fc.assert(
    fc.property(reason, fc.option(fc.string()), (word, account) => {
      explainWait({ job: { ...jobWith("None"), reason: word, account }, manager });
    }),
  );
});

describe.skipIf(!hasSamples)("the lab cluster, seven releases", () => {
  test("the two jobs that wait for AssocGrpGRES: the person's own limit, and the tenant's twice", () => {
    for (const release of labReleases) {
      const manager = readAssociationManager(sampleText(`lab/${release}/text/scontrol_assoc_mgr.txt`)).facts;
      const text = readJobs(sampleText(`lab/${release}/text/scontrol_job_d.txt`)).facts;
      const json = readJobsJson(sampleText(`lab/${release}/json/squeue.json`)).facts ?? [];
      for (const jobs of [text, json]) {
        const waiting = jobs.filter(({ state }) => state === "PENDING").toSorted((a, b) => a.id - b.id);
        expect([release, waiting.map((job) => blocksOf(explainWait({ job, manager })))]).toEqual([
          release,
          [
            [["person", "lab_alice", "GrpTRES", "gres/gpu", "2(2)", 1, 1]],
            [
              ["tenant", "tenant_a", "GrpTRES", "gres/gpu", "8(2)", 8, 2],
              ["tenant", "tenant_a", "GrpTRES", "gres/gpu:a100", "8(1)", 8, 1],
            ],
          ],
        ]);
      }
    }
  });
});
