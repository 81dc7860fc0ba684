/** Locks, time limits and files of a real machine, with real processes. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stateDirectory } from "../system.ts";
import { realSystem } from "./index.ts";
import { runProgram } from "./run.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-system-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A process that takes the lock, says so, optionally starts a command under it, and waits to be killed. */
function holder(lock: string, command: readonly string[] | null) {
  const source = `
    import { realSystem } from ${JSON.stringify(join(import.meta.dirname, "index.ts"))};
    const system = realSystem();
    await system.files.lock(${JSON.stringify(lock)}, "the holder's words");
    ${command === null ? "" : `void system.run(${JSON.stringify(command)}, { timeoutMs: 60000 });`}
    setTimeout(() => process.stdout.write("held\\n"), 50);
    setInterval(() => undefined, 1000);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const held = new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  const dead = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return { child, held, dead };
}

describe("a lock", () => {
  test("keeps others out with its holder's words, and is gone when its holder was killed", async () => {
    const lock = join(directory, "lock");
    const { files } = realSystem();
    const { child, held, dead } = holder(lock, null);
    await held;
    await expect(files.lock(lock, "me")).rejects.toMatchObject({
      code: "locked",
      evidence: { details: "the holder's words" },
    });
    expect(await files.isLocked(lock)).toBe(true);
    child.kill("SIGKILL");
    await dead;
    expect(await files.isLocked(lock)).toBe(false);
    await using mine = await files.lock(lock, "me");
    expect(mine).toBeDefined();
  });

  test("stands until a command started under it has ended, though its holder was killed", async () => {
    const lock = join(directory, "lock");
    const go = join(directory, "go");
    const waiting = `until [ -e ${go} ]; do sleep 0.02; done`;
    const { files } = realSystem();
    const { child, held, dead } = holder(lock, ["sh", "-c", waiting]);
    await held;
    child.kill("SIGKILL");
    await dead;
    await expect(files.lock(lock, "me")).rejects.toMatchObject({ code: "locked" });
    writeFileSync(go, "");
    for (;;) {
      const mine = await files.lock(lock, "me").catch(() => null);
      if (mine === null) continue;
      await mine[Symbol.asyncDispose]();
      break;
    }
  });

  test("keeps its own process out as well, until it is given back", async () => {
    const { files } = realSystem();
    const lock = join(directory, "lock");
    {
      await using first = await files.lock(lock, "first");
      expect(first).toBeDefined();
      await expect(files.lock(lock, "second")).rejects.toMatchObject({ code: "locked" });
    }
    await using again = await files.lock(lock, "again");
    expect(again).toBeDefined();
  });
});

describe("running a program", () => {
  test("takes arguments as they are, in the C locale", async () => {
    const result = await runProgram(["sh", "-c", 'printf "%s|%s" "$1" "$LC_ALL"', "sh", "a b;$(c)"], {
      timeoutMs: 5_000,
    });
    expect({ ...result, stdout: Buffer.from(result.stdout).toString() }).toMatchObject({
      stdout: "a b;$(c)|C",
      exitStatus: 0,
      signal: null,
      timedOut: false,
    });
  });

  test("kills the whole process group at the time limit", async () => {
    const pid = join(directory, "pid");
    const script = `sleep 60 & echo $! > ${pid}; wait`;
    const result = await runProgram(["sh", "-c", script], { timeoutMs: 500 });
    expect(result).toMatchObject({ exitStatus: null, signal: "SIGKILL", timedOut: true });
    const child = Number(readFileSync(pid, "utf8"));
    // Gone, or a zombie whose parent was killed with it and that init has not collected yet.
    const state = () => {
      try {
        return /\) (\S)/.exec(readFileSync(`/proc/${child}/stat`, "latin1"))?.[1];
      } catch {
        return "gone";
      }
    };
    // A signal that was sent takes effect when the child is next scheduled.
    await expect.poll(state, { timeout: 5_000 }).toMatch(/^(gone|Z|X)$/);
  });

  test("says 127 where there is no such program, and stops at too much output", async () => {
    expect(await runProgram(["no-such-program-here"], { timeoutMs: 5_000 })).toMatchObject({ exitStatus: 127 });
    const flood = await runProgram(["yes"], { timeoutMs: 20_000, maxOutputBytes: 100_000 });
    expect(flood).toMatchObject({ exitStatus: null, signal: "SIGKILL", timedOut: false });
    expect(flood.stdout.length).toBeLessThanOrEqual(100_000);
  });
});

describe("files", () => {
  test("append cuts a partial write off again when there is no more room", async () => {
    const path = join(directory, "journal");
    const source = `
      import { realSystem } from ${JSON.stringify(join(import.meta.dirname, "index.ts"))};
      const { files } = realSystem();
      await files.append(${JSON.stringify(path)}, Buffer.from("first\\n"), 0o600);
      const error = await files.append(${JSON.stringify(path)}, Buffer.alloc(5000, 120), 0o600).catch((error) => error);
      process.stdout.write(String(error.code));
    `;
    // ulimit -f counts in units of 1024 bytes (bash) or 512 (dash): either leaves room for the first write only.
    const limited = ["sh", "-c", 'ulimit -f 2; exec "$0" "$@"', process.execPath, "--input-type=module", "-e", source];
    const result = await runProgram(limited, { timeoutMs: 20_000 });
    expect(Buffer.from(result.stdout).toString(), Buffer.from(result.stderr).toString()).toBe("disk-full");
    expect(readFileSync(path, "utf8")).toBe("first\n");
  });

  test("reading answers null where there is nothing to read", async () => {
    const { files } = realSystem();
    expect(await files.read(join(directory, "none"))).toBeNull();
    expect(await files.list(join(directory, "none"))).toBeNull();
    expect(await files.read(directory)).toBeNull();
  });

  test("replace leaves the old content or the new, and no temporary file", async () => {
    const { files } = realSystem();
    const path = join(directory, "file");
    await files.replace(path, Buffer.from("one"), 0o640);
    await files.replace(path, Buffer.from("two"), 0o640);
    expect(readFileSync(path, "utf8")).toBe("two");
    expect(await files.list(directory)).toEqual(["file"]);
  });
});

describe("another state directory", () => {
  test("is taken from the environment, but never under sudo", async () => {
    const chosen = realSystem({ TESSERA_STATE_DIRECTORY: directory });
    await chosen.files.replace(`${stateDirectory}/probe`, Buffer.from("x"), 0o600);
    expect(readFileSync(join(directory, "probe"), "utf8")).toBe("x");
    const underSudo = realSystem({ TESSERA_STATE_DIRECTORY: directory, SUDO_UID: "1000" });
    expect(await underSudo.files.read(`${stateDirectory}/probe`)).toBeNull();
  });
});
