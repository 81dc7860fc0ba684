import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type KeyPair, Lab, type Sshd, sshdMissing, startSshd } from "../../../e2e/lab/sshd.ts";
import { AppError } from "../../../shared/errors.ts";
import type { SshConnection } from "./interfaces.ts";
import { Ssh2Transport, type Ssh2TransportOptions } from "./transport.ts";

const missing = sshdMissing();
if (missing !== null) console.warn(`skipped: ${missing}`);

describe.skipIf(missing !== null)("a connection to a real sshd", () => {
  const lab = new Lab();
  const transports: Ssh2Transport[] = [];
  let key: KeyPair;
  let shared: Sshd;

  beforeAll(async () => {
    key = lab.key();
    shared = await startSshd(lab, { authorized: [key.publicKey] });
  });
  afterAll(async () => {
    for (const transport of transports) transport.close();
    await lab[Symbol.asyncDispose]();
  });

  const connect = (sshd: Sshd, options: Ssh2TransportOptions = {}, keepaliveSeconds?: number) => {
    const transport = new Ssh2Transport(options);
    transports.push(transport);
    return transport.connect(
      {
        kind: "direct",
        settings: {
          name: "alpha",
          address: sshd.address,
          port: sshd.port,
          user: "root",
          privateKey: key.privateKey,
          hostKey: sshd.hostKeys[0]?.publicKey ?? "",
        },
      },
      keepaliveSeconds === undefined ? {} : { keepaliveSeconds },
    );
  };
  const own = (...lines: string[]) => startSshd(lab, { authorized: [key.publicKey], lines });
  const exec = (connection: SshConnection, script: string, timeoutMs = 30_000) =>
    connection.exec(["sh", "-c", script], { timeoutMs });
  const failure = async (attempt: Promise<unknown>): Promise<AppError> => {
    const outcome = await attempt.catch((error: unknown) => error);
    if (outcome instanceof AppError) return outcome;
    throw new Error(`no AppError: ${String(outcome)}`);
  };

  test("runs a command by argument vector", async () => {
    const connection = await connect(shared);
    const argv = ["printf", "%s|", "it's", "a b", "$HOME", "\n", "é"];
    const result = await connection.exec(argv, { timeoutMs: 10_000 });
    expect({ ...result, stdout: result.stdout.toString(), stderr: result.stderr.toString() }).toEqual({
      stdout: "it's|a b|$HOME|\n|é|",
      stderr: "",
      exitStatus: 0,
    });
    connection.close();
  });

  test("gives standard input, both outputs and the command's own exit status", async () => {
    const connection = await connect(shared);
    const result = await connection.exec(["sh", "-c", "cat; echo bad >&2; exit 7"], {
      timeoutMs: 10_000,
      stdin: Buffer.from("hello"),
    });
    expect([result.stdout.toString(), result.stderr.toString(), result.exitStatus]).toEqual(["hello", "bad\n", 7]);
    connection.close();
  });

  test("carries 20 MB whole, and stops what is more than was asked for", async () => {
    const connection = await connect(shared);
    const result = await exec(connection, "head -c 20000000 /dev/zero");
    expect(result.stdout.length).toBe(20_000_000);
    const options = { timeoutMs: 30_000, maxBytes: 100_000 };
    expect(await failure(connection.exec(["sh", "-c", "yes"], options))).toMatchObject({ code: "unreadable" });
    connection.close();
  });

  test("runs thirty commands at once on a server that allows ten sessions, and never more than eight", async () => {
    const connection = await connect(await own("MaxSessions 10"));
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, index) => exec(connection, `sleep 0.05; echo ${index}`)),
    );
    expect(results.map(({ stdout }) => stdout.toString().trim())).toEqual(
      Array.from({ length: 30 }, (_, index) => String(index)),
    );
    connection.close();
  });

  test("makes do with a server that allows two sessions", async () => {
    const connection = await connect(await own("MaxSessions 2"));
    const results = await Promise.all(Array.from({ length: 12 }, () => exec(connection, "sleep 0.05; echo done")));
    expect(results.every(({ exitStatus }) => exitStatus === 0)).toBe(true);
    connection.close();
  });

  test("says that a server without sessions refuses them", async () => {
    const connection = await connect(await own("MaxSessions 0"));
    expect(await failure(exec(connection, "true"))).toMatchObject({ code: "ssh-channel" });
    connection.close();
  });

  test("a link that is cut in the middle of a command is a failure, never an empty success", async () => {
    const sshd = await own();
    const connection = await connect(sshd);
    const ends: (AppError | null)[] = [];
    connection.onClose((error) => ends.push(error));
    const running = [exec(connection, "sleep 60"), exec(connection, "echo begun; sleep 60")];
    await exec(connection, "true");
    sshd.kill();
    for (const command of running) {
      expect(await failure(command)).toMatchObject({ code: "ssh-closed" });
    }
    expect(ends).toMatchObject([{ code: "ssh-closed" }]);
    expect(await failure(exec(connection, "true"))).toMatchObject({ code: "ssh-closed" });
    connection.onClose((error) => ends.push(error));
    expect(ends.length).toBe(2);
  });

  test("a command that is killed has no exit status to give", async () => {
    const connection = await connect(shared);
    expect(await failure(exec(connection, "kill -9 $$"))).toMatchObject({
      code: "ssh-channel",
      evidence: { exitStatus: null, signal: "SIGKILL" },
    });
    connection.close();
  });

  test("a command past its time is given up, and its place is free again", async () => {
    const connection = await connect(shared);
    const slow = Array.from({ length: 8 }, () => exec(connection, "exec sleep 3", 500));
    for (const command of slow) expect(await failure(command)).toMatchObject({ code: "timeout" });
    expect((await exec(connection, "echo next")).stdout.toString()).toBe("next\n");
    connection.close();
  });

  test("a peer that stops answering is noticed after as many keepalives as are allowed", async () => {
    const sshd = await own();
    const connection = await connect(sshd, {}, 1);
    const { promise, resolve } = Promise.withResolvers<AppError | null>();
    connection.onClose(resolve);
    sshd.kill("SIGSTOP");
    const began = performance.now();
    const error = await promise;
    expect([error?.code, error?.message]).toEqual(["ssh-closed", "alpha stopped answering."]);
    // Three intervals of one second; with the default of two intervals of 22 s that is 44 s.
    expect(performance.now() - began).toBeLessThan(20_000);
    sshd.kill("SIGCONT");
  });

  test("a channel that never opens is given up", async () => {
    const sshd = await own();
    const connection = await connect(sshd, { limits: { channelOpenTimeoutMs: 500 } }, 0);
    sshd.kill("SIGSTOP");
    expect(await failure(exec(connection, "true"))).toMatchObject({
      code: "ssh-channel",
      message: expect.stringContaining("did not open a channel"),
    });
    sshd.kill("SIGCONT");
    connection.close();
  });

  test("a command that is cancelled ends with that", async () => {
    const connection = await connect(shared);
    const cancel = new AbortController();
    const running = connection.exec(["sleep", "60"], { timeoutMs: 60_000, signal: cancel.signal });
    await exec(connection, "true");
    cancel.abort();
    expect(await failure(running)).toMatchObject({ code: "cancelled" });
    connection.close();
  });

  test("a server stream ends for its reader when the link is cut", async () => {
    const sshd = await own();
    const connection = await connect(sshd);
    const opened = await connection.open(["sh", "-c", "echo ready; echo words >&2; cat"]);
    await new Promise((resolve) => opened.stream.once("data", resolve));
    const ended = new Promise((resolve) => opened.stream.once("end", resolve));
    opened.stream.resume();
    sshd.kill();
    await ended;
    expect(await opened.ended).toBe(null);
    expect(opened.stderrTail()).toBe("words\n");
  });

  test("closing on purpose is no error", async () => {
    const connection = await connect(shared);
    const ends: (AppError | null)[] = [];
    connection.onClose((error) => ends.push(error));
    const running = exec(connection, "sleep 60");
    running.catch(() => {});
    await exec(connection, "true");
    connection.close();
    expect(ends).toEqual([null]);
    expect(await failure(running)).toMatchObject({ code: "ssh-closed" });
  });
});
