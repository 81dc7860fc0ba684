/** Starts the console as a user does, in a process of its own, and gives the link it prints. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

export interface ConsoleOptions {
  readonly demo?: boolean;
  /** Kept over a restart; a new one when absent. */
  readonly dataDirectory?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly argv?: readonly string[];
}

export interface RunningConsole extends AsyncDisposable {
  /** The newest link with a one-time token: each is good once. */
  link(): string;
  readonly dataDirectory: string;
  readonly process: ChildProcess;
  output(): string;
  /** SIGKILL: nothing is put in order. */
  kill(): Promise<void>;
}

export async function startConsole(options: ConsoleOptions = {}): Promise<RunningConsole> {
  const dataDirectory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), "tessera-console-"));
  const argv = [
    join(root, "electron", "web.ts"),
    ...["--port", "0", "--data-directory", dataDirectory],
    ...(options.demo === false ? ["--no-demo"] : []),
    ...(options.argv ?? []),
  ];
  const child = spawn(process.execPath, argv, {
    cwd: root,
    env: { ...process.env, ...options.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // A test that ends without disposing leaves nothing behind.
  const orphaned = () => child.kill("SIGKILL");
  process.once("exit", orphaned);
  child.once("exit", () => process.off("exit", orphaned));
  let output = "";
  const links: string[] = [];
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ready = Promise.withResolvers<void>();
  const collect = (chunk: Buffer) => {
    output += chunk.toString("utf8");
    links.splice(0, links.length, ...(output.match(/http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+(?=\s)/g) ?? []));
    if (links.length > 0) ready.resolve();
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  child.once("exit", () => ready.reject(new Error(`the console ended before it was ready:\n${output}`)));
  await ready.promise;

  const stop = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  return {
    link: () => links.at(-1) ?? "",
    dataDirectory,
    process: child,
    output: () => output,
    kill: () => stop("SIGKILL"),
    [Symbol.asyncDispose]: () => stop("SIGTERM"),
  };
}
