/** ProxyCommand: a program of the operator's own configuration whose standard streams are the connection. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { Duplex } from "node:stream";

export interface ProxyProcess {
  readonly stream: Duplex;
  /** The last of its standard error: usually says why there is no connection. */
  stderrTail(): string;
}

/** Runs `command` (its tokens already replaced) the way OpenSSH does: `$SHELL -c "exec COMMAND"`. */
export function startProxyCommand(command: string, shell: string): ProxyProcess {
  const child =
    process.platform === "win32"
      ? spawn(command, { shell: true, stdio: "pipe", windowsHide: true })
      : spawn(shell, ["-c", `exec ${command}`], { stdio: "pipe" });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString("utf8")).slice(-2_000);
  });
  return { stream: new ProcessStream(child), stderrTail: () => stderr.trim() };
}

class ProcessStream extends Duplex {
  readonly #child: ChildProcessWithoutNullStreams;

  constructor(child: ChildProcessWithoutNullStreams) {
    super({ allowHalfOpen: false });
    this.#child = child;
    child.stdout.on("data", (chunk: Buffer) => {
      if (!this.push(chunk)) child.stdout.pause();
    });
    child.on("error", (error) => this.destroy(error));
    // A program that ended early fails the writes that follow; its end is what counts.
    child.stdin.on("error", () => {});
    // Not at the end of its output: what it said on standard error is to be read by then.
    child.on("close", () => this.push(null));
  }

  override _read(): void {
    this.#child.stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    if (this.#child.stdin.write(chunk)) callback();
    else this.#child.stdin.once("drain", callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#child.stdin.end();
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#child.kill("SIGTERM");
    callback(error);
  }
}
