import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ConfigValues,
  readConfig,
  readConfigFile,
  readConfigJson,
  type SlurmSettings,
  settingsOf,
} from "./config.ts";
import { checkSlurm } from "./doctor.ts";
import { hasSamples, labReleases, sample, sampleText } from "./testing/samples.ts";
import { capabilities, readVersion } from "./version.ts";

const newest = capabilities(readVersion("slurm 26.05.3").facts);

/** Everything as it should be. */
const good: SlurmSettings = {
  cluster: "c",
  release: "26.05.3",
  accountingStorageType: "accounting_storage/slurmdbd",
  enforce: ["associations", "limits", "qos", "safe"],
  trackedTres: ["cpu", "mem", "billing", "gres/gpu", "gres/gpu:a100", "gres/vram"],
  gresTypes: ["gpu", "vram"],
  selectType: "select/cons_tres",
  selectTypeParameters: ["CR_CORE_MEMORY"],
  priorityType: "priority/multifactor",
  usageResetPeriod: "NONE",
  decayHalfLifeSeconds: 18_250 * 86_400,
  privateData: ["accounts", "jobs", "reservations", "usage", "users"],
  dbdPrivateData: ["accounts", "jobs", "reservations", "usage", "users"],
  resvOverRunMinutes: "unlimited",
  jobSubmitPlugins: ["lua"],
  proctrackType: "proctrack/cgroup",
  taskPlugins: ["affinity", "cgroup"],
  jobAcctGatherType: "jobacct_gather/cgroup",
  constrainDevices: true,
};

test("sections of slurmctld, of control groups and of slurmdbd; passwords are left out", () => {
  const text = `Configuration data as of 2026-12-02T18:39:43
AccountingStorageEnforce = limits,safe
AccountingStoragePass   = hunter2
AccountingStorageTRES   = cpu,mem,gres/gpu
PrivateData             = none
ResvOverRun             = 0 min
TaskPlugin              = task/affinity,task/cgroup
JobSubmitPlugins        = (null)

Cgroup Support Configuration:
ConstrainDevices        = yes

MPI Plugins Configuration:
PMIxDebug               = 0

SlurmDBD configuration:
PrivateData             = users,jobs
StoragePass             = hunter2

Slurmctld(primary) at vm is UP
`;
  const read = readConfig(text);
  expect(read.unread).toEqual([]);
  expect(JSON.stringify([...read.facts.slurm, ...(read.facts.slurmdbd ?? [])])).not.toContain("hunter2");
  expect(settingsOf(read.facts)).toEqual({
    facts: {
      cluster: null,
      release: null,
      accountingStorageType: null,
      enforce: ["associations", "limits", "safe"],
      trackedTres: ["cpu", "mem", "gres/gpu"],
      gresTypes: [],
      selectType: null,
      selectTypeParameters: [],
      priorityType: null,
      usageResetPeriod: null,
      decayHalfLifeSeconds: null,
      privateData: [],
      dbdPrivateData: ["users", "jobs"],
      resvOverRunMinutes: 0,
      jobSubmitPlugins: [],
      proctrackType: null,
      taskPlugins: ["affinity", "cgroup"],
      jobAcctGatherType: null,
      constrainDevices: true,
    },
    unread: [],
  });
});

test("files: comments, continued lines, quotes, nodes that are no settings, files that were not read", () => {
  const text =
    '# a comment\nClusterName=c # behind\nPrivateData=jobs,\\\n  users\nNodeName=n[1-4] Gres=gpu:4\nMailProg="/bin/mail x"\nStoragePass=hunter2\nInclude /etc/slurm/more.conf\nnonsense\nprivatedata=accounts\n';
  const { facts, unread } = readConfigFile(text, { source: "slurm.conf" });
  expect(Object.fromEntries(facts)).toEqual({ clustername: "c", privatedata: "accounts", mailprog: "/bin/mail x" });
  expect(unread.map(({ field, raw }) => [field, raw])).toEqual([
    ["Include", "Include /etc/slurm/more.conf"],
    ["", "nonsense"],
  ]);
});

