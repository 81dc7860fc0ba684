/** A root shell on the control host over one ssh channel: what a command takes is then without the start of ssh. */
import { spawn } from "node:child_process";
import { sshArguments } from "./host-session.ts";
import type { SlurmLab } from "./slurm.ts";

export interface Shell extends AsyncDisposable {
  /** Runs a line to its end. Throws with what it said where its exit status is not 0. */
  run(line: string): Promise<string>;
}

const mark = "--ended";

export async function openShell({ control, lab, rootKey }: SlurmLab): Promise<Shell> {
  const knownHostsFile = lab.write("known_hosts.shell", control.sshd.knownHosts(control.address), 0o644);
  const target = { address: control.address, user: "root", key: rootKey, knownHostsFile };
  const child = spawn("ssh", [...sshArguments(target), "sh"], { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  let heard: (() => void) | null = null;
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
    if (/--ended \d+\n$/.test(said)) heard?.();
  });
  child.once("close", () => heard?.());
  const run = async (line: string): Promise<string> => {
    said = "";
    const ended = new Promise<void>((resolve) => {
      heard = resolve;
    });
    child.stdin.write(`{ ${line}\n} 2>&1; echo ${mark} $?\n`);
    await ended;
    const [, words = said, status] = /^([\s\S]*?)--ended (\d+)\n$/.exec(said) ?? [];
    if (status !== "0") throw new Error(`${line} ended with ${status ?? "the shell"}: ${words.trim()}`);
    return words;
  };
  await run("true");
  return {
    run,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await new Promise((resolve) => (child.exitCode === null ? child.once("close", resolve) : resolve(null)));
    },
  };
}
