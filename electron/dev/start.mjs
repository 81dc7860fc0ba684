/** `npm start`: installs and builds what is missing, then opens the console. */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { environment, fail, findNode, installPackages, root, run, say } from "./prepare.mjs";

const help = `Opens the Tessera console.

  npm start                     the desktop window on the demo cluster; without a display or
                                Electron's binary, the same console in a browser
  npm start -- --web            in a browser, on 127.0.0.1
  npm start -- --port 4600      in a browser, on this port (default: any free one)
  npm start -- --no-demo        without the demo cluster
  npm start -- --demo-as USER   logs in to the demo cluster as one of its people (li.wei leads a tenant,
                                chen.yu is in one)
  npm start -- --cluster NAME   opens this cluster (demo, or one added before)
  npm start -- --data-directory DIR
                                where clusters, settings and the last known state are kept
                                (default: the system's place for application data)
  npm start -- --help           this text
`;

const argv = process.argv.slice(2);
if (argv.includes("--help") || argv.includes("-h")) {
  process.stdout.write(help);
  process.exit(0);
}
const options = readOptions(argv);

installPackages();
const node = findNode();
const env = environment(node);
const built = await run(node, [join("electron", "dev", "build.ts"), "--if-stale"], { env });
if (built !== 0) fail("The build failed; see above.");

const electron = options.web ? null : desktop();
process.exitCode =
  electron === null
    ? await run(node, [join("electron", "web.ts"), ...argv.filter((word) => word !== "--web")], { env })
    : await run(electron, [root, ...argv], { env });

/** Electron's binary, or null with the reason said. Never fetches it. */
function desktop() {
  if (process.platform === "linux" && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) {
    say("No display here: opening in a browser instead of a window.");
    return null;
  }
  const folder = join(createRequire(import.meta.url).resolve("electron/package.json"), "..", "dist");
  const names = { darwin: join("Electron.app", "Contents", "MacOS", "Electron"), win32: "electron.exe" };
  const binary = join(folder, names[process.platform] ?? "electron");
  if (existsSync(binary)) return binary;
  say("Electron's binary is not installed (npx install-electron fetches it): opening in a browser instead.");
  return null;
}

function readOptions(words) {
  const withValue = new Set(["--port", "--cluster", "--data-directory", "--demo-as"]);
  const alone = new Set(["--web", "--no-demo"]);
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (withValue.has(word)) {
      if (words[index + 1] === undefined) fail(`${word} needs a value.\n\n${help}`, 2);
      index += 1;
    } else if (!alone.has(word)) {
      fail(`Unknown option ${word}.\n\n${help}`, 2);
    }
  }
  return { web: words.includes("--web") || words.includes("--port") };
}
