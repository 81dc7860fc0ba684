/**
 * Real outputs, where they are at hand: a folder `shared/samples/nvsmi` beside the repository. They are not ours to copy; without
 * them these tests are skipped, and those with our own outputs remain.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Gpu } from "../../../../shared/protocol/inventory.ts";
import { parseComputeInstances, parseGpuInstances } from "../nvidia-smi/instances.ts";
import { parseGpuInstanceProfiles } from "../nvidia-smi/profiles.ts";
import { capturedSystem } from "../testing/captured-system.ts";
import { type CaptureReading, inventoryFromCapture } from "./capture.ts";
import { readInventory } from "./read.ts";

const root = fileURLToPath(new URL("../../../../../shared/samples/nvsmi/", import.meta.url));
const isPresent = existsSync(root);
if (!isPresent) console.info(`samples.test.ts: skipped, there are no real outputs in ${root}`);

const folders = ["real", "genuine-550"];
const names = isPresent
  ? folders.flatMap((folder) => readdirSync(root + folder).map((name) => `${folder}/${name}`))
  : [];
const bytesOf = (name: string) => new Uint8Array(readFileSync(root + name));
const now = new Date("2026-01-01T00:00:00Z");

function readSamples(...files: readonly string[]): Promise<CaptureReading> {
  return inventoryFromCapture(
    files.map((name) => ({ name, bytes: bytesOf(name) })),
    { now },
  );
}

async function gpusIn(...files: readonly string[]): Promise<readonly Gpu[]> {
  const reading = await readSamples(...files);
  if (!reading.known) throw new Error(reading.message);
  return reading.inventory.gpus;
}

/** The only one that is no output of a tool: a Slurm GRES name. */
const strangers = ["real/csv-gres-name-b200.txt"];

