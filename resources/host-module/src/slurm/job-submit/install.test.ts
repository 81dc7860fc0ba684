import { describe, expect, it } from "vitest";
import type { Files, RunResult, System } from "../../system.ts";
import { installJobSubmit, installScript, jobSubmitState, removeJobSubmit } from "./install.ts";
import { identityIn, jobSubmitIdentity, jobSubmitLua } from "./script.ts";

const facts = { types: [{ type: "h100", memoryGiB: 80, cardShareUnits: 56 }] };
const older = { types: [{ type: "a100", memoryGiB: 80, cardShareUnits: 56 }] };
const path = "/etc/slurm/job_submit.lua";
const now = { probeIntervalMs: 0 };

interface ControlHost {
  readonly system: System;
  readonly files: Map<string, string>;
}

/** A control host whose slurmctld runs the script of the file as long as it has no `broken` in it, else the one before. */
function controlHost(options: { plugins?: string; luac?: boolean; files?: Record<string, string> } = {}): ControlHost {
  const files = new Map(Object.entries(options.files ?? {}));
  let running = "";
  const answer = (argv: readonly string[]): readonly [status: number, stdout: string, stderr: string] => {
    const [program] = argv;
    if (program === "scontrol") {
      return [0, `JobSubmitPlugins = ${options.plugins ?? "lua"}\nSLURM_CONF = /etc/slurm/slurm.conf\n`, ""];
    }
    if (program === "sbatch") {
      const text = files.get(path) ?? "";
      if (!text.includes("broken")) running = text;
      return [1, "", `sbatch: error: Tessera job_submit.lua ${identityIn(running)}\n`];
    }
    if (program === "luac" && options.luac === true) {
      const isBroken = argv[1] === "-p" && (files.get(argv[2] ?? "") ?? "").includes("broken");
      return isBroken ? [1, "", "luac: unexpected symbol near broken\n"] : [0, "", ""];
    }
    return [127, "", ""];
  };
  const memory: Partial<Files> = {
    read: async (name) => (files.has(name) ? new TextEncoder().encode(files.get(name)) : null),
    status: async (name) =>
      files.has(name) ? { uid: 0, gid: 0, sizeBytes: 1, changedAtMs: 0, kind: "file" as const } : null,
    replace: async (name, content) => void files.set(name, new TextDecoder().decode(content)),
    remove: async (name) => void files.delete(name),
  };
  const system: Partial<System> = {
    run: async (argv): Promise<RunResult> => {
      const [exitStatus, stdout, stderr] = answer(argv);
      const bytes = (text: string) => new TextEncoder().encode(text);
      return {
        argv,
        stdout: bytes(stdout),
        stderr: bytes(stderr),
        exitStatus,
        signal: null,
        timedOut: false,
        durationMs: 0,
      };
    },
    files: memory as Files,
  };
  return { system: system as System, files };
}

const broken = `${jobSubmitLua(facts).split("\n", 1)[0]}\nbroken\n`;

describe("installJobSubmit", () => {
  it("writes the script, proves that it is in force and keeps it as the last good one", async () => {
    const { system, files } = controlHost();
    expect(await installJobSubmit(system, facts, now)).toEqual({
      path,
      script: "ours",
      installed: jobSubmitIdentity(facts),
      inForce: jobSubmitIdentity(facts),
      configured: true,
      change: "",
      checker: null,
    });
    expect([...files]).toEqual([
      [path, jobSubmitLua(facts)],
      [`${path}.last-good`, jobSubmitLua(facts)],
    ]);
  });

  it("says the line for slurm.conf where lua is not among the plugins; the script waits", async () => {
    const { system } = controlHost({ plugins: "throttle" });
    expect(await installJobSubmit(system, facts, now)).toMatchObject({
      script: "ours",
      inForce: null,
      configured: false,
      change: "In slurm.conf: JobSubmitPlugins=throttle,lua. Restart slurmctld.",
    });
  });

  it("leaves somebody else's script alone untold, and keeps it when told", async () => {
    const { system, files } = controlHost({ files: { [path]: "-- site\n" } });
    await expect(installJobSubmit(system, facts, now)).rejects.toMatchObject({ code: "conflict" });
    expect([...files]).toEqual([[path, "-- site\n"]]);
    await installJobSubmit(system, facts, { ...now, takeOver: true });
    expect(files.get(`${path}.before-tessera`)).toBe("-- site\n");
    await expect(removeJobSubmit(system, now)).resolves.toMatchObject({ script: "foreign" });
    expect([...files]).toEqual([[path, "-- site\n"]]);
  });

  it("puts the last good script back where slurmctld does not take the new one", async () => {
    const { system, files } = controlHost();
    await installJobSubmit(system, older, now);
    await expect(installScript(system, broken, now)).rejects.toMatchObject({
      code: "unreadable",
      message: "slurmctld did not take the new job_submit.lua; the last good one stands again.",
    });
    expect(files.get(path)).toBe(jobSubmitLua(older));
    expect((await jobSubmitState(system)).inForce).toBe(jobSubmitIdentity(older));
  });

  it("puts somebody else's script back where the takeover fails, although an older one of ours is kept", async () => {
    const files = { [path]: "-- site\n", [`${path}.last-good`]: jobSubmitLua(older) };
    const host = controlHost({ files });
    await expect(installScript(host.system, broken, { ...now, takeOver: true })).rejects.toMatchObject({
      code: "unreadable",
    });
    expect(host.files.get(path)).toBe("-- site\n");
  });

  it("writes nothing that luac does not read, where there is luac", async () => {
    const { system, files } = controlHost({ luac: true });
    await installJobSubmit(system, older, now);
    const before = [...files];
    await expect(installScript(system, broken, now)).rejects.toMatchObject({
      code: "unreadable",
      message: "luac does not read the new job_submit.lua; the one before is untouched.",
    });
    expect([...files]).toEqual(before);
  });

  it("takes a text without its header for no script of ours", async () => {
    await expect(installScript(controlHost().system, "return 0\n", now)).rejects.toMatchObject({ code: "bad-request" });
  });
});

describe("removeJobSubmit", () => {
  it("leaves a script that lets every job pass where lua is configured: slurmctld does not start without one", async () => {
    const { system, files } = controlHost();
    await installJobSubmit(system, facts, now);
    expect(await removeJobSubmit(system, now)).toMatchObject({ script: "absent", inForce: null });
    expect([...files.keys()]).toEqual([path]);
    expect(files.get(path)).toMatch(/^-- Tessera removed its job_submit\.lua/);
    await installJobSubmit(system, facts, now);
    expect([...files.keys()]).toEqual([path, `${path}.last-good`]);
  });

  it("deletes the file where lua is not configured, and touches no script of somebody else", async () => {
    const ours = controlHost({ plugins: "(null)", files: { [path]: jobSubmitLua(facts) } });
    await removeJobSubmit(ours.system, now);
    expect(ours.files.size).toBe(0);
    const site = controlHost({ files: { [path]: "-- site\n" } });
    await expect(removeJobSubmit(site.system)).rejects.toMatchObject({ code: "conflict" });
    expect(site.files.get(path)).toBe("-- site\n");
  });
});
