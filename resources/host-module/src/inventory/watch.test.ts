import { describe, expect, test } from "vitest";
import { withChanges } from "../../../../shared/protocol/changes.ts";
import { capturedSystem } from "../testing/captured-system.ts";
import { firstGpu, hostFiles, hostRuns, secondGpu, xmlReport } from "../testing/reports.ts";
import { readInventory } from "./read.ts";
import { InventoryWatcher, toJson } from "./watch.ts";

/** A watch whose intervals pass when the test says so. */
function watched() {
  const runs: Record<string, string | { stdout: string; exitStatus: number }> = { ...hostRuns };
  let now = Date.parse("2026-03-01T12:00:00Z");
  const system = capturedSystem({
    runs,
    files: hostFiles,
    now: () => {
      now += 1000;
      return new Date(now);
    },
  });
  const before: (() => void)[] = [];
  const controller = new AbortController();
  const watcher = new InventoryWatcher(system, async (_milliseconds, signal) => {
    const step = before.shift();
    if (step === undefined) controller.abort();
    else if (!signal.aborted) step();
  });
  /** The first push, the second, which holds what the first leaves out, and those after each of the steps. */
  const collect = async (...steps: (() => void)[]) => {
    before.push(() => {}, ...steps);
    const events = [];
    for await (const event of watcher.events(5000, controller.signal)) events.push(event);
    return events;
  };
  return { runs, system, watcher, collect, signal: controller.signal };
}

describe("watch", () => {
  test("begins with the whole, then sends only what changed", async () => {
    const { runs, collect, system } = watched();
    const events = await collect(
      () => {},
      () => {
        runs["nvidia-smi -q -x"] = xmlReport([firstGpu, { ...secondGpu, temperature: "71 C", utilisation: "99 %" }]);
      },
      () => {},
    );
    expect(events.map((event) => event.revision)).toEqual([0, 1, 2]);
    expect(events[0]?.changes.map((change) => change.path)).toEqual([[]]);
    expect(events[2]?.changes).toEqual([
      { path: ["gpus", 1, "utilisationPercent"], value: 99 },
      { path: ["gpus", 1, "temperatureCelsius"], value: 71 },
    ]);
    const state = events.reduce((value, event) => withChanges(value, event.changes), toJson(null));
    const { takenAt: _time, ...now } = await readInventory(system);
    expect(state).toMatchObject(now);
  });

  test("begins with the GPUs, in as few calls as can be; links, managers and Xid events follow", async () => {
    const { collect, system, watcher } = watched();
    const stop = new AbortController();
    for await (const first of watcher.events(5000, stop.signal)) {
      expect(first.changes).toMatchObject([
        { path: [], value: { links: [], gpus: [{ uuid: "GPU-0a" }, { uuid: "GPU-1b" }] } },
      ]);
      break;
    }
    expect(system.calls.filter((call) => !call.startsWith("nvidia-smi mig"))).toEqual([
      "nvidia-smi -q -x",
      "nvidia-smi -L",
    ]);
    const [, rest] = await collect();
    expect(new Set(rest?.changes.map((change) => change.path[0]))).toEqual(new Set(["links", "host", "gpus"]));
  });

  test("a caller that opens many hosts says when it wants the rest, and gets it within half a minute at the latest", async () => {
    const { system } = watched();
    const rests: number[] = [];
    const stop = new AbortController();
    let complete = () => {};
    const watcher = new InventoryWatcher(system, async (milliseconds, signal) => {
      rests.push(milliseconds);
      complete();
      if (!signal.aborted) stop.abort();
    });
    complete = () => {
      if (rests.length === 1) watcher.complete();
    };
    const paths: (string | number | undefined)[][] = [];
    for await (const event of watcher.events(5000, stop.signal, { untilComplete: true })) {
      paths.push(event.changes.map((change) => change.path[0]));
    }
    expect(rests).toEqual([30_000, 5000]);
    expect(paths).toHaveLength(2);
    expect(paths[1]).toContain("links");
  });

  test("says nothing while nothing changes, whatever the clock says", async () => {
    const { collect } = watched();
    expect(await collect(...Array.from({ length: 5 }, () => () => {}))).toHaveLength(2);
  });

  test("rests while a GPU's MIG mode changes, then reads everything again", async () => {
    const { collect, watcher, system } = watched();
    let resume = async () => {};
    const calls: number[] = [];
    await collect(
      () => {
        resume = watcher.pause("GPU-0a");
        calls.push(system.calls.length);
      },
      () => {
        calls.push(system.calls.length);
        expect(watcher.paused).toEqual(["GPU-0a"]);
        void resume();
      },
      () => {
        expect(watcher.paused).toEqual([]);
        expect(system.calls.filter((call) => call === "nvidia-smi mig -lgi")).toHaveLength(2);
      },
    );
    expect(calls[1]).toBe(calls[0]);
  });

  test("going on is answered once those who watch were told what stands now", async () => {
    const { runs, watcher, signal } = watched();
    const events = watcher.events(5000, signal);
    await events.next();
    const goOn = watcher.pause("GPU-0a");
    runs["nvidia-smi -q -x"] = xmlReport([firstGpu, { ...secondGpu, temperature: "71 C" }]);
    let answered = false;
    const answer = goOn().then(() => {
      answered = true;
    });
    const { value } = await events.next();
    expect(value?.changes).toContainEqual({ path: ["gpus", 1, "temperatureCelsius"], value: 71 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    await events.next();
    await answer;
    // Nobody is left to be told.
    await watcher.pause("GPU-0a")();
  });

  test("a driver that stops answering shows as failed GPUs, and comes back", async () => {
    const { runs, collect } = watched();
    const events = await collect(
      () => {
        runs["nvidia-smi -q -x"] = {
          stdout: "Failed to initialize NVML: Driver/library version mismatch\n",
          exitStatus: 18,
        };
      },
      () => {},
      () => {
        runs["nvidia-smi -q -x"] = xmlReport([firstGpu, secondGpu]);
      },
    );
    const words = "nvidia-smi -q -x: Failed to initialize NVML: Driver/library version mismatch";
    const states = events.map((_, at) =>
      events.slice(0, at + 1).reduce((value, event) => withChanges(value, event.changes), toJson(null)),
    );
    expect(states.slice(1)).toMatchObject([
      { gpus: [{ state: { kind: "ok" } }, { state: { kind: "ok" } }], unread: [] },
      {
        gpus: [{ state: { kind: "failed", words } }, { state: { kind: "failed", words } }],
        unread: [{ reason: words }],
      },
      { gpus: [{ state: { kind: "ok" } }, { state: { kind: "ok" } }], unread: [] },
    ]);
  });

  test("a host that cannot be read at all ends the watch with the reason", async () => {
    const watcher = new InventoryWatcher(capturedSystem());
    const first = watcher.events(1000, new AbortController().signal).next();
    await expect(first).rejects.toMatchObject({ code: "driver-missing" });
  });
});
