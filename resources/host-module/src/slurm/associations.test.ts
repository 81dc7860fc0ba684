import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Association, overriddenTres, type Qos } from "./associations.ts";
import { readAccountsJson, readAssociationsJson, readQosJson, readUsersJson } from "./associations-json.ts";
import { readAccounts, readAssociations, readQos, readUsers } from "./associations-text.ts";
import { hasSamples, jsonReleases, labReleases, sample, samplesLike, sampleText } from "./testing/samples.ts";

const header =
  "Cluster|Account|User|Partition|ParentName|Share|Priority|GrpJobs|GrpTRES|GrpTRESMins|GrpTRESRunMins|GrpSubmit|GrpWall|MaxJobs|MaxTRES|MaxTRESPerNode|MaxTRESMins|MaxSubmit|MaxWall|QOS|Def QOS";

const noLimits = {
  grpTres: {},
  grpTresMins: {},
  grpTresRunMins: {},
  grpJobs: null,
  grpSubmitJobs: null,
  grpWallMinutes: null,
  maxTres: {},
  maxTresPerNode: {},
  maxTresMins: {},
  maxWallMinutes: null,
  maxJobs: null,
  maxSubmitJobs: null,
};

test("a project's row and a person's row, with the limits in one unit", () => {
  const text = [
    header,
    "c|t1_p01|||t1|parent|5|0|gres/gpu:a100=3,gres/gpu=4,mem=1000G|gres/gpu=60000||7|01:40:00|3|cpu=2||||2-00:00:00|b,a|a",
    "c|t1_p01|alice|debug||1||||||||||||||a|",
  ].join("\n");
  expect(readAssociations(text)).toEqual({
    facts: [
      {
        id: null,
        cluster: "c",
        account: "t1_p01",
        user: null,
        partition: null,
        parentAccount: "t1",
        shares: "parent",
        priority: 5,
        qos: ["a", "b"],
        defaultQos: "a",
        limits: {
          ...noLimits,
          grpJobs: 0,
          grpTres: { "gres/gpu:a100": 3, "gres/gpu": 4, mem: 1_024_000 },
          grpTresMins: { "gres/gpu": 60_000 },
          grpSubmitJobs: 7,
          grpWallMinutes: 100,
          maxJobs: 3,
          maxTres: { cpu: 2 },
          maxWallMinutes: 2880,
        },
      },
      {
        id: null,
        cluster: "c",
        account: "t1_p01",
        user: "alice",
        partition: "debug",
        parentAccount: null,
        shares: 1,
        priority: null,
        qos: ["a"],
        defaultQos: null,
        limits: noLimits,
      },
    ],
    unread: [],
  });
});

test("columns may come in any order, with a `|` at the end, or without header", () => {
  const facts = { account: "p", cluster: "c", user: "u" };
  const named = readAssociations("User|Account|Cluster|\nu|p|c|\n").facts;
  const given = readAssociations("p|u|c\n", { columns: ["account", "user", "cluster"] }).facts;
  expect(named).toEqual([expect.objectContaining(facts)]);
  // A name that ends in `|`, or holds one before an empty cell, is not taken for the end of the line.
  expect(readAssociations("Cluster|Account|User\nc|t1|\nc|a|b|\n").facts.map(({ account }) => account)).toEqual(["t1"]);
  expect(given).toEqual(named);
});

test("what cannot be read is listed with its place, and the rest stands", () => {
  const text =
    "sacctmgr: error: slow\nCluster|Account|User|GrpTRES|GrpJobs\nc|a|b||\nc|x|y|z|gpu|=2\nc|p||gres/gpu=abc,cpu=4|many\nc|cut\n";
  const { facts, unread } = readAssociations(text, { source: "show assoc" });
  expect(facts.map(({ account, limits }) => [account, limits.grpTres, limits.grpJobs])).toEqual([
    ["a", {}, null],
    ["p", { cpu: 4 }, null],
  ]);
  const source = "show assoc";
  expect(unread).toEqual([
    { source, field: "row", reason: "more values than columns: a name holds a '|'", raw: "c|x|y|z|gpu|=2" },
    { source, field: "row", reason: "fewer values than columns: the line is cut", raw: "c|cut" },
    { source, field: "associations[p].grpTres", reason: "not an amount of gres/gpu", raw: "abc" },
    { source, field: "associations[p].grpJobs", reason: "not a number", raw: "many" },
  ]);
});

