#!/usr/bin/env node
// Runs the built host module from a checkout. On hosts the bundle stands alone and this file does not exist.
const { spawnSync } = require("node:child_process");
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const root = join(__dirname, "..", "..", "..");
const bundle = join(root, "dist", "host-module", "tessera-host.cjs");
const packaged = join(root, "node_modules", `node-linux-${process.arch}`, "bin", "node");

if (!existsSync(bundle)) {
  process.stderr.write("tessera-host is not built yet: run 'npm run build' first.\n");
  process.exit(1);
}
if (Number(process.versions.node.split(".")[0]) >= 24 || !existsSync(packaged)) {
  process.argv[1] = bundle;
  require(bundle);
} else {
  const child = spawnSync(packaged, [bundle, ...process.argv.slice(2)], { stdio: "inherit" });
  process.exit(child.status ?? 1);
}
