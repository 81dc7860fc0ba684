/**
 * Bundles the renderer, the services and the host module into dist/.
 * `--if-stale` does nothing where dist/ is newer than every source.
 */
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { build, type InlineConfig } from "vite";

const root = join(import.meta.dirname, "..", "..");
const output = join(root, "dist");
const stamp = join(output, ".built");

interface Bundle {
  readonly name: string;
  readonly entry: string;
  readonly file: string;
  readonly folder: string;
  readonly format: "cjs" | "es";
  readonly external: readonly string[];
}

/** Each becomes one file that needs no node_modules, so that packages and hosts carry nothing else. */
const bundles: readonly Bundle[] = [
  {
    name: "host module",
    entry: "resources/host-module/src/cli/main.ts",
    folder: "host-module",
    // CommonJS starts faster than ES modules, and the host module is started once a connection.
    file: "tessera-host.cjs",
    format: "cjs",
    external: [],
  },
  {
    name: "main",
    entry: "electron/main.ts",
    folder: "electron",
    file: "main.mjs",
    format: "es",
    external: ["electron"],
  },
  {
    // Sandboxed preload scripts must be CommonJS.
    name: "preload",
    entry: "electron/preload.ts",
    folder: "electron",
    file: "preload.cjs",
    format: "cjs",
    external: ["electron"],
  },
  {
    name: "services",
    entry: "electron/services-process.ts",
    folder: "electron",
    file: "services-process.mjs",
    format: "es",
    external: ["electron"],
  },
  { name: "command line", entry: "electron/cli.ts", folder: "electron", file: "cli.mjs", format: "es", external: [] },
];

/** Native add-ons that ssh2 tries and does without. */
const optionalNative = ["cpu-features", "./crypto/build/Release/sshcrypto.node", "bufferutil", "utf-8-validate"];

function configurationOf(bundle: Bundle): InlineConfig {
  return {
    root,
    configFile: false,
    logLevel: "warn",
    ssr: { noExternal: true, target: "node" },
    build: {
      ssr: bundle.entry,
      outDir: join("dist", bundle.folder),
      emptyOutDir: false,
      target: "node22",
      minify: bundle.folder === "host-module",
      rolldownOptions: {
        external: [...builtinModules, /^node:/, ...bundle.external, ...optionalNative],
        output: {
          format: bundle.format,
          entryFileNames: bundle.file,
          codeSplitting: false,
        },
      },
    },
  };
}

function newest(path: string): number {
  const status = statSync(path);
  if (!status.isDirectory()) return status.mtimeMs;
  return Math.max(status.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function stale(): boolean {
  if (!existsSync(stamp)) return true;
  const built = statSync(stamp).mtimeMs;
  const sources = ["shared", "renderer", "electron", "resources", "package.json", "package-lock.json"];
  return sources.some((name) => newest(join(root, name)) > built);
}

async function buildAll(): Promise<void> {
  const began = performance.now();
  for (const bundle of bundles) {
    if (!existsSync(join(root, bundle.entry))) throw new Error(`${bundle.entry} is missing`);
    await build(configurationOf(bundle));
  }
  await build({
    root: join(root, "renderer"),
    logLevel: "warn",
    build: { outDir: join(output, "renderer"), emptyOutDir: true },
  });
  writeFileSync(stamp, "");
  process.stderr.write(`Built dist/ in ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
}

if (!process.argv.includes("--if-stale") || stale()) await buildAll();
