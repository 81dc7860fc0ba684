import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readLayout } from "../../../../shared/defrag/read-layout.ts";
import { replay } from "../../../../shared/defrag/replay.ts";
import type { DefragPlan } from "../../../../shared/defrag/types.ts";
import { run as runHost } from "./testing/run.ts";

let directory = "";

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-defrag-"));
});

afterAll(async () => {
  await rm(directory, { recursive: true });
});

const run = (...args: readonly string[]) => runHost("defrag", ...args);

async function fileOf(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

const held = (tenant: string, movable: boolean) => ({ tenant, movable });
const gpuWith = (profile: string, allocation: object) => ({
  index: 0,
  model: "NVIDIA A100-SXM4-40GB",
  mig: true,
  instances: [{ id: 1, profile, start: 0, allocation }],
});
const layout = {
  schema: "tessera.layout/1",
  hosts: [
    { name: "gpu01", gpus: [gpuWith("3g.20gb", held("nlp", true))] },
    { name: "gpu02", gpus: [gpuWith("3g.20gb", held("vision", true))] },
    { name: "gpu03", gpus: [gpuWith("1g.5gb", held("vision", false))] },
  ],
};

test("the plan as JSON can be carried out on the layout of the file", async () => {
  const path = await fileOf("layout.json", JSON.stringify(layout));
  const { status, out } = await run("plan", "--layout", path, "--json");
  const plan: DefragPlan = JSON.parse(out);
  const carriedOut = replay(readLayout(layout), plan.moves);
  expect([status, carriedOut.ok && carriedOut.freeGpus, plan.after.freeGpus]).toEqual([0, 1, 1]);
});

test("in words: what comes free, the moves, and what no plan could do better", async () => {
  const path = await fileOf("layout.json", JSON.stringify(layout));
  const { status, out } = await run("plan", "--layout", path);
  expect(status).toBe(0);
  expect(out).toContain("Goal price:3: free GPUs 0 -> 1. 1 is the most that any plan can leave free.");
  expect(out).toContain("1 move in 1 wave, cost 1 (proven the least for as many).");
  expect(out).toMatch(/1 {2}3g\.20gb {2}gpu0[12] GPU 0 at 0 +gpu0[123] GPU 0 at 4/);
});

test("what if everything might move, and what if one tenant alone might", async () => {
  const path = await fileOf("layout.json", JSON.stringify(layout));
  const fixed = {
    ...layout,
    hosts: [{ name: "gpu04", gpus: [gpuWith("1g.5gb", held("nlp", false))] }, ...layout.hosts.slice(2)],
  };
  const fixedPath = await fileOf("fixed.json", JSON.stringify(fixed));
  expect((await run("plan", "--layout", fixedPath)).out).toContain("free GPUs 0 -> 0");
  expect((await run("plan", "--layout", fixedPath, "--what-if-all-move")).out).toContain("free GPUs 0 -> 1");
  expect((await run("plan", "--layout", path, "--tenant", "nlp")).out).toMatch(/3g\.20gb {2}gpu01/);
  expect((await run("plan", "--layout", path, "--max-moves", "0")).out).toContain("limit on moves or cost");
});

test("what is about to end is left to end, by the time of the layout where no other is said", async () => {
  const ending = (endsAt: string) => ({ ...held("nlp", true), endsAt });
  const hosts = ["2026-11-30T22:30:00Z", "2026-11-30T22:40:00Z"].map((endsAt, at) => ({
    name: `gpu0${at}`,
    gpus: [gpuWith("3g.20gb", ending(endsAt))],
  }));
  const taken = { ...layout, takenAt: "2026-11-30T22:00:00Z", hosts };
  const path = await fileOf("ending.json", JSON.stringify(taken));
  const earlier = await fileOf(
    "earlier.json",
    JSON.stringify({ ...taken, takenAt: "2026-11-30T20:00:00Z", hosts: [] }),
  );
  expect((await run("plan", "--layout", path)).out).toContain("Nothing has to move.");
  expect((await run("plan", "--layout", path, "--at", "2026-11-30T20:00:00Z")).out).toContain("1 move in 1 wave");
  expect((await run("plan", "--layout", path, "--layout", earlier)).out).toContain("1 move in 1 wave");
});

test("in free space alone nothing waits for anything", async () => {
  const path = await fileOf("layout.json", JSON.stringify(layout));
  const { status, out } = await run("plan", "--layout", path, "--mode", "free-space", "--json");
  const plan: DefragPlan = JSON.parse(out);
  expect([status, plan.mode, plan.after.freeGpus]).toEqual([0, "free-space", 1]);
  expect(replay(readLayout(layout), plan.moves, "free-space").ok).toBe(true);
});

test("the hosts of several files are one cluster, and none may stand in two", async () => {
  const [first, ...others] = layout.hosts;
  const one = await fileOf("one.json", JSON.stringify({ ...layout, hosts: [first] }));
  const more = await fileOf("more.json", JSON.stringify({ ...layout, hosts: others }));
  const all = await fileOf("layout.json", JSON.stringify(layout));
  const together = await run("plan", "--layout", one, "--layout", more);
  expect(together).toEqual(await run("plan", "--layout", all));
  expect((await run("plan", "--layout", one, "--layout", all)).error).toContain("gpu01: it stands twice");
});

test("the example of the documentation", async () => {
  const text = await readFile(new URL("../../../../docs/defrag.md", import.meta.url), "utf8");
  const example = /```json\n(\{\n {2}"schema": "tessera\.layout\/1"[\s\S]*?)```/.exec(text)?.[1] ?? "";
  const path = await fileOf("example.json", example);
  const { status, out } = await run("plan", "--layout", path);
  expect([status, out.split("\n")[1]]).toEqual([0, "Nothing has to move."]);
});

test.each([
  [["plan"], 2, "--layout"],
  [["draw"], 2, "defrag plan"],
  [["plan", "--layout", "FILE", "--max-moves", "some"], 2, "--max-moves"],
  [["plan", "--layout", "FILE", "--at", "soon"], 2, "--at"],
  [["plan", "--layout", "FILE", "--mode", "fast"], 2, "--mode"],
  [["plan", "--layout", "FILE", "--mode", "empty"], 1, "planned yet"],
  [["plan", "--layout", "FILE", "--goal", "hosts"], 1, "planned yet"],
  [["plan", "--layout", "FILE", "--goal", "everything"], 1, "cannot be read"],
  [["plan", "--layout", "FILE", "--host", "gpu99"], 1, "It has gpu01"],
  [["plan", "--layout", "FILE", "--tenant", "nobody"], 1, "nlp, vision"],
  [["plan", "--layout", "/nowhere/layout.json"], 1, "/nowhere/layout.json"],
  [["plan", "--layout", "SECRET"], 1, "no readable JSON"],
])("%j is refused with a sentence", async (args, status, words) => {
  const path = await fileOf("layout.json", JSON.stringify(layout));
  const secret = await fileOf("secret", "root:$y$hash");
  const refused = await run(...args.map((word) => (word === "FILE" ? path : word === "SECRET" ? secret : word)));
  expect(refused).toMatchObject({ status, out: "" });
  expect(refused.error).toContain(words);
  expect(refused.error).not.toContain("hash");
});