test("no input makes them throw", () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (text, value) => {
      settingsOf(readConfig(`A = b\n${text}`).facts);
      readConfigFile(text);
      const meta = { plugin: { type: "x" } };
      const { facts } = readConfigJson(
        JSON.stringify({ slurm_conf: { PrivateData: value, ResvOverRun: value }, meta }),
      );
      if (facts !== null) settingsOf(facts);
    }),
  );
});

test("a cluster that is set up as it should be: no finding but ok, and every quota holds", () => {
  const { findings, quotas } = checkSlurm(good, newest, ["a100", "pad"]);
  expect(findings.filter(({ level }) => level !== "ok")).toEqual([]);
  expect(quotas.map(({ quota, enforced }) => [quota, enforced])).toEqual([
    ["gpu-cards", true],
    ["gpu-types", true],
    ["gpu-memory", true],
    ["cpu-cores", true],
    ["memory", true],
    ["card-hours", true],
    ["billing", true],
  ]);
});

describe("one fault at a time: the finding, the line to write, and the quotas that do not hold", () => {
  const all = ["gpu-cards", "gpu-types", "gpu-memory", "cpu-cores", "memory", "card-hours", "billing"];
  const cases: readonly (readonly [
    string,
    Partial<SlurmSettings>,
    string,
    "warning" | "problem",
    string,
    readonly string[],
  ])[] = [
    [
      "no slurmdbd",
      { accountingStorageType: null },
      "accounting",
      "problem",
      "slurm.conf: AccountingStorageType=accounting_storage/slurmdbd",
      all,
    ],
    [
      "nothing enforced",
      { enforce: [] },
      "enforcement",
      "problem",
      "slurm.conf: AccountingStorageEnforce=associations,limits,qos,safe",
      all,
    ],
    [
      "not safe",
      { enforce: ["associations", "limits", "qos"] },
      "enforcement",
      "warning",
      "slurm.conf: AccountingStorageEnforce=associations,limits,qos,safe",
      ["card-hours"],
    ],
    [
      "any QOS goes",
      { enforce: ["associations", "limits", "safe", "wckeys"] },
      "enforcement",
      "problem",
      "slurm.conf: AccountingStorageEnforce=associations,limits,safe,wckeys,qos",
      all,
    ],
    [
      "GPUs not tracked",
      { trackedTres: ["cpu", "mem", "gres/vram"] },
      "tracked resources",
      "problem",
      "slurm.conf: AccountingStorageTRES=gres/vram,gres/gpu,gres/gpu:a100",
      ["gpu-cards", "gpu-types", "card-hours"],
    ],
    [
      "a type not tracked",
      { trackedTres: ["gres/gpu", "gres/vram"] },
      "tracked resources",
      "warning",
      "slurm.conf: AccountingStorageTRES=gres/gpu,gres/vram,gres/gpu:a100",
      ["gpu-types"],
    ],
    [
      "pads tracked",
      { trackedTres: ["gres/gpu", "gres/gpu:a100", "gres/gpu:pad", "gres/vram"] },
      "tracked resources",
      "warning",
      "slurm.conf: AccountingStorageTRES=gres/gpu,gres/gpu:a100,gres/vram",
      [],
    ],
    [
      "whole nodes",
      { selectType: "select/linear" },
      "selection",
      "problem",
      "slurm.conf: SelectType=select/cons_tres",
      ["gpu-cards", "gpu-types", "card-hours"],
    ],
    [
      "memory not given out",
      { selectTypeParameters: ["CR_CORE"] },
      "selection",
      "warning",
      "slurm.conf: SelectTypeParameters=CR_Core_Memory",
      ["memory"],
    ],
    [
      "basic priority",
      { priorityType: "priority/basic" },
      "priority",
      "problem",
      "slurm.conf: PriorityType=priority/multifactor",
      ["card-hours"],
    ],
    [
      "use fades",
      { decayHalfLifeSeconds: 604_800 },
      "decay",
      "warning",
      "slurm.conf: PriorityDecayHalfLife=18250-0",
      ["card-hours"],
    ],
    [
      "reset by Slurm",
      { usageResetPeriod: "MONTHLY" },
      "reset",
      "warning",
      "slurm.conf: PriorityUsageResetPeriod=NONE",
      ["card-hours"],
    ],
    [
      "untyped requests",
      { jobSubmitPlugins: ["throttle"] },
      "submission",
      "warning",
      "slurm.conf: JobSubmitPlugins=throttle,lua",
      ["gpu-types", "gpu-memory"],
    ],
    [
      "open",
      { privateData: ["jobs"] },
      "privacy",
      "problem",
      "slurm.conf: PrivateData=accounts,jobs,reservations,usage,users",
      [],
    ],
    [
      "open database",
      { dbdPrivateData: [] },
      "privacy in the database",
      "problem",
      "slurmdbd.conf: PrivateData=accounts,jobs,reservations,usage,users",
      [],
    ],
    [
      "jobs end with their reservation",
      { resvOverRunMinutes: 0 },
      "reservations",
      "warning",
      "slurm.conf: ResvOverRun=UNLIMITED",
      [],
    ],
    [
      "processes escape",
      { proctrackType: "proctrack/linuxproc" },
      "job containment",
      "problem",
      "slurm.conf: ProctrackType=proctrack/cgroup",
      [],
    ],
    [
      "tasks not contained",
      { taskPlugins: ["affinity"] },
      "job containment",
      "problem",
      "slurm.conf: TaskPlugin=task/affinity,task/cgroup",
      [],
    ],
    ["every GPU is open", { constrainDevices: false }, "devices", "problem", "cgroup.conf: ConstrainDevices=yes", []],
    ["devices not known", { constrainDevices: null }, "devices", "warning", "cgroup.conf: ConstrainDevices=yes", []],
    [
      "not measured",
      { jobAcctGatherType: null },
      "measuring",
      "warning",
      "slurm.conf: JobAcctGatherType=jobacct_gather/cgroup",
      [],
    ],
  ];
  test.each(cases)("%s", (_, fault, check, level, line, broken) => {
    const { findings, quotas } = checkSlurm({ ...good, ...fault }, newest, ["a100"]);
    const wrong = findings.filter((finding) => finding.level !== "ok");
    expect(wrong.map((finding) => [finding.check, finding.level])).toEqual([[check, level]]);
    expect(wrong[0]?.remedy).toContain(`In ${line}. `);
    expect(`${wrong[0]?.change?.file}: ${wrong[0]?.change?.key}=${wrong[0]?.change?.value}`).toBe(line);
    expect(quotas.filter(({ enforced }) => !enforced).map(({ quota }) => quota)).toEqual(broken);
  });
});

