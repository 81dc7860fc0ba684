import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundleProgram } from "./bundle-program.ts";
import {
  changeMachine,
  changingCommands,
  createMachineDirectory,
  loggedCommands,
  readMachine,
  setFaults,
} from "./machine-directory.ts";

let bundles = "";
let program = "";
let directory = "";

beforeAll(async () => {
  bundles = mkdtempSync(join(tmpdir(), "tessera-smi-"));
  program = await bundleProgram(bundles);
  return () => rmSync(bundles, { recursive: true });
});

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-machine-"));
  createMachineDirectory(directory, { gpus: [{ instances: [] }, {}] }, { durationScale: 0, program });
});

afterEach(() => rmSync(directory, { recursive: true }));

function smi(...argv: string[]) {
  const { status, stdout, signal } = spawnSync(join(directory, "bin/nvidia-smi"), argv, { encoding: "utf8" });
  return { status, stdout, signal };
}

const ids = (): number[] =>
  readMachine(directory)
    .gpu(0)
    .instances.map((instance) => instance.id);

describe("nvidia-smi as a program", () => {
  it("keeps what it did for the next run, and logs it", () => {
    expect(smi("mig", "-cgi", "9:4", "-C", "-i", "0").status).toBe(0);
    expect(smi("-L").stdout).toContain("MIG 3g.40gb     Device  0");
    expect(changingCommands(directory)).toEqual([["mig", "-cgi", "9:4", "-C", "-i", "0"]]);
    expect(loggedCommands(directory).map(({ event }) => event)).toEqual(["started", "ended", "started", "ended"]);
  });

  it("runs from source", () => {
    const other = join(directory, "source");
    createMachineDirectory(other, { gpus: [{}] });
    const run = spawnSync(join(other, "bin/nvidia-smi"), ["-L"], { encoding: "utf8" });
    expect(run.stdout).toMatch(/^GPU 0: NVIDIA H100 80GB HBM3/);
  });

  it("makes seven instances in seven processes at once, each once", async () => {
    const runs = Array.from(
      { length: 8 },
      () =>
        new Promise<number | null>((resolve) => {
          spawn(join(directory, "bin/nvidia-smi"), ["mig", "-cgi", "19", "-C", "-i", "0"]).on("exit", resolve);
        }),
    );
    expect((await Promise.all(runs)).toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 23]);
    expect(ids().toSorted((a, b) => a - b)).toEqual([7, 8, 9, 10, 11, 12, 13]);
  });

  it("takes over the lock of a process that was killed", () => {
    const dead = spawnSync(process.execPath, ["-e", "process.stdout.write(String(process.pid))"], { encoding: "utf8" });
    spawnSync("sh", ["-c", `printf ${dead.stdout} > "${directory}/machine.lock"`]);
    expect(smi("mig", "-cgi", "19", "-i", "0").status).toBe(0);
  });

  it("waits for a process of another namespace, whose process id says nothing here", () => {
    const dead = spawnSync(process.execPath, ["-e", "process.stdout.write(String(process.pid))"], { encoding: "utf8" });
    writeFileSync(join(directory, "machine.lock"), `${dead.stdout} pid:[1]`);
    spawn("sh", ["-c", 'sleep 1; touch "$1/released"; rm "$1/machine.lock"', "sh", directory]);
    expect(smi("mig", "-cgi", "19", "-i", "0").status).toBe(0);
    expect(existsSync(join(directory, "released"))).toBe(true);
  });

  it("does not answer 0 for a truncated machine", () => {
    spawnSync("sh", ["-c", `printf '{' > "${directory}/machine.json"`]);
    expect(smi("-L").status).not.toBe(0);
  });
});

describe("faults", () => {
  it("fail the n-th matching command only, before or after the work", () => {
    setFaults(directory, [
      { match: "-cgi", occurrence: 2, action: { kind: "fail", exitStatus: 255, stdout: "Unknown Error\n" } },
      { match: "-cgi", occurrence: 3, action: { kind: "fail", exitStatus: 255, afterWork: true } },
    ]);
    const make = () => smi("mig", "-cgi", "19", "-C", "-i", "0").status;
    expect([make(), make(), make(), make()]).toEqual([0, 255, 255, 0]);
    expect(ids()).toEqual([7, 8, 9]);
  });

  it("hang until somebody kills the command", async () => {
    setFaults(directory, [{ match: "-lgi", action: { kind: "hang" } }]);
    const run = spawn(join(directory, "bin/nvidia-smi"), ["mig", "-lgi"]);
    const ended = new Promise((resolve) => run.on("exit", (_status, signal) => resolve(signal)));
    await expect.poll(() => loggedCommands(directory).length, { timeout: 20_000 }).toBe(1);
    run.kill("SIGKILL");
    expect(await ended).toBe("SIGKILL");
    expect(loggedCommands(directory).map(({ event }) => event)).toEqual(["started"]);
  });

  it("crash with half of the answer", () => {
    setFaults(directory, [{ match: "-q -x", action: { kind: "crash", outputBytes: 500 } }]);
    const run = smi("-q", "-x");
    expect(run.signal).toBe("SIGSEGV");
    expect(run.stdout).toHaveLength(500);
  });

  it.each([
    ["before", []],
    ["during", [7]],
    ["after", [7]],
  ] as const)("kill the caller %s the work", async (when, left) => {
    setFaults(directory, [{ match: "-cgi", action: { kind: "kill-parent", when } }]);
    const script = `require("child_process").spawnSync(process.argv[1], ["mig", "-cgi", "19", "-i", "0"]); console.log("alive")`;
    const caller = spawnSync(process.execPath, ["-e", script, join(directory, "bin/nvidia-smi")], { encoding: "utf8" });
    expect(caller.signal).toBe("SIGKILL");
    expect(caller.stdout).toBe("");
    await expect.poll(() => loggedCommands(directory).length, { timeout: 20_000 }).toBe(2);
    expect(ids()).toEqual(left);
  });

  it("leave a machine that tests can change between commands", () => {
    changeMachine(directory, (machine) => machine.reboot());
    expect(smi("mig", "-lgi").stdout).toBe("No MIG-enabled devices found.\n");
  });
});
