/** `mig apply` with real processes: the bundle, SIGKILL, a full tmpfs, cut pipes, a hanging driver. */
import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { changingCommands, readMachine, setFaults } from "../../resources/demo-cluster/bin/machine-directory.ts";
import type { Layout } from "../../shared/mig/types.ts";
import { bundlePrograms } from "./bundle.ts";
import { type Ended, ended, ProcessHost, type Programs } from "./process-host.ts";

// Some 800 programs are started here: seconds on an idle machine, minutes on a busy one.
vi.setConfig({ testTimeout: 600_000 });

let directory: string;
let programs: Programs;
let cases = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "tessera-faults-"));
  programs = await bundlePrograms(directory);
});
afterAll(() => {
  console.log(`mig apply with real processes: ${cases} fault cases`);
  rmSync(directory, { recursive: true, force: true });
});

const wanted: Layout = {
  migEnabled: true,
  instances: [
    { profileId: 9, start: 0 },
    { profileId: 14, start: 4 },
  ],
};
const before = ["on 19@4[0@0] 9@0[2@0]"];
const after = ["on 14@4[1@0] 9@0[2@0]"];

/** 3g in use, 1g idle; wanted: the 1g goes and a 2g comes. */
function newHost(durationScale = 0): { readonly host: ProcessHost; readonly file: string } {
  cases += 1;
  const instances = [
    { profile: 9, start: 0 },
    { profile: 19, start: 4 },
  ];
  const host = new ProcessHost(programs, join(directory, `host-${cases}`), { gpus: [{ instances }] }, durationScale);
  host.occupy(0, 0);
  return { host, file: host.wish([{ gpuIndex: 0, layout: wanted }]) };
}

/** What must hold after a fault, whatever it was; `way` is how an open operation is completed. */
async function settles(host: ProcessHost, file: string, way: "finish" | "roll-back", where: string): Promise<void> {
  const held = () => readMachine(host.machine).state.gpus[0]?.instances.find(({ start }) => start === 0);
  expect(held(), where).toMatchObject({ id: 1, profileId: 9, computeInstances: [{ id: 0 }] });
  setFaults(host.machine, []);
  const status = await host.status();
  if (status.open === null) {
    expect([before, after], where).toContainEqual(host.layouts());
    return;
  }
  const refused = await host.run(["mig", "apply", "--file", file]);
  expect(refused, where).toMatchObject({ status: 1, stderr: expect.stringContaining(status.open.id) });
  const result = await host.recover(status.open.id, way);
  expect(result, where).toMatchObject({ outcome: way === "finish" ? "applied" : "rolled-back" });
  expect(host.layouts(), where).toEqual(way === "finish" ? after : before);
  expect((await host.status()).open, where).toBeNull();
  expect(held(), where).toMatchObject({ id: 1, profileId: 9, computeInstances: [{ id: 0 }] });
}

describe("killed with SIGKILL", () => {
  const moments = ["before", "during", "after"] as const;
  // Every command that changes something.
  const commands = ["^mig -dci", "^mig -dgi", "^mig -cgi"];
  const kills = commands.flatMap((match, at) =>
    moments.map((when, moment) => ({ match, when, way: (at + moment) % 2 === 0 ? "finish" : "roll-back" }) as const),
  );

  // Each on a host of its own, and most of it waiting for programs to start: side by side they take both cores.
  test.concurrent.each(kills)("$when $match, then $way", async ({ match, when, way }) => {
    const { host, file } = newHost();
    setFaults(host.machine, [{ match, action: { kind: "kill-parent", when } }]);
    const killed = await host.run(["mig", "apply", "--file", file]);
    expect(killed.signal).toBe("SIGKILL");
    // The command that outlived it has the lock; wait until it has ended.
    await untilUnlocked(host);
    await settles(host, file, way, `${match} ${when}`);
  });

  test("between two steps, where only reading goes on", async () => {
    for (const occurrence of [3, 4]) {
      const { host, file } = newHost();
      setFaults(host.machine, [{ match: "^-q -x", occurrence, action: { kind: "kill-parent", when: "before" } }]);
      await host.run(["mig", "apply", "--file", file]);
      await untilUnlocked(host);
      await settles(host, file, "finish", `reading ${occurrence}`);
    }
  });

  test("while a command runs on: the lock stays until it has ended", async () => {
    const { host, file } = newHost(20);
    setFaults(host.machine, [{ match: "^mig -cgi", occurrence: 1, action: { kind: "kill-parent", when: "during" } }]);
    const killed = await host.run(["mig", "apply", "--file", file]);
    expect(killed.signal).toBe("SIGKILL");
    setFaults(host.machine, []);
    const refused = await host.run(["mig", "apply", "--file", file, "--json"]);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { code: "locked", evidence: { details: expect.stringContaining("mig apply") } },
    });
    await untilUnlocked(host);
  });
});

