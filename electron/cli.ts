#!/usr/bin/env node
/** `tessera`: see command-line/program.ts. */
import { runCommandLine } from "./command-line/program.ts";

process.exitCode = await runCommandLine(process.argv.slice(2));
