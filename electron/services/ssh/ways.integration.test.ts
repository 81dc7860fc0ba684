import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type KeyPair, Lab, type Sshd, sshdMissing, startSshd } from "../../../e2e/lab/sshd.ts";
import type { PromptAnswer } from "../../../shared/api/contract.ts";
import { AppError } from "../../../shared/errors.ts";
import { SshConfigResolver } from "./config/resolve.ts";
import type { Question, SshConnection, SshTarget } from "./interfaces.ts";
import { ScriptedPrompter } from "./testing.ts";
import { Ssh2Transport } from "./transport.ts";

const missing = sshdMissing();
if (missing !== null) console.warn(`skipped: ${missing}`);

const accept = (remember: boolean): PromptAnswer => ({ kind: "accept-host-key", remember });

describe.skipIf(missing !== null)("reaching real sshds", () => {
  const lab = new Lab();
  const running: Ssh2Transport[] = [];
  let key: KeyPair;
  let target: Sshd;
  let bastion: Sshd;
  let inner: Sshd;

  beforeAll(async () => {
    key = lab.key();
    const authorized = [key.publicKey];
    [target, bastion, inner] = await Promise.all([
      startSshd(lab, { authorized, addresses: ["127.0.10.1"] }),
      startSshd(lab, { authorized, addresses: ["127.0.10.2"] }),
      startSshd(lab, { authorized, addresses: ["127.0.10.3"] }),
    ]);
  });
  afterAll(async () => {
    for (const transport of running) transport.close();
    await lab[Symbol.asyncDispose]();
  });

  const everyKnownHost = () => [target, bastion, inner].map((sshd) => sshd.knownHosts()).join("");
  const host = (name: string, sshd: Sshd, ...lines: string[]) =>
    [`Host ${name}`, `HostName ${sshd.address}`, `Port ${sshd.port}`, ...lines].join("\n  ");

  function reach(
    hosts: readonly string[],
    knownHosts: string,
    answer: (question: Question) => PromptAnswer = () => ({ kind: "cancel" }),
    ...lines: string[]
  ) {
    const file = lab.write(`known-${running.length}`, knownHosts);
    const configFile = lab.write(
      `config-${running.length}`,
      [
        ...hosts,
        ["Host *", "User root", `IdentityFile ${key.path}`, `UserKnownHostsFile ${file}`, ...lines].join("\n  "),
        "",
      ].join("\n"),
    );
    const prompter = new ScriptedPrompter(answer);
    const transport = new Ssh2Transport({ prompter, resolver: new SshConfigResolver({ configFile }) });
    running.push(transport);
    const connect = (name: string) => transport.connect({ kind: "name", name });
    return { prompter, transport, connect, file, configFile };
  }

  const client = async (connection: SshConnection): Promise<string> => {
    const { stdout } = await connection.exec(["sh", "-c", 'echo "$SSH_CONNECTION"'], { timeoutMs: 10_000 });
    connection.close();
    return stdout.toString();
  };

  const failure = async (attempt: Promise<unknown>): Promise<AppError> => {
    const outcome = await attempt.catch((error: unknown) => error);
    if (outcome instanceof AppError) return outcome;
    throw new Error(`no AppError: ${String(outcome)}`);
  };

  describe("the way", () => {
    test("leads through two jump hosts, each verified under its own name", async () => {
      const { connect, prompter } = reach(
        [host("alpha", target, "ProxyJump hop1,hop2"), host("hop1", bastion), host("hop2", inner)],
        everyKnownHost(),
        undefined,
        "StrictHostKeyChecking yes",
      );
      expect(await client(await connect("alpha"))).toMatch(new RegExp(` 127.0.10.1 ${target.port}$`, "m"));
      expect(prompter.asked).toEqual([]);
    });

    test("does not pass a jump host whose key changed", async () => {
      const { connect } = reach(
        [host("alpha", target, "ProxyJump hop1"), host("hop1", bastion)],
        `${target.knownHosts()}[${bastion.address}]:${bastion.port} ${lab.key().publicKey}\n`,
      );
      expect(await failure(connect("alpha"))).toMatchObject({
        code: "ssh-host-key-changed",
        evidence: { host: "hop1" },
      });
    });

    test("of jump hosts in a circle is refused", async () => {
      const { connect } = reach(
        [host("a", target, "ProxyJump b"), host("b", bastion, "ProxyJump a")],
        everyKnownHost(),
      );
      expect(await failure(connect("a"))).toMatchObject({ code: "ssh-config" });
    });

    test("goes through a ProxyCommand with its tokens", async () => {
      const plain = reach([host("hop1", bastion)], everyKnownHost());
      const { connect } = reach(
        [host("alpha", target, `ProxyCommand ssh -F ${plain.configFile} -W %h:%p hop1`)],
        everyKnownHost(),
      );
      expect(await client(await connect("alpha"))).toMatch(new RegExp(` 127.0.10.1 ${target.port}$`, "m"));
    });

    test("through a ProxyCommand that fails says what it said", async () => {
      const { connect } = reach([host("alpha", target, "ProxyCommand echo no such gate >&2")], everyKnownHost());
      const error = await failure(connect("alpha"));
      expect([error.code, error.evidence?.details]).toEqual([
        "ssh-unreachable",
        expect.stringContaining("no such gate"),
      ]);
    });

    test("takes IPv6 and a port in the name", async () => {
      const six = await startSshd(lab, { authorized: [key.publicKey], addresses: ["::1"] });
      const { connect } = reach([], `[::1]:${six.port} ${six.hostKeys[0]?.publicKey}\n`);
      expect(await client(await connect(`root@[::1]:${six.port}`))).toMatch(/^::1 /);
    });

    test("to nowhere says why", async () => {
      const { connect } = reach(["Host none\n  HostName no-such-host.invalid"], "");
      expect(await failure(connect("127.0.10.1:1"))).toMatchObject({
        code: "ssh-unreachable",
        message: expect.stringContaining("refused the connection"),
      });
      expect((await failure(connect("none"))).code).toBe("ssh-unreachable");
    });

    test("given outright needs no configuration, and takes exactly the given key", async () => {
      const { transport } = reach([], "");
      const direct = (hostKey: string): SshTarget => ({
        kind: "direct",
        settings: {
          name: "demo",
          address: target.address,
          port: target.port,
          user: "root",
          privateKey: key.privateKey,
          hostKey,
        },
      });
      expect(await client(await transport.connect(direct(target.hostKeys[0]?.publicKey ?? "")))).not.toBe("");
      expect((await failure(transport.connect(direct(lab.key().publicKey)))).code).toBe("ssh-host-key-changed");
    });

    test("is given up when the operator gives up", async () => {
      const { transport } = reach([host("alpha", target)], "", () => ({ kind: "cancel" }));
      const giveUp = new AbortController();
      const connecting = transport.connect(
        { kind: "name", name: "alpha" },
        { signal: giveUp.signal, prompter: { ask: () => new Promise(() => giveUp.abort()) } },
      );
      expect((await failure(connecting)).code).toBe("cancelled");
    });
  });

  describe("a host key", () => {
    test("that is unknown is shown, and kept where the operator says so", async () => {
      const { connect, prompter, file } = reach([host("alpha", target)], "# mine\n", () => accept(true));
      await client(await connect("alpha"));
      await client(await connect("alpha"));
      expect(prompter.asked).toMatchObject([
        { kind: "host-key-unknown", host: "alpha", keyType: "ssh-ed25519", knownHostsFile: file },
      ]);
      expect(readFileSync(file, "utf8").startsWith("# mine\n")).toBe(true);
      expect(readFileSync(file, "utf8").split("\n").length).toBe(3);
    });

    test("that is accepted for now is not written down", async () => {
      const { connect, prompter, file } = reach([host("alpha", target)], "", () => accept(false));
      await client(await connect("alpha"));
      await client(await connect("alpha"));
      expect([prompter.asked.length, readFileSync(file, "utf8")]).toEqual([1, ""]);
    });

    test("that is not accepted ends the connection before the login", async () => {
      const { connect } = reach([host("alpha", target)], "");
      const before = target.log().length;
      expect((await failure(connect("alpha"))).code).toBe("ssh-host-key-unknown");
      expect(target.log().slice(before)).not.toMatch(/Accepted|Failed/);
    });

    test("that changed is refused; StrictHostKeyChecking yes does not even ask", async () => {
      const changed = `[${target.address}]:${target.port} ${lab.key().publicKey}\n`;
      const asking = reach([host("alpha", target)], `#\n${changed}`);
      const error = await failure(asking.connect("alpha"));
      expect([error.code, error.evidence?.details]).toEqual([
        "ssh-host-key-changed",
        expect.stringContaining("line 2"),
      ]);
      expect(asking.prompter.asked).toMatchObject([{ kind: "host-key-changed", line: 2 }]);
      const strict = reach([host("alpha", target)], changed, () => accept(true), "StrictHostKeyChecking yes");
      expect((await failure(strict.connect("alpha"))).code).toBe("ssh-host-key-changed");
      expect(strict.prompter.asked).toEqual([]);
    });

    test("that is revoked is refused, whatever StrictHostKeyChecking says", async () => {
      const revoked = `@revoked * ${target.hostKeys[0]?.publicKey}\n${target.knownHosts()}`;
      const { connect, prompter } = reach([host("alpha", target)], revoked, undefined, "StrictHostKeyChecking no");
      expect((await failure(connect("alpha"))).code).toBe("ssh-host-key-revoked");
      expect(prompter.asked).toEqual([]);
    });

    test("is taken in silence with accept-new, hashed where HashKnownHosts says so", async () => {
      const { connect, prompter, file } = reach(
        [host("alpha", target)],
        "",
        undefined,
        "StrictHostKeyChecking accept-new",
        "HashKnownHosts yes",
      );
      await client(await connect("alpha"));
      await client(await connect("alpha"));
      expect(prompter.asked).toEqual([]);
      expect(readFileSync(file, "utf8")).toMatch(/^\|1\|\S+ ssh-ed25519 \S+\n$/);
    });

    test("of the type on file is asked for; another type alone is no first sight", async () => {
      const [ed25519, rsa] = [lab.key(), lab.key({ type: "rsa" })];
      const both = await startSshd(lab, { authorized: [key.publicKey], hostKeys: [ed25519, rsa] });
      const line = (pair: KeyPair) => `[127.0.0.1]:${both.port} ${pair.publicKey}\n`;
      const known = reach([host("alpha", both)], line(rsa));
      await client(await known.connect("alpha"));
      expect(known.prompter.asked).toEqual([]);

      const one = await startSshd(lab, { authorized: [key.publicKey], hostKeys: [ed25519] });
      const other = reach(
        [host("alpha", one)],
        `[127.0.0.1]:${one.port} ${rsa.publicKey}\n`,
        undefined,
        "StrictHostKeyChecking accept-new",
      );
      expect((await failure(other.connect("alpha"))).code).toBe("ssh-host-key-changed");
      expect(other.prompter.kinds()).toEqual(["host-key-changed"]);
    });

    test("under a certificate authority only is said to be beyond us", async () => {
      const { connect } = reach([host("alpha", target)], `@cert-authority * ${lab.key().publicKey}\n`);
      expect((await failure(connect("alpha"))).code).toBe("ssh-unsupported");
    });

    test("is asked about once for many connections, and holds up nobody else", async () => {
      let answer: (value: PromptAnswer) => void = () => {};
      const { transport } = reach([host("slow", target), host("quick", bastion)], bastion.knownHosts());
      const prompter = new ScriptedPrompter(() => new Promise((resolve) => (answer = resolve)));
      const connectSlow = () => transport.connect({ kind: "name", name: "slow" }, { prompter });
      const slow = Promise.all(Array.from({ length: 8 }, connectSlow));
      await expect.poll(() => prompter.asked.length, { timeout: 10_000 }).toBe(1);
      const quick = await transport.connect({ kind: "name", name: "quick" });
      quick.close();
      answer(accept(false));
      const connected = await slow;
      for (const connection of connected) connection.close();
      expect(prompter.asked.length).toBe(1);
    });
  });

  test("64 hosts come through one bastion without being dropped", async () => {
    const hosts = Array.from({ length: 64 }, (_, index) => `gpu${index}`);
    const { connect } = reach(
      [
        ["Host gpu*", `HostName ${target.address}`, `Port ${target.port}`, "ProxyJump hop1"].join("\n  "),
        host("hop1", bastion),
      ],
      everyKnownHost(),
    );
    const connections = await Promise.all(hosts.map(connect));
    expect(connections.length).toBe(64);
    const logins = bastion.log().match(/Accepted publickey/g)?.length ?? 0;
    for (const connection of connections) connection.close();
    expect(logins).toBeLessThan(64);
    expect(bastion.log()).not.toMatch(/drop connection/i);
  });
});