/** The command that outlived a killed process holds the lock until it has ended. */
async function untilUnlocked(host: ProcessHost): Promise<void> {
  await promisify(execFile)("flock", ["-w", "100", join(host.state, "partition.lock"), "true"]);
}

test("killed again while an operation is recovered, in both ways, and recovered at last", async () => {
  for (const way of ["finish", "roll-back"] as const) {
    const { host, file } = newHost();
    setFaults(host.machine, [{ match: "^mig -dgi", action: { kind: "kill-parent", when: "after" } }]);
    await host.run(["mig", "apply", "--file", file]);
    await untilUnlocked(host);
    const { open } = await host.status();
    setFaults(host.machine, [{ match: "^mig -cgi", action: { kind: "kill-parent", when: "after" } }]);
    const killed = await host.run(["mig", "recover", open?.id ?? "", "--way", way]);
    expect(killed.signal).toBe("SIGKILL");
    await untilUnlocked(host);
    expect((await host.status()).open).toMatchObject({ id: open?.id });
    await settles(host, file, way === "finish" ? "roll-back" : "finish", `killed in ${way}`);
  }
});

test("a lock whose holder was killed is free again, whatever words it left", async () => {
  const { host, file } = newHost();
  mkdirSync(host.state, { mode: 0o700 });
  const lock = join(host.state, "partition.lock");
  writeFileSync(lock, '{"what":"mig apply","user":"alice"}\n');
  const holder = spawn("flock", ["--no-fork", lock, "sleep", "1000"], { stdio: "ignore" });
  while (
    await promisify(execFile)("flock", ["-n", lock, "true"]).then(
      () => true,
      () => false,
    )
  ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const refused = await host.run(["mig", "apply", "--file", file, "--json"]);
  expect(refused.status).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    error: { code: "locked", evidence: { details: expect.stringContaining("alice") } },
  });
  const gone = ended(holder);
  holder.kill("SIGKILL");
  await gone;
  expect(await host.run(["mig", "apply", "--file", file])).toMatchObject({ status: 0 });
  expect(host.layouts()).toEqual(after);
});

test("a driver that hangs is killed at the time limit, and what it did is undone", async () => {
  // Both at once, for most of the time is waiting. The limit holds for readings too, which a busy machine makes slow.
  await Promise.all(
    [false, true].map(async (afterWork) => {
      const { host, file } = newHost();
      setFaults(host.machine, [{ match: "^mig -cgi", occurrence: 1, action: { kind: "hang", afterWork } }]);
      const result = await host.run(["mig", "apply", "--file", file], { TESSERA_TIME_LIMIT_MS: "20000" });
      expect(result.status, result.stderr).toBe(afterWork ? 0 : 1);
      expect(host.layouts()).toEqual(afterWork ? after : before);
      await settles(host, file, "finish", `hang, ${afterWork}`);
    }),
  );
});

