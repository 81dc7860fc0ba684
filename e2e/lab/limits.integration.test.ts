/** Limits hold in a real Slurm: what is asked for is counted by job_submit.lua, and each level holds jobs back. */
import { Buffer } from "node:buffer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { realFiles } from "../../resources/host-module/src/operating-system/files.ts";
import { countedConfiguration, gpuTypeFacts } from "../../resources/host-module/src/slurm/job-submit/configuration.ts";
import {
  installJobSubmit,
  installScript,
  jobSubmitState,
  removeJobSubmit,
} from "../../resources/host-module/src/slurm/job-submit/install.ts";
import { jobSubmitIdentity, jobSubmitLua } from "../../resources/host-module/src/slurm/job-submit/script.ts";
import { SlurmReader } from "../../resources/host-module/src/slurm/reader.ts";
import { explainWait } from "../../resources/host-module/src/slurm/wait-reason.ts";
import type { System } from "../../resources/host-module/src/system.ts";
import { countedCards } from "./gres.ts";
import { SlurmLab } from "./slurm.ts";
import { slurmLabMissing } from "./slurm-missing.ts";
import { makeTenant } from "./tenants.ts";

const missing = slurmLabMissing();

const foreign =
  "function slurm_job_submit() return slurm.SUCCESS end\nfunction slurm_job_modify() return slurm.SUCCESS end\nreturn slurm.SUCCESS\n";

/** Of each kind of limit: set so that the first job fits and the second does not. */
const kinds = [
  { limit: "gres/cardshare=56", argv: ["--gres=gpu:h100:1"], reason: "AssocGrpGRES", tres: "gres/cardshare" },
  {
    limit: "gres/vram=60",
    argv: ["--gres=gpu:h100_3g.40gb:1"],
    next: ["--gres=gpu:h100_2g.20gb:1", "--gres=gpu:h100_1g.10gb:1"],
    reason: "AssocGrpGRES",
    tres: "gres/vram",
  },
  { limit: "gres/gpu:h100=1", argv: ["--gpus=h100:1"], reason: "AssocGrpGRES", tres: "gres/gpu:h100" },
  { limit: "cpu=2", argv: ["--cpus-per-task=2"], reason: "AssocGrpCpuLimit", tres: "cpu" },
  { limit: "mem=1000M", argv: ["--mem=800M"], reason: "AssocGrpMemLimit", tres: "mem" },
] as const;

const levels = [
  { level: "tenant", target: ["account", "t1"], where: [] },
  { level: "project", target: ["account", "t1_p01"], where: [] },
  { level: "person", target: ["user", "alice"], where: ["account=t1_p01"] },
] as const;

