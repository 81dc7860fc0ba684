#!/usr/bin/env node
import { realSystem } from "../operating-system/index.ts";
import { serveHost } from "../serve/index.ts";

async function main(): Promise<void> {
  if (process.argv[2] === "serve") await serveHost(realSystem(), process.stdin, process.stdout);
}

void main();