test("text where JSON was asked for is no JSON, whatever the exit status", () => {
  expect(readAssociationsJson(`${header}\nc|p||||||||||||||||||||\n`)).toEqual({
    facts: null,
    unread: [expect.objectContaining({ field: "", reason: "not JSON: the command printed text" })],
  });
  expect(readAssociationsJson('{"associations": []}').facts).toBeNull();
});

test("no input makes a reader throw", () => {
  const readers = [readAssociations, readAccounts, readUsers, readQos];
  const jsonReaders = [readAssociationsJson, readAccountsJson, readUsersJson, readQosJson];
  const envelope = (value: unknown) =>
    JSON.stringify({ associations: value, accounts: value, users: value, qos: value, meta: { plugin: { type: "x" } } });
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (text, value) => {
      for (const read of readers) read(`Cluster|Account|User|Name\n${text}`);
      for (const read of jsonReaders) read(envelope(value));
      for (const read of jsonReaders)
        read(envelope([{ account: "a", cluster: "c", name: "n", max: value, limits: value }]));
    }),
    { numRuns: 200 },
  );
});

describe.skipIf(!hasSamples)("the lab cluster, seven releases", () => {
  const text = (release: string, name: string) => sampleText(`lab/${release}/text/${name}.txt`);
  const json = (release: string, name: string) => sampleText(`lab/${release}/json/${name}.json`);
  const withoutIds = (facts: readonly (Association | Qos)[] | null) => facts?.map((fact) => ({ ...fact, id: null }));

  test("associations: the same facts from text and JSON of every release", () => {
    const oldest = readAssociations(text("deb22.05", "sacctmgr_assoc_P"));
    expect(oldest.unread).toEqual([]);
    expect(oldest.facts.map(({ account, user, parentAccount }) => [account, user, parentAccount])).toEqual([
      ["root", null, null],
      ["root", "root", null],
      ["tenant_a", null, "root"],
      ["a_nlp", null, "tenant_a"],
      ["a_nlp", "lab_bob", null],
      ["a_vision", null, "tenant_a"],
      ["a_vision", "lab_alice", null],
      ["tenant_b", null, "root"],
      ["b_llm", null, "tenant_b"],
      ["b_llm", "lab_carol", null],
      ["b_llm", "lab_dave", null],
    ]);
    expect(oldest.facts[5]?.limits).toEqual({
      ...noLimits,
      grpTres: { "gres/gpu:a100_1g.5gb": 3, "gres/gpu": 4 },
      grpTresMins: { "gres/gpu": 60_000 },
      maxTres: { "gres/gpu": 4 },
      maxWallMinutes: 2880,
    });
    for (const release of labReleases) {
      expect(readAssociations(text(release, "sacctmgr_assoc_P"))).toEqual(oldest);
    }
    for (const release of jsonReleases) {
      const { facts, unread } = readAssociationsJson(json(release, "sacctmgr_assoc"));
      expect([release, withoutIds(facts), unread]).toEqual([release, withoutIds(oldest.facts), []]);
    }
  });

  test("association ids: an object, a number, and 24.11's 0, which is none", () => {
    const ids = jsonReleases.map((release) => [
      release,
      readAssociationsJson(json(release, "sacctmgr_assoc")).facts?.[2]?.id,
    ]);
    expect(ids).toEqual(jsonReleases.map((release) => [release, release === "24.11" ? null : 3]));
  });

  test("QOS: the same facts, apart from what older parsers do not print, which is listed", () => {
    const oldest = readQos(text("deb22.05", "sacctmgr_qos_P"));
    expect(oldest.unread).toEqual([]);
    expect(
      oldest.facts.map(({ name, flags, preempts, preemptExemptSeconds, usageFactor }) => [
        name,
        flags,
        preempts,
        preemptExemptSeconds,
        usageFactor,
      ]),
    ).toEqual([
      ["normal", [], [], null, 1],
      ["owned", ["DenyOnLimit"], ["borrow"], null, 1],
      ["borrow", [], [], 5, 0.25],
    ]);
    expect(oldest.facts.map((qos) => overriddenTres(qos))).toEqual([[], [], ["GrpTRES gres/gpu"]]);
    for (const release of labReleases) expect(readQos(text(release, "sacctmgr_qos_P"))).toEqual(oldest);
    for (const release of jsonReleases) {
      const { facts, unread } = readQosJson(json(release, "sacctmgr_qos"));
      const isOld = release === "23.11" || release === "24.05";
      const expected = oldest.facts.map((qos) =>
        isOld ? { ...qos, limits: { ...qos.limits, grpTresMins: null } } : qos,
      );
      expect([release, withoutIds(facts)]).toEqual([release, withoutIds(expected)]);
      expect(unread.map(({ field }) => field)).toEqual(
        isOld ? ["qos[].limits.grpTresMins", "qos[].limits.grpSubmitJobs"] : [],
      );
    }
  });

  test("users and accounts: the same facts", () => {
    const users = readUsers(text("deb22.05", "sacctmgr_user_P"));
    const accounts = readAccounts(text("deb22.05", "sacctmgr_account_coord"));
    expect(users.facts.at(-1)).toEqual({ name: "root", defaultAccount: "root", adminLevel: "administrator" });
    expect(accounts.facts.at(-1)).toEqual({
      name: "tenant_b",
      description: "tenant b",
      organization: "tenant_b",
      coordinators: ["lab_dave"],
    });
    expect([...users.unread, ...accounts.unread]).toEqual([]);
    const silent = accounts.facts.map((account) => ({ ...account, coordinators: null }));
    for (const release of labReleases) {
      expect(readUsers(text(release, "sacctmgr_user_P"))).toEqual(users);
      expect(readAccounts(text(release, "sacctmgr_account_coord"))).toEqual(accounts);
      expect(readAccounts(text(release, "sacctmgr_account_P")).facts).toEqual(silent);
    }
    for (const release of jsonReleases) {
      expect(readUsersJson(json(release, "sacctmgr_user"))).toEqual(users);
      expect(readAccountsJson(json(release, "sacctmgr_account"))).toEqual({ facts: silent, unread: [] });
    }
  });

  test("other sites: every association, account and QOS is read", () => {
    const read = samplesLike(/slurm-web\/.*(associations|accounts|slurm-qos)\.json$/).map((name) => {
      const bytes = sample(name);
      const all = [readAssociationsJson(bytes), readAccountsJson(bytes), readQosJson(bytes)];
      const counts = all.map(({ facts }) => facts?.length);
      return [name, counts, all.flatMap(({ unread }) => unread).filter(({ raw }) => !raw.startsWith("data_parser"))];
    });
    expect(read).toEqual([
      ["slurm-web/24.05-dp0.0.41/slurm-accounts.json", [0, 7, 0], []],
      ["slurm-web/24.05-dp0.0.41/slurm-qos.json", [0, 0, 2], []],
      ["slurm-web/24.05-dp0.0.41/slurmdb-associations.json", [18, 0, 0], []],
      ["slurm-web/24.11-dp0.0.42/slurm-accounts.json", [0, 7, 0], []],
      ["slurm-web/24.11-dp0.0.42/slurm-qos.json", [0, 0, 1], []],
      ["slurm-web/24.11-dp0.0.42/slurmdb-associations.json", [18, 0, 0], []],
      ["slurm-web/25.11-dp0.0.41/slurm-qos.json", [0, 0, 2], []],
      ["slurm-web/25.11-dp0.0.41/slurmdb-associations.json", [18, 0, 0], []],
      ["slurm-web/25.11-dp0.0.44/slurm-accounts.json", [0, 7, 0], []],
      ["slurm-web/25.11-dp0.0.44/slurm-qos.json", [0, 0, 2], []],
      ["slurm-web/25.11-dp0.0.44/slurmdb-associations.json", [18, 0, 0], []],
    ]);
  });
});
