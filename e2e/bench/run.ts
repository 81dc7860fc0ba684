/** `npm run bench -- NAME ...`: runs benchmarks, prints a table each and writes bench-results/NAME.json. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Metric } from "./metric.ts";

const root = join(import.meta.dirname, "..", "..");

/** What each measures stands in the file of its name. */
const benches = ["plan", "host-module", "board", "fan-out", "idle", "quota"] as const;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !benches.some((bench) => bench === name));
if (unknown.length > 0) {
  process.stderr.write(`No benchmark ${unknown.join(", ")}. There are: ${benches.join(", ")}.\n`);
  process.exit(2);
}
const build = spawnSync(process.execPath, [join(root, "electron", "dev", "build.ts"), "--if-stale"], {
  stdio: "inherit",
});
if (build.status !== 0) process.exit(1);

for (const name of wanted.length > 0 ? wanted : benches) {
  const bench: { run(): Promise<readonly Metric[]> } = await import(`./${name}.ts`);
  const metrics = await bench.run();
  const folder = join(root, "bench-results");
  if (!existsSync(folder)) mkdirSync(folder);
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(metrics, null, 2)}\n`);
  process.stdout.write(`\n${name}\n${table(metrics)}\n`);
  if (metrics.some((metric) => !metric.ok)) process.exitCode = 1;
}
// A benchmark may leave connections or browsers to be collected; nothing here waits for them.
process.exit();

function table(metrics: readonly Metric[]): string {
  const rows = metrics.map(({ metric, value, unit, target, ok }) => [
    metric,
    `${Number(value.toPrecision(4))} ${unit}`,
    target,
    ok ? "ok" : "MISSED",
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   ")).join("\n");
}
