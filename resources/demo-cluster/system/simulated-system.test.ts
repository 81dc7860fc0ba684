import { describe, expect, it } from "vitest";
import { simulatedMachine } from "../driver/describe.ts";
import { MemoryFiles } from "./memory-files.ts";
import { SimulatedSystem } from "./simulated-system.ts";

const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : new TextDecoder().decode(bytes));
const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);
const limit = { timeoutMs: 30 };

function system() {
  return new SimulatedSystem(simulatedMachine({ hostName: "gpu-99", gpus: [{ instances: [] }] }));
}
const make = ["nvidia-smi", "mig", "-cgi", "19", "-C", "-i", "0"];

describe("programs", () => {
  it("run in this process, and unknown ones are not found", async () => {
    const host = system();
    expect((await host.run(make, limit)).exitStatus).toBe(0);
    expect((await host.run(["frobnicate"], limit)).exitStatus).toBe(127);
  });

  it("are cut off by the time limit with their work done, as by SIGKILL", async () => {
    const machine = simulatedMachine({ gpus: [{ instances: [] }] });
    const slow = new SimulatedSystem(machine, { delayMs: () => 60_000 });
    expect(await slow.run(make, limit)).toMatchObject({ exitStatus: null, signal: "SIGKILL", timedOut: true });
    expect(machine.gpu(0).instances).toHaveLength(1);
  });

  it("are cut off by the caller's signal", async () => {
    const host = system();
    host.faults.set([{ match: "-cgi", action: { kind: "hang" } }]);
    const abort = new AbortController();
    const run = host.run(make, { timeoutMs: 60_000, signal: abort.signal });
    abort.abort();
    expect(await run).toMatchObject({ exitStatus: null, timedOut: false });
    expect(host.machine.gpu(0).instances).toHaveLength(0);
  });

  it("meet the faults that were asked for", async () => {
    const host = system();
    host.faults.set([
      { match: "-cgi", occurrence: 1, action: { kind: "fail", exitStatus: 255, stdout: "Unknown Error\n" } },
      { match: "-cgi", occurrence: 2, action: { kind: "crash", outputBytes: 9 } },
    ]);
    const first = await host.run(make, limit);
    expect([first.exitStatus, text(first.stdout)]).toEqual([255, "Unknown Error\n"]);
    const second = await host.run(make, limit);
    expect([second.exitStatus, second.signal, text(second.stdout)]).toEqual([null, "SIGSEGV", "Successfu"]);
    expect(host.machine.gpu(0).instances).toHaveLength(1);
  });
});

describe("a process that is killed", () => {
  it("never hears of what it began, while the command that ran has done its work", async () => {
    const machine = simulatedMachine({ gpus: [{ instances: [] }] });
    const files = new MemoryFiles(machine);
    const dead = new SimulatedSystem(machine, { files, delayMs: () => 5 });
    let heard = false;
    const hear = () => {
      heard = true;
    };
    void dead.run(make, { timeoutMs: 1_000 }).then(hear, hear);
    dead.die();
    void dead.files.append("/var/lib/tessera/journal", bytes("done\n"), 0o600).then(hear, hear);
    await new SimulatedSystem(machine, { files, delayMs: () => 30 }).run(["nvidia-smi"], { timeoutMs: 1_000 });
    expect(heard).toBe(false);
    expect(machine.gpu(0).instances).toHaveLength(1);
    expect(await files.read("/var/lib/tessera/journal")).toBeNull();
  });
});

describe("files", () => {
  it("show the machine as Linux would", async () => {
    const { files, machine } = system();
    const { pid } = machine.startProcess({ uid: 0, command: ["/usr/bin/python3", "a b"], startedAtMs: 0, gpu: null });
    expect(text(await files.read("/proc/sys/kernel/random/boot_id"))).toBe(`${machine.state.bootId}\n`);
    expect(text(await files.read(`/proc/${pid}/cmdline`))).toBe("/usr/bin/python3\0a b\0");
    expect(await files.list("/proc")).toContain(String(pid));
    expect(await files.read("/proc/999999/status")).toBeNull();
    expect(await files.list("/nowhere")).toBeNull();
  });

  it("keep what was written, and a full disk changes nothing", async () => {
    const files = new MemoryFiles(simulatedMachine({ gpus: [] }));
    await files.makeDirectory("/var/lib/tessera/journal");
    await files.append("/var/lib/tessera/journal/1", bytes("one\n"));
    await files.append("/var/lib/tessera/journal/1", bytes("two\n"));
    files.freeBytes = 3;
    await expect(files.append("/var/lib/tessera/journal/1", bytes("three\n"))).rejects.toMatchObject({
      code: "disk-full",
    });
    expect(text(await files.read("/var/lib/tessera/journal/1"))).toBe("one\ntwo\n");
    expect(await files.list("/var/lib/tessera")).toEqual(["journal"]);
    await files.remove("/var/lib/tessera/journal/1");
    expect(await files.list("/var/lib/tessera/journal")).toEqual([]);
  });

  it("lock for one at a time", async () => {
    const files = new MemoryFiles(simulatedMachine({ gpus: [] }));
    {
      await using _first = await files.lock("/run/lock", "ops since 10:00");
      await expect(files.lock("/run/lock", "other")).rejects.toMatchObject({ code: "locked" });
    }
    await using _second = await files.lock("/run/lock", "other");
  });
});
