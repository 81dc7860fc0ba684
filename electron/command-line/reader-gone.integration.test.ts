/** `tessera ... | head` and `npm start -- --web | head`, as processes with real pipes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

const electron = join(import.meta.dirname, "..");
let directory: string;
let child: ChildProcess | null = null;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-reader-"));
});
afterEach(() => {
  child?.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

function start(program: string, ...words: readonly string[]) {
  const started = spawn(process.execPath, [join(electron, program), ...words], { stdio: ["ignore", "pipe", "pipe"] });
  child = started;
  return started;
}

test.each([["inventory", "--cluster", "demo", "--json"], ["--help"]])(
  "%s ends with the status of SIGPIPE and without a trace",
  async (...words) => {
    const program = start("cli.ts", ...words, ...(words.length > 1 ? ["--data-directory", directory] : []));
    program.stdout.destroy();
    let said = "";
    program.stderr.on("data", (chunk) => {
      said += String(chunk);
    });
    const [status] = await once(program, "close");
    expect([status, said]).toEqual([141, ""]);
  },
);

test("output that cannot be written for another reason is said", async () => {
  const program = spawn("sh", ["-c", `"$0" "$1" --help > /dev/full`, process.execPath, join(electron, "cli.ts")]);
  let said = "";
  program.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  const [status] = await once(program, "close");
  expect([status, said]).toEqual([1, expect.stringMatching(/^Standard output cannot be written: ENOSPC/)]);
});

test("the console in a browser goes on serving when its output is lost", async () => {
  const program = start("web.ts", "--data-directory", directory);
  let printed = "";
  const url = await new Promise<string>((resolve) => {
    program.stdout.on("data", (chunk) => {
      printed += String(chunk);
      const [link] = /http:\S+token=\S+/.exec(printed) ?? [];
      if (link !== undefined) resolve(link);
    });
  });
  program.stdout.destroy();
  program.stderr.destroy();
  // A used link makes the console print a fresh one, into nothing.
  for (const expected of [303, 403, 403]) {
    expect((await fetch(url, { redirect: "manual" })).status).toBe(expected);
  }
  expect((await fetch(new URL(url).origin)).status).toBe(401);
  program.kill("SIGTERM");
  expect(await once(program, "exit")).toEqual([0, null]);
});
