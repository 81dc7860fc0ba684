/** What a directory somebody sent may hold, on a real file system. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { capturedFiles } from "./captured-files.ts";
import { printable } from "./drawing.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-capture-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));
const at = (name: string) => join(directory, name);

test("what can be read stands, and everything else is named with its reason", async () => {
  mkdirSync(at("sub"));
  writeFileSync(at("sub/b.txt"), "b");
  writeFileSync(at("new\nline"), "n");
  symlinkSync(at("sub/b.txt"), at("link"));
  symlinkSync(".", at("circle"));
  symlinkSync("self", at("self"));
  symlinkSync("nowhere", at("dangling"));
  symlinkSync("/dev/zero", at("zero"));
  execFileSync("mkfifo", [at("pipe")]);
  writeFileSync(at("huge"), "");
  truncateSync(at("huge"), 5_000_000_000);
  const { files, unread } = await capturedFiles(directory);
  expect(files.map(({ name }) => name)).toEqual(["link", "new\nline", "sub/b.txt"]);
  expect(Object.fromEntries(unread.map(({ source, reason }) => [source, reason]))).toEqual({
    circle: "is a directory behind a link",
    dangling: "is a link to nothing",
    huge: "is larger than 64 MiB",
    pipe: "is a pipe",
    self: "is a link that leads in a circle",
    zero: "is a device",
  });
});

test("a path of no use is refused at once, in words", async () => {
  symlinkSync("self", at("self"));
  execFileSync("mkfifo", [at("pipe")]);
  const refusals = { nowhere: "not-found", self: "unreadable", pipe: "unreadable" };
  for (const [name, code] of Object.entries(refusals)) {
    await expect(capturedFiles(at(name)), name).rejects.toMatchObject({ code });
  }
  await expect(capturedFiles("/dev/zero")).rejects.toMatchObject({ message: expect.stringContaining("is a device") });
});

test("names from elsewhere cannot steer a terminal", () => {
  expect(printable("a\nb\u001b[31m\u202e")).toBe("a\\x0ab\\x1b[31m\\x202e");
});
