import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Lab, type Sshd, sshdMissing, startSshd } from "../../../e2e/lab/sshd.ts";
import { SshConfigResolver } from "./config/resolve.ts";
import { Ssh2Transport } from "./transport.ts";

const missing = sshdMissing();
if (missing !== null) console.warn(`skipped: ${missing}`);

describe.skipIf(missing !== null)("a connection to a real sshd", () => {
  const lab = new Lab();
  let sshd: Sshd;
  let config: string;

  beforeAll(async () => {
    const key = lab.key();
    sshd = await startSshd(lab, { authorized: [key.publicKey] });
    const knownHosts = lab.write("known_hosts", sshd.knownHosts());
    config = lab.write(
      "config",
      `Host alpha\n  HostName 127.0.0.1\n  Port ${sshd.port}\n  User root\n  IdentityFile ${key.path}\n  IdentitiesOnly yes\n  UserKnownHostsFile ${knownHosts}\n`,
    );
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  test("runs a command by argument vector", async () => {
    const transport = new Ssh2Transport({ resolver: new SshConfigResolver({ configFile: config }) });
    const connection = await transport.connect({ kind: "name", name: "alpha" });
    const result = await connection.exec(["printf", "%s|", "it's", "a b", "$HOME"], { timeoutMs: 10_000 });
    expect({ ...result, stdout: result.stdout.toString(), stderr: result.stderr.toString() }).toEqual({
      stdout: "it's|a b|$HOME|",
      stderr: "",
      exitStatus: 0,
    });
    connection.close();
    transport.close();
  });
});
