import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limitOf, readAssociationManager } from "./assoc-mgr.ts";
import { hasSamples, labReleases, sampleText } from "./testing/samples.ts";

const text = `Current Association Manager state

Association Records

ClusterName=c Account=t1_p01 UserName=alice(5101) Partition=gpu Priority=0 ID=8
    SharesRaw/Norm/Level/Factor=1/1.00/1/0.00
    UsageRaw/Norm/Efctv=12.50/1.00/0.00
    ParentAccount= Lineage=/t1/t1_p01/0-alice/ DefAssoc=Yes
    GrpJobs=5(2) GrpJobsAccrue=N(1)
    GrpSubmitJobs=N(3) GrpWall=100(0.37)
    GrpTRES=cpu=N(8),mem=1024(512),gres/gpu=2(2)
    GrpTRESMins=gres/gpu=60000(10)
    GrpTRESRunMins=gres/gpu=N(120)
    MaxJobs=3(2) MaxJobsAccrue= MaxSubmitJobs=4 MaxWallPJ=2880
    MaxTRESPJ=gres/gpu=4
    MaxTRESPN=
    MaxTRESMinsPJ=
    MinPrioThresh=
    Comment=GrpTRES=gres/gpu=99(0) GrpJobs=1(1)

QOS Records

QOS=own(3)
    UsageRaw=1319.983363
    GrpJobs=N(3) GrpJobsAccrue=N(2) GrpSubmitJobs=N(5) GrpWall=N(0.55)
    GrpTRES=gres/gpu=100(18)
    GrpTRESMins=gres/gpu=N(3)
    GrpTRESRunMins=gres/gpu=N(1076)
    MaxWallPJ=60
    MaxTRESPJ=cpu=8
    MaxTRESPN=
    MaxTRESMinsPJ=
    MinPrioThresh= 
    MinTRESPJ=cpu=2
    PreemptMode=OFF
    Priority=100
    Account Limits
      t1_p01
        MaxJobsPA=N(2) MaxJobsAccruePA=N(1) MaxSubmitJobsPA=9(3)
        MaxTRESPA=gres/gpu=N(2)
    User Limits
      alice(5101)
        MaxJobsPU=N(2) MaxJobsAccruePU=N(1) MaxSubmitJobsPU=N(3)
        MaxTRESPU=gres/gpu=16(2)
      5102
        MaxJobsPU=1(0) MaxJobsAccruePU=N(1) MaxSubmitJobsPU=N(1)
        MaxTRESPU=gres/gpu=16(0)
`;

test("limit and use of an association and of a QOS; a comment cannot pass for a limit", () => {
  expect(readAssociationManager(text)).toEqual({
    facts: {
      associations: [
        {
          id: 8,
          cluster: "c",
          account: "t1_p01",
          user: "alice",
          userId: 5101,
          partition: "gpu",
          parentAccount: null,
          group: {
            tres: [
              { tres: "cpu", limit: null, used: 8 },
              { tres: "mem", limit: 1024, used: 512 },
              { tres: "gres/gpu", limit: 2, used: 2 },
            ],
            tresMins: [{ tres: "gres/gpu", limit: 60_000, used: 10 }],
            tresRunMins: [{ tres: "gres/gpu", limit: null, used: 120 }],
            jobs: { limit: 5, used: 2 },
            submitJobs: { limit: null, used: 3 },
            wallMinutes: { limit: 100, used: 0.37 },
          },
          perJob: {
            maxTres: { "gres/gpu": 4 },
            maxTresPerNode: {},
            maxTresMins: {},
            maxWallMinutes: 2880,
            minTres: {},
          },
          maxJobs: { limit: 3, used: 2 },
          maxSubmitJobs: { limit: 4, used: null },
          usageRaw: 12.5,
        },
      ],
      qos: [
        {
          id: 3,
          name: "own",
          group: {
            tres: [{ tres: "gres/gpu", limit: 100, used: 18 }],
            tresMins: [{ tres: "gres/gpu", limit: null, used: 3 }],
            tresRunMins: [{ tres: "gres/gpu", limit: null, used: 1076 }],
            jobs: { limit: null, used: 3 },
            submitJobs: { limit: null, used: 5 },
            wallMinutes: { limit: null, used: 0.55 },
          },
          perJob: { maxTres: { cpu: 8 }, maxTresPerNode: {}, maxTresMins: {}, maxWallMinutes: 60, minTres: { cpu: 2 } },
          perAccount: [
            {
              name: "t1_p01",
              userId: null,
              tres: [{ tres: "gres/gpu", limit: null, used: 2 }],
              tresRunMins: [],
              jobs: { limit: null, used: 2 },
              submitJobs: { limit: 9, used: 3 },
            },
          ],
          perUser: [
            {
              name: "alice",
              userId: 5101,
              tres: [{ tres: "gres/gpu", limit: 16, used: 2 }],
              tresRunMins: [],
              jobs: { limit: null, used: 2 },
              submitJobs: { limit: null, used: 3 },
            },
            {
              name: null,
              userId: 5102,
              tres: [{ tres: "gres/gpu", limit: 16, used: 0 }],
              tresRunMins: [],
              jobs: { limit: 1, used: 0 },
              submitJobs: { limit: null, used: 1 },
            },
          ],
        },
      ],
    },
    unread: [],
  });
});

test("an error in its place is listed, and nothing is taken for it", () => {
  const answer = "slurm_load_assoc_mgr_info error: Unable to contact slurm controller (connect failure)\n";
  const { facts, unread } = readAssociationManager(answer);
  expect(facts).toEqual({ associations: [], qos: [] });
  expect(unread.map(({ raw }) => raw)).toEqual([answer.trim(), ""]);
});

test("cut or damaged at any place, it does not throw, and every record that is left is listed or read", () => {
  fc.assert(
    fc.property(fc.nat(text.length), fc.string({ maxLength: 8 }), (at, noise) => {
      readAssociationManager(text.slice(0, at) + noise);
      readAssociationManager(text.slice(0, at) + noise + text.slice(at + noise.length));
    }),
    { numRuns: 300 },
  );
});

describe.skipIf(!hasSamples)("the lab cluster, seven releases", () => {
  test("who has what, and how much of it is used", () => {
    for (const release of labReleases) {
      const { facts, unread } = readAssociationManager(sampleText(`lab/${release}/text/scontrol_assoc_mgr.txt`));
      const gpus = facts.associations
        .map(({ account, user, parentAccount, group }) => {
          const { limit, used } = limitOf(group.tres, "gres/gpu");
          return [account, user, parentAccount, limit, used];
        })
        .toSorted();
      expect([release, unread, gpus]).toEqual([
        release,
        [],
        [
          ["a_nlp", null, "tenant_a", null, 0],
          ["a_nlp", "lab_bob", null, null, 0],
          ["a_vision", null, "tenant_a", 4, 2],
          ["a_vision", "lab_alice", null, 2, 2],
          ["b_llm", null, "tenant_b", null, 16],
          ["b_llm", "lab_carol", null, null, 16],
          ["b_llm", "lab_dave", null, null, 0],
          ["root", null, null, null, 18],
          ["root", "root", null, null, 0],
          ["tenant_a", null, "root", 8, 2],
          ["tenant_b", null, "root", 16, 16],
        ],
      ]);
      expect(facts.qos.map(({ name, perUser }) => [name, perUser.map(({ userId }) => userId)])).toEqual([
        ["normal", []],
        ["owned", [5101, 5102, 5103]],
        ["borrow", []],
      ]);
    }
  });
});