describe.skipIf(missing !== null)(`limits in Slurm${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  let lab: SlurmLab;
  let system: System;
  const facts = () => ({ types: gpuTypeFacts(lab.hosts.flatMap((host) => countedCards(host.gpus()))) });

  beforeAll(async () => {
    lab = await SlurmLab.start({ people: ["alice"], jobSubmit: foreign });
    await makeTenant(lab, { id: "t1", projects: { t1_p01: ["alice"] } });
    system = systemOf(lab);
    await installJobSubmit(system, facts(), { takeOver: true });
  }, 180_000);

  afterAll(async () => {
    await lab?.[Symbol.asyncDispose]();
  });

  const submit = (...argv: readonly string[]) => lab.submit(lab.person("alice"), argv);
  const refusal = async (...argv: readonly string[]) => {
    const { status, stderr } = await lab.run(["sbatch", "--output=/dev/null", ...argv, "--wrap=true"], {
      as: lab.person("alice"),
    });
    return status === 0 ? "accepted" : stderr.split("\n")[0]?.replace(/^sbatch: error: /, "");
  };
  const setLimit = (target: readonly string[], where: readonly string[], limit: string) =>
    lab.sacctmgr("modify", target[0] ?? "", "where", `name=${target[1]}`, ...where, "set", limit);

  async function explained(id: number) {
    const reader = new SlurmReader(system);
    const [jobs, manager] = await Promise.all([reader.jobs(), reader.associationManager()]);
    const job = jobs.facts?.find((each) => each.id === id);
    if (job === undefined || manager.facts === null) throw new Error(`job ${id} or the limits cannot be read`);
    const explanation = explainWait({ job, manager: manager.facts });
    if (explanation.kind !== "limit") throw new Error(`job ${id} waits for no limit`);
    return explanation.blocks.map(({ level, tres }) => `${level.kind} ${tres}`);
  }

  test("the script in force is the installed one, and slurm.conf and gres.conf are as the generator says", async () => {
    expect(await jobSubmitState(system)).toMatchObject({
      script: "ours",
      installed: jobSubmitIdentity(facts()),
      inForce: jobSubmitIdentity(facts()),
      configured: true,
    });
    const nodes = lab.hosts.map((host) => ({ name: host.name, cards: countedCards(host.gpus()) }));
    const written = new Set((await lab.expect(["cat", "/etc/slurm/gres.conf"])).split("\n"));
    const wanted = countedConfiguration(nodes, []).filter(({ file }) => file === "gres.conf");
    expect(wanted.length).toBe(4);
    expect(wanted.filter(({ text }) => !written.has(text))).toEqual([]);
  });

  test.each(levels.flatMap((level) => kinds.map((kind) => ({ ...level, ...kind }))))(
    "$level: $limit holds the job over it back with $reason until the first ends",
    async ({ level, target, where, limit, argv, reason, tres, ...more }) => {
      const name = limit.slice(0, limit.lastIndexOf("="));
      await setLimit(target, where, `GrpTRES=${limit}`);
      const first = await submit(...argv);
      await lab.waitForJob(first, { state: "RUNNING" });
      const next = "next" in more ? more.next : undefined;
      const fits = next === undefined ? [] : [await submit(next[0])];
      for (const id of fits) await lab.waitForJob(id, { state: "RUNNING" });
      const over = await submit(...(next === undefined ? argv : [next[1]]));
      await lab.waitForJob(over, { state: "PENDING", reason });
      expect(await explained(over)).toEqual([`${level} ${tres}`]);
      await lab.cancel(first, ...fits);
      await lab.waitForJob(over, { state: "RUNNING" });
      await lab.cancel(over);
      await setLimit(target, where, `GrpTRES=${name}=-1`);
    },
    90_000,
  );

  test("what is counted is multiplied as the GPUs are: by node, by task, by job", async () => {
    const counted = async (...argv: readonly string[]) => {
      const id = await submit(...argv);
      const { fields } = await lab.waitForJob(id, { state: "RUNNING" });
      const tres = new Map(
        (fields.AllocTRES ?? fields.TRES ?? "").split(",").map((word) => word.split("=") as [string, string]),
      );
      await lab.cancel(id);
      return ["gres/gpu", "gres/cardshare", "gres/vram"].map((key) => tres.get(key) ?? "0").join(" ");
    };
    expect({
      node: await counted("--gres=gpu:h100:1"),
      slice: await counted("--gres=gpu:h100_3g.40gb:1"),
      nodes: await counted("--nodes=2", "--gpus-per-node=h100:1"),
      tasks: await counted("--ntasks=2", "--gpus-per-task=h100:1"),
      job: await counted("--gpus=h100:2"),
      both: await counted("--nodes=2", "--gpus=h100:2", "--gpus-per-node=h100:1"),
      mixed: await counted("--gres=gpu:h100_2g.20gb:1,gpu:h100_1g.10gb:2"),
    }).toEqual({
      node: "1 56 80",
      slice: "1 28 40",
      nodes: "2 112 160",
      tasks: "2 112 160",
      job: "2 112 160",
      both: "2 112 160",
      mixed: "3 32 40",
    });
  }, 60_000);

  test("every way to ask without a known type is refused with a sentence that names the types", async () => {
    const untyped = ["--gres=gpu:1", "--gres=gpu", "--gpus=1", "--gpus-per-node=1", "--gpus-per-task=1"];
    for (const way of untyped) {
      expect([way, await refusal("--ntasks=1", way)]).toEqual([
        way,
        expect.stringMatching(/^Name the type of GPU, as in --gres=gpu:TYPE:1\. There are: h100, /),
      ]);
    }
    expect(await refusal("--ntasks=1", "--sockets-per-node=1", "--gpus-per-socket=1")).toMatch(/^Name the type of GPU/);
    for (const type of ["pad", "b300"]) {
      expect(await refusal(`--gres=gpu:${type}:1`)).toMatch(`There is no GPU of type ${type}. There are: h100, `);
    }
  });

  test("counted resources cannot be asked for", async () => {
    for (const name of ["vram", "cardshare"]) {
      expect(await refusal("--gres", `gpu:h100:1,${name}:1`)).toBe(
        `${name} is counted from the GPUs that a job asks for, and cannot be asked for.`,
      );
    }
  });

  test.each(["gres/cardshare=100", "gres/vram=100", "gres/gpu:h100=1"])(
    "a whole node comes under %s, although the job names no GPU",
    async (limit) => {
      await setLimit(["account", "t1"], [], `GrpTRES=${limit}`);
      const whole = await submit("--exclusive", "--nodelist=g2");
      await lab.waitForJob(whole, { state: "PENDING", reason: "AssocGrpGRES" });
      await setLimit(["account", "t1"], [], `GrpTRES=${limit.slice(0, limit.lastIndexOf("="))}=-1`);
      await lab.waitForJob(whole, { state: "RUNNING" });
      await lab.cancel(whole);
    },
    60_000,
  );

  test("a job's GPUs cannot be changed after submission; other things can", async () => {
    const id = await submit("--hold", "--gres=gpu:h100:1");
    const update = (setting: string) =>
      lab.run(["scontrol", "update", `JobId=${id}`, setting], { as: lab.person("alice") });
    const before = (await lab.job(id)).fields.TresPerNode;
    expect(before).toMatch(/gpu:h100:1,/);
    for (const setting of ["Gres=gpu:h100:2", "TresPerNode=gpu:h100:2"]) {
      const { status, stderr } = await update(setting);
      // 22.05 keeps the sentence to slurmctld's log when a job is changed.
      expect([setting, status, stderr]).toEqual([
        setting,
        1,
        expect.stringMatching(/The GPUs of a job cannot be changed|^Unspecified error for job/),
      ]);
    }
    expect((await update("Comment=later")).status).toBe(0);
    expect((await lab.job(id)).fields.TresPerNode).toBe(before);
    await lab.cancel(id);
  });

  test("a used-up limit on minutes blocks with AssocGrpGRESMinutes", async () => {
    await setLimit(["account", "t1"], [], "GrpTRESMins=gres/cardshare=1000");
    // 56 units for 20 minutes are 1120.
    const over = await submit("--gres=gpu:h100:1", "--time=20");
    await lab.waitForJob(over, { state: "PENDING", reason: "AssocGrpGRESMinutes" });
    expect(await explained(over)).toEqual(["tenant gres/cardshare"]);
    const fits = await submit("--gres=gpu:h100:1", "--time=10");
    await lab.waitForJob(fits, { state: "RUNNING" });
    await lab.cancel(fits, over);
    // Two seconds of a card are enough to use this one up.
    await setLimit(["account", "t1"], [], "GrpTRESMins=gres/cardshare=1");
    const late = await submit("--gres=gpu:h100_1g.10gb:1", "--time=1");
    await lab.waitForJob(late, { state: "PENDING", reason: "AssocGrpGRESMinutes" });
    const { facts: manager } = await new SlurmReader(system).associationManager();
    const tenant = manager?.associations.find(({ account, user }) => account === "t1" && user === null);
    expect(tenant?.group.tresMins.find(({ tres }) => tres === "gres/cardshare")?.used).toBeGreaterThanOrEqual(1);
    await lab.cancel(late);
    await setLimit(["account", "t1"], [], "GrpTRESMins=gres/cardshare=-1");
  }, 60_000);

  test("a broken script is taken back, and the last good one stays in force, also after a restart", async () => {
    const header = jobSubmitLua({ types: [] }).split("\n", 1)[0] ?? "";
    const file = () => lab.expect(["cat", "/etc/slurm/job_submit.lua"]);
    const before = await file();
    for (const broken of ["function slurm_job_submit(", "error('not today')", "return slurm.SUCCESS"]) {
      await expect(installScript(system, `${header}\n${broken}\n`)).rejects.toMatchObject({ code: "unreadable" });
      expect(await file()).toBe(before);
      expect((await jobSubmitState(system)).inForce).toBe(jobSubmitIdentity(facts()));
    }
    await lab.slurmctld.restart();
    expect(await refusal("--gres=gpu:1")).toMatch(/^Name the type of GPU/);
  }, 90_000);

  test("a script of somebody else is not overwritten untold, and removal brings it and plain submission back", async () => {
    await removeJobSubmit(system);
    expect(await lab.expect(["cat", "/etc/slurm/job_submit.lua"])).toBe(foreign);
    await expect(installJobSubmit(system, facts())).rejects.toMatchObject({ code: "conflict" });
    expect(await refusal("--gres=gpu:1")).toBe("accepted");
    expect((await jobSubmitState(system)).inForce).toBeNull();
  }, 60_000);
});

/** The control host as the module sees it when it runs there as root. */
function systemOf({ control }: SlurmLab): System {
  return {
    run: async (argv, { timeoutMs }) => {
      const { status, stdout, stderr } = await control.machine.run(argv, { timeoutMs });
      return {
        argv,
        stdout: Buffer.from(stdout),
        stderr: Buffer.from(stderr),
        exitStatus: status,
        signal: null,
        timedOut: false,
        durationMs: 0,
      };
    },
    files: realFiles((path) => control.machine.file(path), new Set()),
    now: () => new Date(),
    hostName: control.name,
    architecture: "x86_64",
    root: true,
    caller: { uid: 0, user: "root" },
    ledgerPath: null,
  };
}
