/**
 * `npm run package:check`: builds the unpacked application and asserts what is in it. Where Electron's binary
 * cannot be fetched, a stand-in takes its place: a file with a fuse wire, which is all that packing looks at.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listPackage } from "@electron/asar";
import { FuseV1Options, getCurrentFuseWire } from "@electron/fuses";
import { Arch, build, Platform } from "electron-builder";
import { fusedBinary, fuses } from "./fuses.ts";
import { collectRuntimes } from "./runtimes.ts";

const root = join(import.meta.dirname, "..", "..");
const require = createRequire(import.meta.url);

/** Electron finds its fuses behind this sequence of bytes. */
const fuseSentinel = "dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX";

function standIn(folder: string): string {
  const fuseCount = Object.keys(fuses).filter((key) => /^\d+$/.test(key)).length;
  const wire = Buffer.concat([
    Buffer.from("\x7fELF stand-in for the Electron binary\n"),
    Buffer.from(fuseSentinel, "latin1"),
    Buffer.from([1, fuseCount]),
    Buffer.alloc(fuseCount, "1"),
  ]);
  mkdirSync(join(folder, "resources"), { recursive: true });
  mkdirSync(join(folder, "locales"), { recursive: true });
  writeFileSync(join(folder, "electron"), wire, { mode: 0o755 });
  writeFileSync(join(folder, "version"), "45.5.0");
  for (const name of ["LICENSE", "LICENSES.chromium.html"]) writeFileSync(join(folder, name), "stand-in\n");
  writeFileSync(join(folder, "locales", "en-US.pak"), "");
  return folder;
}

const findings: string[] = [];
function check(what: string, holds: boolean): void {
  findings.push(`${holds ? "ok    " : "FAILED"} ${what}`);
  if (!holds) process.exitCode = 1;
}

const realElectron = join(require.resolve("electron/package.json"), "..", "dist");
const hasElectron = existsSync(join(realElectron, "electron"));
const scratch = mkdtempSync(join(tmpdir(), "tessera-package-"));
try {
  await collectRuntimes();
  if (!hasElectron) process.stdout.write("Electron's binary is not here: packing around a stand-in.\n");
  await build({
    targets: Platform.LINUX.createTarget("dir", Arch.x64),
    projectDir: root,
    config: {
      extends: join(root, "electron-builder.yml"),
      directories: { output: join(scratch, "packages"), buildResources: join(root, "resources/icons") },
      electronDist: hasElectron ? realElectron : standIn(join(scratch, "electron")),
    },
    publish: "never",
  });
  await checkContents(join(scratch, "packages", "linux-unpacked"));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(`${findings.join("\n")}\n`);
const failed = findings.filter((line) => line.startsWith("FAILED")).length;
process.stdout.write(`\n${findings.length - failed} passed, ${failed} failed\n`);

async function checkContents(folder: string): Promise<void> {
  const resources = join(folder, "resources");
  const entries = listPackage(join(resources, "app.asar"), { isPack: false }).map((path) => path.replaceAll("\\", "/"));
  const files = entries.filter((path) => /\.[a-z]+$/.test(path));

  for (const wanted of ["main.mjs", "preload.cjs", "services-process.mjs"]) {
    check(`app.asar has dist/electron/${wanted}`, entries.includes(`/dist/electron/${wanted}`));
  }
  check("app.asar has the page", entries.includes("/dist/renderer/index.html"));
  check("app.asar has no node_modules", !entries.some((path) => path.includes("node_modules")));
  check("app.asar has no sources, tests or maps", !files.some((path) => /\.(tsx?|map)$|\.test\.|\/e2e\//.test(path)));
  check("app.asar has no web server for development", !entries.some((path) => /web\.mjs|vite/.test(path)));
  check(
    "app.asar holds nothing but the bundles",
    files.every(
      (path) => path === "/package.json" || path.startsWith("/dist/electron/") || path.startsWith("/dist/renderer/"),
    ),
  );

  const renderer = readTree(join(root, "dist", "renderer"));
  check(
    "the page never imports electron or node",
    !/\brequire\(["'](electron|node:)|from\s*["'](electron|node:)/.test(renderer),
  );
  check("the page loads nothing from elsewhere", !/(src|href)=["']https?:/.test(renderer));

  check("the host module is outside the archive", existsSync(join(resources, "host-module", "tessera-host.cjs")));
  check(
    "its checksum is the built one",
    sha256(join(resources, "host-module", "tessera-host.cjs")) ===
      sha256(join(root, "dist/host-module/tessera-host.cjs")),
  );
  for (const architecture of ["x64", "arm64"]) {
    const runtime = join(resources, "runtimes", `node-linux-${architecture}.gz`);
    check(`the ${architecture} runtime is there`, existsSync(runtime) && statSync(runtime).size > 10_000_000);
  }
  check("the licence is there", existsSync(join(resources, "LICENSE")));

  const wire = await getCurrentFuseWire(fusedBinary("linux", folder, "Tessera", "tessera"));
  for (const [name, index] of Object.entries(FuseV1Options)) {
    if (typeof index !== "number") continue;
    const wanted = Reflect.get(fuses, index);
    check(`fuse ${name} is ${wanted ? "on" : "off"}`, Reflect.get(wire, index) === (wanted ? 0x31 : 0x30));
  }
}

function readTree(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(js|html)$/.test(name))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