test("no decay at all needs a reset by Slurm: a configuration without either is never advised", () => {
  const { findings, quotas } = checkSlurm({ ...good, decayHalfLifeSeconds: 0, usageResetPeriod: "MONTHLY" }, newest);
  expect(findings.flatMap(({ level, remedy }) => (level === "ok" ? [] : [remedy]))).toEqual([
    "In slurm.conf: PriorityDecayHalfLife=18250-0. Restart slurmctld.",
    "In slurm.conf: PriorityUsageResetPeriod=NONE. With PriorityDecayHalfLife=18250-0. Restart slurmctld.",
  ]);
  expect(quotas.find(({ quota }) => quota === "card-hours")?.enforced).toBe(false);
});

test("an old release does not enforce billing, an unknown one is not trusted, and both are said", () => {
  const check = (words: string) => {
    const { findings, quotas } = checkSlurm(good, capabilities(readVersion(words).facts), ["a100"]);
    return [findings.find((finding) => finding.check === "version")?.level, quotas.filter(({ enforced }) => !enforced)];
  };
  const because = "Releases before 24.11 accept a limit on billing and do not enforce it.";
  expect(check("slurm-wlm 22.05.8")).toEqual([undefined, [{ quota: "billing", enforced: false, because }]]);
  expect(check("slurm 31.05.0")).toEqual(["warning", []]);
  expect(check("no version")).toEqual(["warning", [{ quota: "billing", enforced: false, because }]]);
});

