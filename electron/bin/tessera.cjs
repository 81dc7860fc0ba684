#!/usr/bin/env node
// Runs the built command line from a checkout.
const { spawnSync } = require("node:child_process");
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const root = join(__dirname, "..", "..");
const bundle = join(root, "dist", "electron", "cli.mjs");
const packaged = join(root, "node_modules", `node-linux-${process.arch}`, "bin", "node");

if (!existsSync(bundle)) {
  process.stderr.write("tessera is not built yet: run 'npm run build' first.\n");
  process.exit(1);
}
if (Number(process.versions.node.split(".")[0]) >= 24 || !existsSync(packaged)) {
  process.argv[1] = bundle;
  import(require("node:url").pathToFileURL(bundle).href);
} else {
  const child = spawnSync(packaged, [bundle, ...process.argv.slice(2)], { stdio: "inherit" });
  process.exit(child.status ?? 1);
}