describe("a full disk", () => {
  const root = process.getuid?.() === 0;
  test.skipIf(!root)("stops before a step that could not be written down (tmpfs, needs root)", async () => {
    for (const kibibytes of [4, 8]) {
      const { host, file } = newHost();
      mkdirSync(host.state);
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kibibytes}k,mode=0700`, "tmpfs", host.state]);
      try {
        // One page is enough for the first records; a reason as long as it may be fills it sooner.
        const result = await host.run(["mig", "apply", "--file", file, "--reason", "x".repeat(500)]);
        if (result.status !== 0) expect(result.stderr).toMatch(/room/);
        execFileSync("mount", ["-o", "remount,size=10m", host.state]);
        await settles(host, file, kibibytes === 8 ? "finish" : "roll-back", `${kibibytes} KiB`);
      } finally {
        execFileSync("umount", [host.state]);
      }
    }
  });
});

describe("the caller goes away", () => {
  const apply = (host: ProcessHost) => {
    const { uuid } = readMachine(host.machine).gpu(0);
    const call = { input: { gpus: [{ gpuUuid: uuid, layout: wanted }] } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "mig.apply", params: call });
    return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
  const started = async (host: ProcessHost, match: RegExp) => {
    while (!changingCommands(host.machine).some((argv) => match.test(argv.join(" ")))) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  test.each(["pipes", "SIGHUP", "SIGTERM"])(
    "%s: the running step ends and is written down, no further one begins",
    async (how) => {
      const { host } = newHost(3);
      const child = host.start(["serve"]);
      child.stdin?.write(apply(host));
      await started(host, /-dci/);
      const over = ended(child);
      if (how === "pipes") {
        child.stdin?.destroy();
        child.stdout?.destroy();
        child.stderr?.destroy();
      } else {
        child.kill(how === "SIGHUP" ? "SIGHUP" : "SIGTERM");
      }
      expect(await over).toMatchObject({ status: 0 });
      expect(host.layouts()).toEqual(["on 9@0[2@0]"]);
      const status = await host.status();
      expect(status.open).toMatchObject({
        doneSteps: 1,
        begunStep: null,
        statement: expect.stringContaining("went away"),
      });
      await settles(host, host.wish([{ gpuIndex: 0, layout: wanted }]), "finish", how);
    },
  );

  test("Ctrl-C on the command line rolls back after the step", async () => {
    const { host, file } = newHost(3);
    const child = host.start(["mig", "apply", "--file", file, "--json"]);
    await started(host, /-dci/);
    const over = ended(child);
    child.kill("SIGINT");
    const { status, stdout }: Ended = await over;
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: "cancelled" });
    expect(host.layouts()).toEqual(before);
    expect((await host.status()).open).toBeNull();
  });
});

test("two at once: one is told that the other holds the lock, and nothing is done twice", async () => {
  const { host, file } = newHost(3);
  const both = await Promise.all([
    host.run(["mig", "apply", "--file", file, "--json"]),
    host.run(["mig", "apply", "--file", file, "--json"]),
  ]);
  const answers = both.map(({ stdout }) => JSON.parse(stdout));
  expect(answers.toSorted((a, b) => (a.outcome === undefined ? 1 : 0) - (b.outcome === undefined ? 1 : 0))).toEqual([
    expect.objectContaining({ outcome: "applied" }),
    { error: expect.objectContaining({ code: "locked" }) },
  ]);
  expect(host.layouts()).toEqual(after);
  expect(existsSync(join(host.state, "journal")) && readdirSync(join(host.state, "journal"))).toHaveLength(1);
});

test("a journal whose last line was torn by a power cut is read up to there", async () => {
  const { host, file } = newHost();
  setFaults(host.machine, [{ match: "^mig -cgi", occurrence: 1, action: { kind: "kill-parent", when: "after" } }]);
  await host.run(["mig", "apply", "--file", file]);
  await untilUnlocked(host);
  const [name] = readdirSync(join(host.state, "journal"));
  writeFileSync(join(host.state, "journal", name ?? ""), '{"kind":"step-do', { flag: "a" });
  await settles(host, file, "finish", "torn");
});