describe.skipIf(!isPresent)("real outputs", () => {
  test.each(names)("%s gives what it holds", async (name) => {
    const reading = await readSamples(name);
    expect(reading.known).toBe(!strangers.includes(name));
    if (!reading.known) return;
    const { gpus, host, driver, links, geometries } = reading.inventory;
    const isTold =
      gpus.length > 0 ||
      links.length > 0 ||
      Object.keys(geometries).length > 0 ||
      driver.version !== null ||
      host.memoryMiB !== null ||
      reading.unread.length > 0;
    const kinds = reading.recognised.flatMap((file) => file.kinds);
    // Reports of things done, "there are none", and outputs that an inventory has no place for.
    const isOther = kinds.every((kind) =>
      [
        "messages",
        "help",
        "vgpu",
        "peer-to-peer",
        "compute-policy",
        "query-accounted-apps",
        "query-compute-apps",
      ].includes(kind),
    );
    const isHeadOnly = /lgip-i0-550|lgip-on-nonmig/.test(name);
    expect(isTold || isOther || isHeadOnly).toBe(true);
    for (const gpu of gpus) {
      expect(gpu.utilisationPercent ?? 0).toBeLessThanOrEqual(100);
      expect(gpu.memory.usedMiB ?? 0).toBeLessThanOrEqual(gpu.memory.totalMiB ?? Infinity);
      if (gpu.mig.current === "enabled") expect(gpu.utilisationPercent).toBeNull();
    }
    expect(new Set(gpus.map((gpu) => gpu.index)).size).toBe(gpus.length);
  });

  test("H100 in MIG mode, a capture of many commands", async () => {
    const [gpu, ...others] = await gpusIn("real/capture-linux-x86_64__nvidia-h100-mig__590.48.01.txt");
    expect(others).toEqual([]);
    expect(gpu).toMatchObject({
      index: 0,
      name: "NVIDIA H100 80GB HBM3",
      pciBusId: "00000000:00:09.0",
      numaNode: 0,
      mig: { current: "enabled", pending: "enabled" },
      geometry: "H100-SXM5-80GB",
      memory: { totalMiB: 81559, usedMiB: 11125 },
      utilisationPercent: null,
      nvlinks: { active: null, total: null },
    });
    expect(
      gpu?.instances.map((gi) => [gi.id, gi.profile, gi.profileId, gi.memory, gi.computeInstances.length]),
    ).toEqual([
      [2, "3g.40gb", 9, { totalMiB: 40448, usedMiB: 11091 }, 1],
      [3, "2g.20gb", 14, { totalMiB: 20096, usedMiB: 17 }, 1],
      [9, "1g.10gb", 19, { totalMiB: 9984, usedMiB: 9 }, 1],
      [10, "1g.10gb", 19, { totalMiB: 9984, usedMiB: 9 }, 1],
    ]);
    expect(gpu?.processes.map((process) => [process.pid, process.name, process.gpuInstanceId])).toEqual([
      [21180, "/root/tools/memhog", 2],
      [21181, "/root/tools/memhog", 2],
      [21198, "./gpu_burn", 2],
    ]);
  });

  test("the genuine tool: XML, -L, -lgi and -lci are one layout", async () => {
    const part = (name: string) => `genuine-550/rb-mig-${name}`;
    const [gpu] = await gpusIn(part("qx-mix-550.xml"), part("L-mix-550.txt"), part("lci-mix-550.txt"));
    expect(
      gpu?.instances.map((gi) => [gi.id, gi.profile, gi.computeInstances.map((ci) => [ci.uuid, ci.placement])]),
    ).toEqual([
      [2, "3g.40gb", [["MIG-a0000020-0000-5000-8000-000000000000", { start: 0, size: 3 }]]],
      [4, "2g.20gb", [["MIG-a0000040-0000-5000-8000-000000000000", { start: 0, size: 2 }]]],
      [7, "1g.10gb", [["MIG-a0000070-0000-5000-8000-000000000000", { start: 0, size: 1 }]]],
      [8, "1g.10gb", [["MIG-a0000080-0000-5000-8000-000000000000", { start: 0, size: 1 }]]],
    ]);
  });

  test("the genuine tool: an instance without compute instance is seen", async () => {
    const part = (name: string) => `genuine-550/rb-mig-${name}-orphan-gi-550.txt`;
    const [gpu] = await gpusIn(part("L"), part("lgi"), part("lci"));
    expect(gpu?.instances.map((gi) => [gi.profile, gi.placement, gi.computeInstances.map((ci) => ci.uuid)])).toEqual([
      ["1g.10gb", expect.anything(), ["MIG-a0000070-0000-5000-8000-000000000000"]],
      ["2g.20gb", expect.anything(), []],
    ]);
  });

  test("the genuine tool: a pending mode", async () => {
    const [gpu] = await gpusIn("genuine-550/rb-mig-table-pending-550.txt", "genuine-550/rb-mig-csv-pending-550.txt");
    expect([gpu?.index, gpu?.mig]).toEqual([3, { current: "disabled", pending: "enabled" }]);
  });

  test("a GPU that is lost while it is read, ECC errors and failed row remapping beside it", async () => {
    const gpus = await gpusIn("genuine-550/mock-qx-gb200-lost.xml");
    expect(gpus.map((gpu) => [gpu.state, gpu.ecc, gpu.memoryRepair])).toEqual([
      [{ kind: "ok" }, { enabled: true, volatileUncorrected: 5, aggregateUncorrected: 8 }, "failed"],
      [{ kind: "failed", reason: "lost", words: "GPU is lost" }, expect.anything(), expect.anything()],
    ]);
  });

  test("a live host with one lost GPU of eight: seven are read", async () => {
    const sample = (name: string) => ({ stdout: bytesOf(`genuine-550/rb-mig-${name}`), exitStatus: 15 });
    const report = new TextDecoder().decode(bytesOf("genuine-550/rb-mig-gpu3-err4-qx-550.txt"));
    const head = report.slice(0, report.indexOf("\t<gpu id="));
    const parts = report.match(/\t<gpu id=[\s\S]*?<\/gpu>\n/g) ?? [];
    const indexes = [0, 1, 2, 4, 5, 6, 7];
    const single = parts.map((part, at) => [`nvidia-smi -q -x -i ${indexes[at]}`, `${head}${part}</nvidia_smi_log>\n`]);
    const system = capturedSystem({
      runs: {
        ...Object.fromEntries(single),
        "nvidia-smi -q -x": sample("gpu3-err15-qx-550.txt"),
        "nvidia-smi -L": sample("gpu3-err15-L-550.txt"),
        "nvidia-smi -q -x -i 3": sample("gpu3-err15-csv-i3-550.txt"),
        "nvidia-smi mig -lgi -i 0": { ...sample("gpu3-err15-lgi-i0-550.txt"), exitStatus: 0 },
      },
    });
    const { gpus } = await readInventory(system);
    expect(gpus.map((gpu) => [gpu.index, gpu.state.kind, gpu.temperatureCelsius])).toEqual([
      ...[0, 1, 2].map((index) => [index, "ok", 34]),
      [3, "failed", null],
      ...[4, 5, 6, 7].map((index) => [index, "ok", 34]),
    ]);
    expect(gpus[0]?.instances.map((gi) => [gi.id, gi.computeInstances.map((ci) => ci.uuid)])).toEqual([
      [7, ["MIG-a0000070-0000-5000-8000-000000000000"]],
      [2, ["MIG-a0000020-0000-5000-8000-000000000000"]],
    ]);
  });

  test("links of a POWER9 host that lists its NICs by name", async () => {
    const reading = await readSamples("real/topo-ac922-power9.txt");
    expect(reading).toMatchObject({
      known: true,
      inventory: { host: { nics: [{ name: "mlx5_0" }, {}, {}, {}, {}, {}] } },
    });
    if (!reading.known) return;
    expect(reading.inventory.links.slice(0, 4)).toEqual([
      { a: "GPU0", b: "GPU1", kind: "NVLINK", nvlinkCount: 3 },
      { a: "GPU0", b: "GPU2", kind: "SYS", nvlinkCount: null },
      { a: "GPU0", b: "GPU3", kind: "SYS", nvlinkCount: null },
      { a: "GPU0", b: "mlx5_0", kind: "NODE", nvlinkCount: null },
    ]);
    expect(reading.inventory.gpus.map((gpu) => gpu.numaNode)).toEqual([0, 0, 8, 8]);
  });

  test("every row of every listing is read", () => {
    for (const name of names.filter((sample) => /(lgi|lci|lgip)-|-(lgi|lci|lgip)\b/.test(sample))) {
      const text = new TextDecoder().decode(bytesOf(name));
      const rows = text.match(/^\|\s*\d+\s+.*MIG .*\|$/gm)?.length ?? 0;
      const read = /GPU instances:/.test(text)
        ? parseGpuInstances(text)
        : /Compute instances:/.test(text)
          ? parseComputeInstances(text)
          : /GPU instance profiles:/.test(text)
            ? parseGpuInstanceProfiles(text)
            : null;
      if (read !== null) expect([name, read.facts.length, read.unread]).toEqual([name, rows, []]);
    }
  });

  test("cut or damaged at any byte, none of them throws", async () => {
    const small = names.filter((name) => !/capture-|scenario/.test(name));
    const damage = fc.record({ at: fc.nat(), bytes: fc.uint8Array({ maxLength: 6 }), isCut: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...small), damage, async (name, { at, bytes, isCut }) => {
        const whole = bytesOf(name);
        const from = at % (whole.length + 1);
        const rest = isCut ? new Uint8Array() : whole.slice(from + bytes.length);
        const damaged = new Uint8Array([...whole.slice(0, from), ...bytes, ...rest]);
        await inventoryFromCapture([{ name, bytes: damaged }], { now });
      }),
      { numRuns: 300 },
    );
  });
});
