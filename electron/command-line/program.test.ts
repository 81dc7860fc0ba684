import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeHost, fakeConnector } from "../services/testing/fake-hosts.ts";
import { fakeGeometry, wish } from "../services/testing/fake-inventory.ts";
import { parseLayoutWords } from "./layout-words.ts";
import { runCommandLine } from "./program.ts";

let directory: string;
let hosts: FakeHost[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-cli-"));
  hosts = [new FakeHost("a", [wish("2g.20gb@0"), wish()]), new FakeHost("b", [wish()])];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function run(...argv: readonly string[]): Promise<{ status: number; out: string; error: string }> {
  let out = "";
  let error = "";
  const terminal = {
    out: (text: string) => {
      out += text;
    },
    error: (text: string) => {
      error += text;
    },
  };
  const replaced = { connector: fakeConnector(hosts), dataDirectory: directory, demo: false };
  const status = await runCommandLine(argv, terminal, replaced);
  return { status, out, error };
}

test("a cluster that was added is listed, and its inventory read", async () => {
  expect(await run("add", "lab", "a", "b")).toEqual({ status: 0, out: "Added lab with 2 hosts.\n", error: "" });
  expect((await run("clusters")).out).toMatch(/^NAME +KIND +HOSTS\nlab +ssh +2\n$/);
  const inventory = await run("inventory", "--cluster", "lab");
  expect(inventory.status).toBe(0);
  expect(inventory.out).toMatch(/^a +live +H100 80GB HBM3 +2 +2 +1 +1 +1$/m);
  const json = JSON.parse((await run("inventory", "--cluster", "lab", "--json")).out);
  expect(json).toMatchObject({ name: "lab", hosts: [{ id: "a", inventory: { gpus: [{}, {}] } }, { id: "b" }] });
});

test("hosts are added as lists; what is no host is refused, and nothing is added", async () => {
  expect((await run("add", "racks", "gpu[01-03]")).out).toBe("Added racks with 3 hosts.\n");
  expect((await run("add", "one", "root@a:2222", "--json")).status).toBe(0);
  for (const [name, host, words] of [
    ["p", "a:99999", "1 to 65535"],
    ["p", "[fe80::1]:0", "1 to 65535"],
    ["p", "gpu[1-", "list of hosts"],
    [" ", "a", "needs a name"],
  ] as const) {
    const { status, error } = await run("add", name, host);
    expect([status, error]).toEqual([1, expect.stringContaining(words)]);
  }
  expect((await run("add", "six", "[fe80::1]:22", "fe80::2")).out).toBe("Added six with 2 hosts.\n");
  expect((await run("clusters")).out).not.toMatch(/^p /m);
});

test("a dead host is said on standard error with status 1; the others are shown", async () => {
  await run("add", "lab", "a", "nowhere");
  const { status, out, error } = await run("inventory", "--cluster", "lab");
  expect([status, error]).toEqual([1, "nowhere: No host nowhere.\n"]);
  expect(out).toContain("1 of 2 hosts live");
});

const onGpu = (...layout: readonly string[]) => [
  "--cluster",
  "lab",
  "--host",
  "a",
  "--gpu",
  "0",
  "--layout",
  ...layout,
];

test("plan shows steps and exact commands and changes nothing; apply does them; undo takes them back", async () => {
  await run("add", "lab", "a", "b");
  const plan = await run("plan", ...onGpu("2g.20gb@0,3g.40gb"));
  expect(plan).toEqual({
    status: 0,
    out: [
      "a GPU 0 (NVIDIA H100 80GB HBM3):",
      "  1. Create 3g.40gb at memory slices 4 to 7.",
      "     nvidia-smi mig -cgi 9:4 -C -i GPU-a-0",
      "  kept: GPU instance 1 at 0",
      "",
    ].join("\n"),
    error: "",
  });
  expect(hosts[0]?.operations).toEqual([]);
  const apply = await run("apply", ...onGpu("2g.20gb@0,3g.40gb"));
  expect([apply.status, apply.out]).toEqual([0, expect.stringContaining("a: applied (operation a-1)")]);
  expect(hosts[0]?.inventory.gpus[0]?.instances.map((one) => one.profile)).toEqual(["2g.20gb", "3g.40gb"]);
  const undo = await run("undo", "--cluster", "lab", "--host", "a", "--operation", "a-1");
  expect(undo.status).toBe(0);
  expect(hosts[0]?.inventory.gpus[0]?.instances.map((one) => one.profile)).toEqual(["2g.20gb"]);
  expect(hosts[1]?.connections).toBe(0);
});

test.each([
  [["plan"], 2, "required option"],
  [["nonsense"], 2, "unknown command"],
  [["plan", ...onGpu("")], 2, "say empty for no instances"],
  [["apply", ...onGpu("")], 2, "say empty for no instances"],
  [["apply", ...onGpu(" , ")], 2, "say empty for no instances"],
  [["inventory", "--cluster", "none"], 1, "There is no cluster 'none'."],
  [["plan", ...onGpu("9g.1gb")], 1, "has no profile '9g.1gb'"],
  [["plan", ...onGpu("7g.80gb,1g.10gb")], 1, "no place left for 1g.10gb"],
  [["plan", "--cluster", "lab", "--host", "a", "--gpu", "9", "--layout", "off"], 1, "has no GPU '9'"],
  [["plan", "--cluster", "lab", "--host", "z", "--gpu", "0", "--layout", "off"], 1, "has no host 'z'"],
])("%j ends with status %d and says %j", async (argv, status, words) => {
  await run("add", "lab", "a", "b");
  const result = await run(...argv);
  expect([result.status, result.out]).toEqual([status, ""]);
  expect(result.error).toContain(words);
});

test("with --json a failure is JSON on standard output too, with the same status", async () => {
  const { status, out, error } = await run("inventory", "--cluster", "none", "--json");
  expect([status, error]).toEqual([1, expect.stringContaining("There is no cluster 'none'.")]);
  expect(JSON.parse(out)).toMatchObject({ error: { code: "not-found", message: "There is no cluster 'none'." } });
});

test("a cluster that cannot be kept is not said to be added", async () => {
  writeFileSync(join(directory, "occupied"), "");
  const replaced = { connector: fakeConnector(hosts), dataDirectory: join(directory, "occupied"), demo: false };
  const said: string[] = [];
  const terminal = {
    out: (text: string) => void said.push(`out: ${text}`),
    error: (text: string) => void said.push(text),
  };
  expect(await runCommandLine(["add", "lab", "a"], terminal, replaced)).toBe(1);
  expect(said).toEqual([expect.stringMatching(/^The local store cannot be opened/)]);
});

test("on the demo an undo says that every call starts a new one", async () => {
  const demo = { dataDirectory: directory, demo: true, demoOptions: { hostCount: 1, live: false, durationScale: 0 } };
  const said: string[] = [];
  const terminal = { out: (text: string) => void said.push(text), error: (text: string) => void said.push(text) };
  await runCommandLine(["inventory", "--cluster", "demo", "--json"], terminal, demo);
  const host: unknown = JSON.parse(said.splice(0).join("")).hosts[0].name;
  const words = ["undo", "--cluster", "demo", "--host", String(host), "--operation", "gone"];
  expect(await runCommandLine(words, terminal, demo)).toBe(1);
  expect(said.join("")).toMatch(/no operation "gone"[\s\S]*every call of tessera starts a new one/);
});

test("a reader that goes away ends a command as SIGPIPE would, and nothing is said", async () => {
  hosts = [new FakeHost("a", [wish()])];
  await run("add", "lab", "a");
  const said: string[] = [];
  const readerGone = AbortSignal.abort();
  const terminal = { out: () => undefined, error: (text: string) => void said.push(text), readerGone };
  const replaced = { connector: fakeConnector(hosts), dataDirectory: directory, demo: false };
  expect(await runCommandLine(["apply", ...onGpu("2g.20gb")], terminal, replaced)).toBe(141);
  expect([said, hosts[0]?.operations]).toEqual([[], []]);
});

describe("a layout in words", () => {
  const places = (words: string) =>
    parseLayoutWords(words, fakeGeometry()).instances.map(({ profileId, start }) => `${profileId}@${start}`);
  test("fixed places are taken first, the others find one", () => {
    expect(places("9, 3g.40gb@0")).toEqual(["9@0", "9@4"]);
    expect(places("3g.40gb@0,1g.10gb,2g.20gb@4")).toEqual(["9@0", "14@4", "19@6"]);
    expect(parseLayoutWords("off", fakeGeometry())).toEqual({ migEnabled: false, instances: [] });
    expect(parseLayoutWords("empty", fakeGeometry())).toEqual({ migEnabled: true, instances: [] });
  });
});
