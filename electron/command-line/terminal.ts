/** Where a command writes; tests give their own. */
export interface Terminal {
  out(text: string): void;
  error(text: string): void;
  /** Raised when nobody reads any more (`tessera ... | head`): the command ends as after Ctrl-C, and says nothing. */
  readonly readerGone?: AbortSignal;
}

/** What a shell shows for a program that SIGPIPE ended: Node ignores that signal, so we end as other tools do by hand. */
export const readerGoneStatus = 128 + 13;

export function processTerminal(): Terminal {
  const gone = new AbortController();
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // After the first failure each further write fails as well.
      if (gone.signal.aborted) return;
      const isReaderGone = error.code === "EPIPE" || error.code === "ECONNRESET";
      // Any other reason, like a full disk below a redirection, must be said: what was asked for is not all there.
      if (!isReaderGone && stream === process.stdout) {
        process.stderr.write(`Standard output cannot be written: ${error.message}\n`);
      }
      const status = isReaderGone ? readerGoneStatus : 1;
      // The failure may come after the command has answered its own status.
      process.once("exit", () => {
        process.exitCode = status;
      });
      gone.abort();
    });
  }
  return {
    out: (text) => process.stdout.write(text),
    error: (text) => process.stderr.write(text),
    readerGone: gone.signal,
  };
}
