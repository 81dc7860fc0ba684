/** What a person may do on a lab host: real ssh with the person's key, real sudo by the installed rule, `tessera-host serve`. */
import { spawn } from "node:child_process";
import { Duplex } from "node:stream";
import { HostChannel } from "../../electron/services/deploy/host-channel.ts";
import type { KeyPair } from "./sshd.ts";

export interface HostSession extends AsyncDisposable {
  readonly channel: HostChannel;
  /** What ssh and sudo said. */
  errors(): string;
}

export interface SessionTarget {
  readonly address: string;
  readonly user: string;
  readonly key: Pick<KeyPair, "path">;
  readonly knownHostsFile: string;
}

/** ssh's arguments up to the command. */
export function sshArguments({ address, user, key, knownHostsFile }: SessionTarget): readonly string[] {
  const options = [
    ...["BatchMode=yes", "IdentitiesOnly=yes", `UserKnownHostsFile=${knownHostsFile}`, "LogLevel=ERROR"],
    ...["StrictHostKeyChecking=yes", `IdentityFile=${key.path}`],
  ];
  return ["-F", "none", "-T", ...options.flatMap((option) => ["-o", option]), `${user}@${address}`];
}

export async function openSession(target: SessionTarget, command: readonly string[]): Promise<HostSession> {
  const child = spawn("ssh", [...sshArguments(target), ...command], { stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const stream = Duplex.from({ readable: child.stdout, writable: child.stdin });
  stream.on("error", () => undefined);
  const channel = new HostChannel(target.user, stream);
  channel.start(Buffer.alloc(0));
  await channel.hello("test");
  return {
    channel,
    errors: () => said,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await new Promise((resolve) => (child.exitCode === null ? child.once("close", resolve) : resolve(null)));
    },
  };
}
