#!/usr/bin/env node
import { realpathSync } from "node:fs";
import { realSystem } from "../operating-system/index.ts";
import { cancelledByCaller, connectionLost } from "../serve/interruption.ts";
import { largestWishBytes } from "./arguments.ts";

/**
 * The program. A change that runs is never cut off by a signal: Ctrl-C asks it to roll back after its step, hang-up and
 * termination ask it to stop after its step and leave the operation open. The driver's commands run in process groups of
 * their own and see none of these signals.
 */
async function main(): Promise<void> {
  const stop = new AbortController();
  process.on("SIGINT", () => stop.abort(cancelledByCaller()));
  process.on("SIGTERM", () => stop.abort(connectionLost("SIGTERM")));
  process.on("SIGHUP", () => stop.abort(connectionLost("SIGHUP")));
  // A reader that went away (`tessera-host ... | head`) is a lost connection as well, and no reason to die in mid-step.
  process.stdout.on("error", (error) => stop.abort(connectionLost(error.message)));
  process.stderr.on("error", (error) => stop.abort(connectionLost(error.message)));

  const args = process.argv.slice(2);
  const system = realSystem();
  if (args.length === 1 && args[0] === "serve") {
    const { serveHost } = await import("../serve/index.ts");
    await serveHost(system, process.stdin, process.stdout, stop.signal);
    // Standard input may stay open after a signal; nothing is left to wait for.
    process.exit(0);
  }
  const { runCommandLine } = await import("./run.ts");
  process.exitCode = await runCommandLine(
    args,
    system,
    {
      out: (text) => void process.stdout.write(text.endsWith("\n") ? text : `${text}\n`),
      error: (text) => void process.stderr.write(text.endsWith("\n") ? text : `${text}\n`),
      readInput: async () => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        for await (const chunk of process.stdin) {
          const buffer = Buffer.from(chunk);
          bytes += buffer.length;
          if (bytes > largestWishBytes) throw new Error("more input than a request can be");
          chunks.push(buffer);
        }
        return Buffer.concat(chunks).toString("utf8");
      },
      signal: stop.signal,
    },
    { bundle: realpathSync(process.argv[1] ?? ""), runtime: process.execPath },
  );
}

void main();