describe.skipIf(!hasSamples)("the lab cluster, seven releases", () => {
  const settings = (slurm: ConfigValues) => settingsOf({ slurm, cgroup: null, slurmdbd: null });

  test("the settings are the same in every release, and JSON of the newest tells the same", () => {
    for (const release of labReleases) {
      const { facts, unread } = readConfig(sampleText(`lab/${release}/text/scontrol_config.txt`));
      expect([release, unread]).toEqual([release, []]);
      const read = settings(facts.slurm);
      expect(read.unread).toEqual([]);
      expect(read.facts).toMatchObject({
        cluster: "lab",
        enforce: ["associations", "limits", "qos", "safe"],
        selectType: "select/cons_tres",
        selectTypeParameters: ["CR_CORE_MEMORY"],
        priorityType: "priority/multifactor",
        usageResetPeriod: "NONE",
        decayHalfLifeSeconds: 604_800,
        privateData: [],
        resvOverRunMinutes: 0,
        jobSubmitPlugins: [],
        proctrackType: "proctrack/linuxproc",
        taskPlugins: [],
        jobAcctGatherType: "jobacct_gather/linux",
      });
      expect(read.facts.trackedTres).toContain("gres/gpu:a100_1g.5gb");
    }
    const text = settings(readConfig(sampleText("lab/26.05/text/scontrol_config.txt")).facts.slurm);
    const json = readConfigJson(sampleText("lab/26.05/json/scontrol_config.json"));
    expect(json.unread).toEqual([]);
    expect(json.facts === null ? null : settings(json.facts.slurm)).toEqual(text);
  });

  test("text where JSON was asked for, exit status 0", () => {
    expect(readConfigJson(sample("lab/25.11/text/scontrol_config.txt")).facts).toBeNull();
  });

  test("what to change there, and which quota holds", () => {
    const read = readConfig(sampleText("lab/deb22.05/text/scontrol_config.txt")).facts;
    const { findings, quotas } = checkSlurm(
      settingsOf(read).facts,
      capabilities(readVersion("slurm-wlm 22.05.8").facts),
      ["a100", "a100_1g.5gb"],
    );
    expect(findings.filter(({ level }) => level !== "ok").map(({ check, level }) => [check, level])).toEqual([
      ["decay", "warning"],
      ["submission", "warning"],
      ["privacy", "problem"],
      ["privacy in the database", "warning"],
      ["reservations", "warning"],
      ["job containment", "problem"],
      ["devices", "warning"],
      ["measuring", "warning"],
    ]);
    expect(quotas.map(({ quota, enforced }) => [quota, enforced])).toEqual([
      ["gpu-cards", true],
      ["gpu-types", false],
      ["gpu-memory", false],
      ["cpu-cores", true],
      ["memory", true],
      ["card-hours", false],
      ["billing", false],
    ]);
  });

  test("files of other sites", () => {
    const slurmdbd = readConfigFile(sample("slurm-mail/slurmdbd.conf"));
    const slurm = readConfigFile(sample("slurm-mail/slurm.21.conf"));
    expect([...slurmdbd.facts.keys()]).not.toContain("storagepass");
    expect(slurmdbd.unread).toEqual([]);
    expect(slurm.unread.map(({ field }) => field)).toEqual(["Include", "Include"]);
    expect(settings(slurm.facts).facts).toMatchObject({
      cluster: "test",
      enforce: [],
      privateData: [],
      taskPlugins: [],
    });
  });
});
