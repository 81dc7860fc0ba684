/** `npm run build`: installs what is missing and bundles everything into dist/. */
import { join } from "node:path";
import { environment, findNode, installPackages, run } from "./prepare.mjs";

installPackages();
const node = findNode();
process.exitCode = await run(node, [join("electron", "dev", "build.ts"), ...process.argv.slice(2)], {
  env: environment(node),
});
