import { describe, expect, test } from "vitest";
import type { Files, System } from "../system.ts";
import { capturedSystem } from "../testing/captured-system.ts";
import { deviceList, hostFiles, hostRuns } from "../testing/reports.ts";
import { writeBundle } from "./bundle.ts";
import { type CapturedFile, inventoryFromCapture } from "./capture.ts";
import { readInventory } from "./read.ts";

/** A captured host whose writes are kept in memory. */
function writable(system: System): { readonly system: System; readonly written: Map<string, Uint8Array> } {
  const written = new Map<string, Uint8Array>();
  const files: Files = {
    ...system.files,
    makeDirectory: async () => {},
    replace: async (path, content) => {
      written.set(path, content);
    },
  };
  return { system: { ...system, run: (argv, options) => system.run(argv, options), files }, written };
}

async function bundled(runs: Parameters<typeof capturedSystem>[0] = {}) {
  const { system, written } = writable(capturedSystem({ runs: hostRuns, files: hostFiles, ...runs }));
  const summary = await writeBundle(system, "/tmp/bundle");
  const files: CapturedFile[] = [...written].map(([path, bytes]) => ({
    name: path.replace("/tmp/bundle/", ""),
    bytes,
  }));
  return { system, summary, files, text: files.map(({ bytes }) => new TextDecoder().decode(bytes)).join("\n") };
}

const now = new Date("2026-06-01T00:00:00Z");

describe("a bundle", () => {
  test("gives the inventory that it was made of", async () => {
    const { system, files, summary } = await bundled();
    expect(summary.files).toEqual(files.map((file) => file.name));
    const reading = await inventoryFromCapture(files, { now });
    expect(reading).toMatchObject({ known: true, inventory: { ...(await readInventory(system)) } });
  });

  test("a host with a GPU that fails too", async () => {
    const lost = { stdout: "Unable to determine the device handle for GPU x: GPU is lost.\n", exitStatus: 15 };
    const runs = { ...hostRuns, "nvidia-smi -q -x": lost, "nvidia-smi -L": deviceList, "nvidia-smi -q -x -i 1": lost };
    const { system, files } = await bundled({ runs });
    const reading = await inventoryFromCapture(files, { now });
    expect(reading).toMatchObject({ known: true, inventory: await readInventory(system) });
  });

  test("a host without a driver is told by its bundle", async () => {
    const { files } = await bundled({
      runs: { "nvidia-smi -q -x": { stdout: "Failed to initialize NVML: Unknown Error\n", exitStatus: 255 } },
    });
    const reading = await inventoryFromCapture(files, { now });
    expect(reading).toMatchObject({
      known: true,
      inventory: { host: { name: "gpu-01" }, gpus: [], unread: [{ raw: "Failed to initialize NVML: Unknown Error" }] },
    });
  });

  test("with parts missing still gives the rest", async () => {
    const { files } = await bundled();
    const rest = files.filter((file) => !file.name.includes("-q_-x"));
    const reading = await inventoryFromCapture(rest, { now });
    expect(reading).toMatchObject({ known: true, inventory: { gpus: [{ uuid: "GPU-0a" }, { uuid: "GPU-1b" }] } });
  });

  test("asks Slurm for nobody's jobs where slurmd runs", async () => {
    const { files, text } = await bundled({ files: { ...hostFiles, "/proc/813/comm": "slurmd\n" } });
    expect(text).toContain("slurmd");
    expect(files.filter(({ name }) => name.includes("scontrol"))).toEqual([]);
  });

  test("holds nobody's name, no other user, no other program, no other line of the kernel log", async () => {
    const { text } = await bundled();
    expect(text).toContain("ada:x:1042:2001:::");
    for (const secret of ["Ada L.", "/home/ada", "bob", "secret of another program", "systemd"]) {
      expect(text).not.toContain(secret);
    }
  });
});
