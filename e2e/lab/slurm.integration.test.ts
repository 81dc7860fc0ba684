import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clearLeftovers } from "./leftovers.ts";
import { SlurmLab } from "./slurm.ts";
import { sshPort } from "./slurm-host.ts";
import { slurmLabMissing } from "./slurm-missing.ts";

const missing = slurmLabMissing();
const left = (lab: SlurmLab) => leftOf(lab.lab.directory, lab.uplink);

describe.skipIf(missing !== null)(`the Slurm lab${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  let lab: SlurmLab;

  beforeAll(async () => {
    lab = await SlurmLab.start({ people: ["alice", "bob"] });
    await lab.sacctmgr("add", "account", "t1");
    await lab.sacctmgr("add", "account", "t1_p1", "parent=t1");
    await lab.sacctmgr("add", "account", "t2");
    await lab.sacctmgr("add", "user", "alice", "account=t1_p1");
    await lab.sacctmgr("add", "user", "bob", "account=t2");
  });

  afterAll(async () => {
    await lab?.[Symbol.asyncDispose]();
  });

  test("every host is idle, with the simulated GPUs and seven slots a card", async () => {
    const said = await lab.expect(["sinfo", "--noheader", "--Node", "--format=%N %T %c %G"]);
    expect(said.trim().split("\n")).toEqual([
      "g1 idle 16 gpu:h100:1,gpu:pad:9,gpu:h100_2g.20gb:1,gpu:h100_1g.10gb:2,gpu:h100_3g.40gb:1,vram:160,cardshare:124",
      "g2 idle 16 gpu:h100:2,gpu:pad:12,vram:160,cardshare:124",
    ]);
  });

  test("a person's job runs as the person on the host whose GPU it asked for", async () => {
    const script = "#!/bin/sh\necho $(id -un) $(hostname) $SLURM_JOB_GPUS $(nvidia-smi -L | grep -c MIG)\n";
    const alice = lab.person("alice");
    const job = await lab.submit(alice, ["--gres=gpu:h100_3g.40gb:1", "--output=said"], script);
    await lab.waitForJob(job, { state: "COMPLETED" });
    // Slurm numbers a host's slots type by type, as slurm.conf names the types: the pads of both cards come before 10.
    expect(await lab.expect(["cat", "said"], { as: alice })).toBe("alice g1 13 4\n");
  });

  test("a tenant's limit holds: the second job waits with AssocGrpGRES until the first ends", async () => {
    await lab.sacctmgr("modify", "account", "t1", "set", "GrpTRES=gres/gpu=1");
    const alice = lab.person("alice");
    const first = await lab.submit(alice, ["--gres=gpu:h100:1"]);
    await lab.waitForJob(first, { state: "RUNNING" });
    const second = await lab.submit(alice, ["--gres=gpu:h100:1"]);
    await lab.waitForJob(second, { state: "PENDING", reason: "AssocGrpGRES" });
    // Another tenant is not held up.
    const other = await lab.submit(lab.person("bob"), ["--gres=gpu:h100:1"]);
    await lab.waitForJob(other, { state: "RUNNING" });
    await lab.cancel(first);
    await lab.waitForJob(second, { state: "RUNNING" });
    await lab.cancel(second, other);
  });

  test("a person sees own jobs only", async () => {
    const job = await lab.submit(lab.person("bob"), ["--gres=gpu:h100:1"]);
    const seen = (name: string) => lab.expect(["squeue", "--noheader", "--format=%i"], { as: lab.person(name) });
    expect({ alice: await seen("alice"), bob: await seen("bob") }).toEqual({ alice: "", bob: `${job}\n` });
    await lab.cancel(job);
  });

  test("slurmdbd stopped: changes fail, jobs are still scheduled; started again, or killed and started: changes work", async () => {
    const change = async () =>
      (await lab.run(["sacctmgr", "-i", "modify", "account", "t1", "set", "GrpTRES=gres/gpu=2"])).status;
    await lab.slurmdbd.stop();
    const job = await lab.submit(lab.person("bob"), ["--gres=gpu:h100:1"]);
    await lab.waitForJob(job, { state: "RUNNING" });
    expect(await change()).not.toBe(0);
    await lab.slurmdbd.start();
    expect(await change()).toBe(0);
    await lab.slurmdbd.kill();
    expect(lab.slurmdbd.running).toBe(false);
    await lab.slurmdbd.start();
    expect(await lab.expect(["sacctmgr", "-nP", "show", "assoc", "account=t1", "format=Account,GrpTRES"])).toBe(
      "t1|gres/gpu=2\n",
    );
    await lab.cancel(job);
  });

  test("a job outlives slurmctld's restart and its slurmd's death", async () => {
    const job = await lab.submit(lab.person("bob"), ["--gres=gpu:h100:1", "--nodelist=g2"]);
    await lab.waitForJob(job, { state: "RUNNING" });
    await Promise.all([lab.slurmctld.restart(), lab.slurmd("g2").kill()]);
    await lab.slurmd("g2").start();
    await lab.waitForHosts();
    expect((await lab.job(job)).state).toBe("RUNNING");
    await lab.cancel(job);
  });

  test("root and people log in on every host over SSH; sshd says which key was used", async () => {
    const said = async (host: string, user: string, key: string) => {
      const { address, hostKey } = lab.host(host);
      const known = lab.lab.write("known", `${address} ${hostKey.publicKey}\n`);
      const options = [`UserKnownHostsFile=${known}`, "IdentitiesOnly=yes", "BatchMode=yes"].flatMap((o) => ["-o", o]);
      const command = "echo $(id -un) $(hostname) $HOME $(cut -d' ' -f1 $SSH_USER_AUTH)";
      const argv = ["-F", "none", "-i", key, "-p", String(sshPort), ...options, `${user}@${address}`, command];
      return (await promisify(execFile)("ssh", argv)).stdout.trim();
    };
    const alice = lab.person("alice").key.path;
    expect([
      await said("control", "root", lab.rootKey.path),
      await said("g1", "alice", alice),
      await said("g2", "alice", alice),
      await said("g2", "alice", lab.person("bob").key.path).catch(() => "refused"),
    ]).toEqual([
      "root control /var/root publickey",
      "alice g1 /var/home/alice publickey",
      "alice g2 /var/home/alice publickey",
      "refused",
    ]);
  });

  test("a host's reboot ends what ran there and nothing elsewhere; it takes jobs again", async () => {
    const g1 = lab.host("g1");
    await g1.machine.expect(["touch", "/etc/kept", "/run/lost"]);
    const bootId = () => g1.machine.expect(["cat", "/proc/sys/kernel/random/boot_id"]);
    const before = await bootId();
    await g1.reboot();
    expect(await bootId()).not.toBe(before);
    expect((await g1.machine.run(["ls", "/etc/kept", "/run/lost"])).stdout).toBe("/etc/kept\n");
    await lab.slurmd("g1").start();
    await lab.waitForHosts();
    const job = await lab.submit(lab.person("bob"), ["--nodelist=g1", "--gres=gpu:h100:1"]);
    await lab.waitForJob(job, { state: "RUNNING" });
    await lab.cancel(job);
  });

  test("what is changed on a host stays on it: accounts and groups are not this machine's", async () => {
    await lab.control.machine.expect(["groupadd", "t1"]);
    await lab.control.machine.expect(["usermod", "--append", "--groups", "t1", "alice"]);
    expect(await lab.expect(["id", "--groups", "--name"], { as: lab.person("alice") })).toBe("alice t1\n");
    // The lab's people stand in the hosts' own /etc; other tests may change this machine's meanwhile.
    expect(readFileSync("/etc/passwd", "utf8")).not.toMatch(/^(alice|bob):/m);
  });

  test("teardown leaves no process, mount, link, account or directory", async () => {
    expect(left(lab).processes.length).toBeGreaterThan(10);
    await lab[Symbol.asyncDispose]();
    expect(left(lab)).toEqual({ processes: [], mounts: [], link: false, directory: false });
    // The lab's people stand in the hosts' own /etc; other tests may change this machine's meanwhile.
    expect(readFileSync("/etc/passwd", "utf8")).not.toMatch(/^(alice|bob):/m);
  });

  test("a killed test process leaves a directory only, and the next start removes it", async () => {
    const program = `
      import { SlurmLab } from ${JSON.stringify(join(import.meta.dirname, "slurm.ts"))};
      const lab = await SlurmLab.start({ people: ["carol"] });
      console.log("up " + lab.lab.directory + " " + lab.uplink);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [directory = "", uplink = ""] = await saidUp(child);
    expect(leftOf(directory, uplink).processes.length).toBeGreaterThan(10);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
    // The kernel takes a moment to end processes and to drop the namespaces.
    for (let n = 0; n < 100 && (leftOf(directory, uplink).processes.length > 0 || leftOf(directory, uplink).link); n++)
      await sleep(50);
    expect(leftOf(directory, uplink)).toEqual({ processes: [], mounts: [], link: false, directory: true });
    expect(clearLeftovers()).toContain(directory);
    expect(existsSync(directory)).toBe(false);
  });
});

interface Left {
  /** That live in the lab's mounts. */
  readonly processes: readonly number[];
  /** Of this machine, below the lab's directory. */
  readonly mounts: readonly string[];
  readonly link: boolean;
  readonly directory: boolean;
}

function leftOf(directory: string, uplink: string): Left {
  const mountsOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/mountinfo`, "utf8")
        .split("\n")
        .filter((line) => line.includes(directory));
    } catch {
      return []; // It ended.
    }
  };
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return {
    processes: pids.filter((pid) => mountsOf(pid).length > 0).map(Number),
    mounts: mountsOf("self"),
    link: existsSync(`/sys/class/net/${uplink}`),
    directory: existsSync(directory),
  };
}

function saidUp(child: ChildProcess): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const line = /^up (.*)$/m.exec(said)?.[1];
      if (line !== undefined) resolve(line.split(" "));
    });
    child.once("exit", (status) => reject(new Error(`ended with ${status}`)));
  });
}
