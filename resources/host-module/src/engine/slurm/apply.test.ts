import { expect, test } from "vitest";
import { SlurmReader } from "../../slurm/reader.ts";
import type { RunResult, System } from "../../system.ts";
import { capturedSystem } from "../../testing/captured-system.ts";
import type { EngineChange } from "../engine.ts";
import { applyChanges } from "./apply.ts";
import { resourcesOf } from "./limit-mapping.ts";

const cluster = "lab";
const resources = resourcesOf(["cpu", "mem", "gres/cardshare"], []);

function limit(subject: string, cpuCores: number): EngineChange {
  const limits = { cpuCores: { numerator: cpuCores, denominator: 1 } };
  return { kind: "set-limits", subject, person: null, before: {}, limits };
}

/** A sacctmgr that answers when it is told to, in whatever order. */
function slowSacctmgr() {
  const running = new Map<string, (said: Partial<RunResult>) => void>();
  const started: string[] = [];
  const run = (argv: readonly string[]) =>
    new Promise<RunResult>((resolve) => {
      const name = argv.find((word) => word.startsWith("name=")) ?? "";
      started.push(name);
      const output = {
        stdout: new TextEncoder().encode(" Modified account associations...\n"),
        stderr: new Uint8Array(),
      };
      const result: RunResult = { argv, ...output, exitStatus: 0, signal: null, timedOut: false, durationMs: 1 };
      running.set(name, (said) => resolve({ ...result, ...said }));
    });
  const system: System = { ...capturedSystem({ runs: {} }), run };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    reader: new SlurmReader(system),
    started,
    answer: async (name: string, said: Partial<RunResult> = {}) => {
      running.get(name)?.(said);
      await settled();
    },
    settled,
  };
}

test("several limits are set at once, and each has the outcome of its own command", async () => {
  const { reader, started, answer, settled } = slowSacctmgr();
  const progress: number[] = [];
  const subjects = ["taaaa", "tbbbb", "tcccc", "tdddd", "teeee", "tffff"];
  const applying = applyChanges(
    subjects.map((subject, index) => limit(subject, index + 1)),
    { reader, cluster, resources, progress: (done) => progress.push(done) },
  );
  await settled();
  expect(started).toEqual(["name=taaaa", "name=tbbbb", "name=tcccc", "name=tdddd"]);
  await answer("name=tcccc");
  expect(started.at(-1)).toBe("name=teeee");
  const stderr = new TextEncoder().encode(" sacctmgr: error: Access/permission denied\n");
  await answer("name=taaaa", { exitStatus: 1, stdout: new Uint8Array(), stderr });
  for (const name of ["tffff", "teeee", "tdddd", "tbbbb"]) await answer(`name=${name}`);
  const outcomes = await applying;
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(["failed", "done", "done", "done", "done", "done"]);
  expect(progress).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test("two changes of one subject are made one after the other", async () => {
  const { reader, started, answer, settled } = slowSacctmgr();
  const applying = applyChanges([limit("taaaa", 1), limit("tbbbb", 2), limit("taaaa", 3)], {
    ...{ reader, cluster, resources },
  });
  await settled();
  await answer("name=taaaa");
  expect(started).toEqual(["name=taaaa", "name=tbbbb"]);
  await answer("name=tbbbb");
  expect(started).toEqual(["name=taaaa", "name=tbbbb", "name=taaaa"]);
  await answer("name=taaaa");
  expect((await applying).map(({ outcome }) => outcome)).toEqual(["done", "done", "done"]);
});
