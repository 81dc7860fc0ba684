import { execFileSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addUser, type KeyPair, Lab, type Sshd, sshdMissing, startAgent, startSshd } from "../../../e2e/lab/sshd.ts";
import type { PromptAnswer } from "../../../shared/api/contract.ts";
import { AppError } from "../../../shared/errors.ts";
import { SshConfigResolver } from "./config/resolve.ts";
import { memorySecretStore, type Question, type SecretStore } from "./interfaces.ts";
import { ScriptedPrompter, secrets } from "./testing.ts";
import { Ssh2Transport } from "./transport.ts";

const missing = sshdMissing();
if (missing !== null) console.warn(`skipped: ${missing}`);

const password = "correct horse battery staple";
const passphrase = "open sesame 42";

describe.skipIf(missing !== null)("logging in to a real sshd", () => {
  const lab = new Lab();
  const user = `tessera-l${process.pid}`;
  const running: Ssh2Transport[] = [];
  let key: KeyPair;
  let locked: KeyPair;
  let stranger: KeyPair;
  let authorized: string;
  const pam = ["UsePAM yes", "KbdInteractiveAuthentication yes"];

  beforeAll(() => {
    key = lab.key();
    locked = lab.key({ passphrase });
    stranger = lab.key({ type: "rsa" });
    addUser(lab, user, password);
    authorized = lab.write("both", `${key.publicKey}\n${locked.publicKey}\n`, 0o644);
  });
  afterAll(async () => {
    for (const transport of running) transport.close();
    await lab[Symbol.asyncDispose]();
  });

  const server = (...lines: string[]) => startSshd(lab, { lines: [`AuthorizedKeysFile ${authorized}`, ...lines] });

  /** A transport whose configuration reaches this server with these lines. */
  function reach(
    sshd: Sshd,
    lines: readonly string[],
    answer: (question: Question) => PromptAnswer = () => ({ kind: "cancel" }),
    more: { readonly secrets?: SecretStore; readonly agent?: string } = {},
  ) {
    const config = lab.write(
      `config-${running.length}`,
      [
        "Host *",
        "  HostName 127.0.0.1",
        `  Port ${sshd.port}`,
        `  UserKnownHostsFile ${lab.write(`known-${running.length}`, sshd.knownHosts())}`,
        ...lines.map((line) => `  ${line}`),
        `  User ${user}`,
        "",
      ].join("\n"),
    );
    const prompter = new ScriptedPrompter(answer);
    const transport = new Ssh2Transport({
      prompter,
      ...(more.secrets === undefined ? {} : { secrets: more.secrets }),
      resolver: new SshConfigResolver({
        configFile: config,
        environment: { ...process.env, SSH_AUTH_SOCK: more.agent },
      }),
    });
    running.push(transport);
    const whoami = async (name = "alpha") => {
      const connection = await transport.connect({ kind: "name", name });
      const { stdout } = await connection.exec(["id", "-un"], { timeoutMs: 10_000 });
      connection.close();
      return stdout.toString().trim();
    };
    return { prompter, transport, whoami };
  }

  const failure = async (attempt: Promise<unknown>): Promise<AppError> => {
    const outcome = await attempt.catch((error: unknown) => error);
    if (outcome instanceof AppError) return outcome;
    throw new Error(`no AppError: ${String(outcome)}`);
  };

  test("with a key file", async () => {
    const { whoami, prompter } = reach(await server(), [`IdentityFile ${stranger.path}`, `IdentityFile ${key.path}`]);
    expect(await whoami()).toBe(user);
    expect(prompter.asked).toEqual([]);
  });

  test("with an RSA key, signed with SHA-2", async () => {
    const file = lab.write("rsa-authorized", `${stranger.publicKey}\n`, 0o644);
    const sshd = await startSshd(lab, { lines: [`AuthorizedKeysFile ${file}`] });
    expect(await reach(sshd, [`IdentityFile ${stranger.path}`]).whoami()).toBe(user);
  });

  test("with an agent, and only the configured key where IdentitiesOnly says so", async () => {
    const agent = startAgent(lab, [stranger, key]);
    const sshd = await server();
    expect(await reach(sshd, ["IdentityFile /none"], undefined, { agent }).whoami()).toBe(user);
    const only = reach(sshd, ["IdentitiesOnly yes", `IdentityFile ${stranger.path}`], undefined, { agent });
    expect(await failure(only.whoami())).toMatchObject({ code: "ssh-auth" });
    const byIdentityAgent = reach(sshd, [`IdentityAgent ${agent}`, "IdentityFile /none"]);
    expect(await byIdentityAgent.whoami()).toBe(user);
  });

  test("with an encrypted key: asked once for many hosts, again after a wrong passphrase", async () => {
    const { whoami, prompter } = reach(await server(), [`IdentityFile ${locked.path}`], (question) =>
      secrets(question.kind === "passphrase" && question.attempt > 1 ? passphrase : "wrong"),
    );
    expect(await Promise.all(["a", "b", "c", "d"].map((name) => whoami(name)))).toEqual([user, user, user, user]);
    expect(prompter.asked).toMatchObject([
      { kind: "passphrase", keyFile: locked.path, attempt: 1 },
      { kind: "passphrase", keyFile: locked.path, attempt: 2 },
    ]);
  });

  test("no passphrase is asked for a key that the server does not want", async () => {
    const unwanted = lab.key({ passphrase });
    const { whoami, prompter } = reach(await server(), [`IdentityFile ${unwanted.path}`, `IdentityFile ${key.path}`]);
    expect(await whoami()).toBe(user);
    expect(prompter.asked).toEqual([]);
  });

  test("with a password, kept for reconnects; a wrong one is asked again", async () => {
    const { whoami, prompter } = reach(await server("PasswordAuthentication yes"), ["IdentityFile /none"], (question) =>
      secrets(question.kind === "password" && question.attempt > 1 ? password : "wrong"),
    );
    expect(await whoami()).toBe(user);
    expect(await whoami()).toBe(user);
    expect(prompter.asked).toEqual([
      { kind: "password", host: "alpha", user, attempt: 1 },
      { kind: "password", host: "alpha", user, attempt: 2 },
    ]);
  });

  test("a password is remembered where the operator wants it, and forgotten where it is refused", async () => {
    const store = memorySecretStore();
    const sshd = await server("PasswordAuthentication yes");
    const remembering = reach(
      sshd,
      ["IdentityFile /none"],
      () => ({ kind: "secrets", values: [password], remember: true }),
      { secrets: store },
    );
    expect(await remembering.whoami()).toBe(user);
    const key = `password ${user}@127.0.0.1:${sshd.port}`;
    expect(await store.get(key)).toBe(password);
    expect(await reach(sshd, ["IdentityFile /none"], undefined, { secrets: store }).whoami()).toBe(user);
    await store.set(key, "stale");
    await failure(reach(sshd, ["IdentityFile /none"], () => secrets("bad"), { secrets: store }).whoami());
    expect(await store.get(key)).toBe(null);
  });

  test("a refused login says what was tried, and no secret", async () => {
    const sshd = await server("PasswordAuthentication yes");
    const { whoami, prompter } = reach(sshd, [`IdentityFile ${stranger.path}`], () => secrets("hunter2-hunter2"));
    const error = await failure(whoami());
    expect(error.code).toBe("ssh-auth");
    expect(error.evidence?.details).toContain("password, password, password");
    expect(error.evidence?.details).toContain(stranger.path);
    expect(prompter.asked.length).toBe(3);
    const everything = JSON.stringify([error.toData(), String(error.stack), String(error.cause), prompter.asked]);
    expect(everything).not.toContain("hunter2");
  });

  test("a cancelled question ends the login at once", async () => {
    const { whoami, prompter } = reach(await server("PasswordAuthentication yes"), ["IdentityFile /none"]);
    expect(await failure(whoami())).toMatchObject({ code: "ssh-auth", message: expect.stringContaining("cancelled") });
    expect(prompter.asked.length).toBe(1);
  });

  test("with keyboard-interactive", async () => {
    const sshd = await server(...pam, "AuthenticationMethods keyboard-interactive");
    const { whoami, prompter } = reach(sshd, ["IdentityFile /none"], () => secrets(password));
    expect(await whoami()).toBe(user);
    expect(await whoami()).toBe(user);
    expect(prompter.asked).toMatchObject([
      { kind: "keyboard-interactive", questions: [{ text: expect.stringMatching(/password/i), echo: false }] },
    ]);
  });

  describe("with a key and then keyboard-interactive (partial success)", () => {
    let sshd: Sshd;
    beforeAll(async () => {
      sshd = await server(...pam, "AuthenticationMethods publickey,keyboard-interactive");
    });

    test("a key file", async () => {
      const { whoami, prompter } = reach(sshd, [`IdentityFile ${key.path}`], () => secrets(password));
      expect(await whoami()).toBe(user);
      expect(prompter.kinds()).toEqual(["keyboard-interactive"]);
    });

    test("an agent with more than one key", async () => {
      const agent = startAgent(lab, [stranger, key]);
      const { whoami, prompter } = reach(sshd, ["IdentityFile /none"], () => secrets(password), { agent });
      expect(await whoami()).toBe(user);
      expect(prompter.kinds()).toEqual(["keyboard-interactive"]);
    });

    test("an encrypted key", async () => {
      const { whoami, prompter } = reach(sshd, [`IdentityFile ${locked.path}`], (question) =>
        secrets(question.kind === "passphrase" ? passphrase : password),
      );
      expect(await whoami()).toBe(user);
      expect(prompter.kinds()).toEqual(["passphrase", "keyboard-interactive"]);
    });
  });

  test("a fleet that takes only certificates is said to be one, without a question", async () => {
    const authority = lab.key();
    const own = lab.key();
    const sign = ["-q", "-s", authority.path, "-I", "lab", "-n", user, `${own.path}.pub`];
    execFileSync("ssh-keygen", sign);
    writeFileSync(lab.path("ca.pub"), `${authority.publicKey}\n`, { mode: 0o644 });
    const sshd = await startSshd(lab, {
      lines: [`TrustedUserCAKeys ${lab.path("ca.pub")}`, "PasswordAuthentication yes", "AuthorizedKeysFile none"],
    });
    const { whoami, prompter } = reach(sshd, [`IdentityFile ${own.path}`], () => secrets("never"));
    expect(await failure(whoami())).toMatchObject({
      code: "ssh-unsupported",
      message: expect.stringContaining(`certificate ${own.path}-cert.pub`),
    });
    // And from an agent, which holds the certificate without a file.
    const bare = lab.path("moved");
    copyFileSync(own.path, bare);
    const agent = startAgent(lab, [own]);
    const fromAgent = reach(sshd, ["IdentityFile /none"], () => secrets("never"), { agent });
    expect(await failure(fromAgent.whoami())).toMatchObject({ code: "ssh-unsupported" });
    expect([prompter.asked, fromAgent.prompter.asked]).toEqual([[], []]);
  });

  test("a server that takes only GSSAPI is said to be one", async () => {
    const sshd = await server("PubkeyAuthentication no", "GSSAPIAuthentication yes");
    const { whoami } = reach(sshd, [`IdentityFile ${key.path}`], () => secrets("never"));
    expect(await failure(whoami())).toMatchObject({
      code: "ssh-unsupported",
      message: expect.stringContaining("gssapi-with-mic"),
    });
  });

  test("a FIDO key file is said to be one", async () => {
    // What ssh-keygen -t ed25519-sk writes needs the token; the public half in the file's head is what is looked at.
    const field = (text: string | Buffer) => {
      const bytes = Buffer.from(text);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return Buffer.concat([length, bytes]);
    };
    const type = "sk-ssh-ed25519@openssh.com";
    const publicKey = Buffer.concat([field(type), field(Buffer.alloc(32, 7)), field("ssh:")]);
    const one = Buffer.from([0, 0, 0, 1]);
    const body = Buffer.concat([
      Buffer.from("openssh-key-v1\0"),
      field("none"),
      field("none"),
      field(""),
      one,
      field(publicKey),
      field(Buffer.alloc(64)),
    ]);
    const text = body.toString("base64").replace(/(.{70})/g, "$1\n");
    const path = lab.write(
      "id_ed25519_sk",
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${text}\n-----END OPENSSH PRIVATE KEY-----\n`,
    );
    const { whoami } = reach(await server(), [`IdentityFile ${path}`]);
    expect(await failure(whoami())).toMatchObject({
      code: "ssh-unsupported",
      message: expect.stringContaining(`FIDO key ${path}`),
    });
  });
});
