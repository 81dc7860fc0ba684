#!/usr/bin/env node
/**
 * The simulated `nvidia-smi` as a program of its own. The machine is the directory in TESSERA_SIMULATED_MACHINE
 * (machine-directory.ts); TESSERA_SIMULATED_UNPRIVILEGED=1 makes it answer root as it answers everybody else.
 */
import { enableCompileCache } from "node:module";

enableCompileCache();
const { runCommand } = await import("./run-command.ts");
await runCommand(process.argv.slice(2));
