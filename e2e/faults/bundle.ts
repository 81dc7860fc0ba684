import { builtinModules } from "node:module";
import { join } from "node:path";
import { build } from "vite";
import { bundleProgram } from "../../resources/demo-cluster/bin/bundle-program.ts";
import type { Programs } from "./process-host.ts";

/** Both programs of a simulated host, each in one file: from source they would start in three times the time. */
export async function bundlePrograms(directory: string): Promise<Programs> {
  return { bundle: await bundleHostModule(directory), driver: await bundleProgram(directory) };
}

/** Bundles the host module as `npm run build` does, into a directory of its own. Answers the file. */
export async function bundleHostModule(directory: string): Promise<string> {
  const root = join(import.meta.dirname, "..", "..");
  await build({
    root,
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true, target: "node" },
    build: {
      ssr: "resources/host-module/src/cli/main.ts",
      outDir: directory,
      emptyOutDir: false,
      target: "node22",
      minify: true,
      rolldownOptions: {
        external: [...builtinModules, /^node:/],
        output: { format: "cjs", entryFileNames: "tessera-host.cjs", codeSplitting: false },
      },
    },
  });
  return join(directory, "tessera-host.cjs");
}
