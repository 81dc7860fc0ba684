/** The simulated hosts and the real host module speak of the same thing: two tables, two authors, one truth. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asWish, checkLayout, geometryFor, layoutOf } from "../../shared/mig/index.ts";
import type { HostInventory } from "../../shared/protocol/inventory.ts";
import { readInventory } from "../host-module/src/inventory/read.ts";
import { apply, status, undo } from "../host-module/src/mig/operations.ts";
import { describeCluster } from "./cluster/describe.ts";
import { inventoryOf } from "./cluster/inventory.ts";
import { simulatedMachine } from "./driver/describe.ts";
import { geometryOf, simulatedModel, simulatedModelNames } from "./driver/models.ts";
import { defaultDemoSeed } from "./index.ts";
import { SimulatedSystem } from "./system/simulated-system.ts";

const nowMs = Date.UTC(2026, 2, 2, 10, 0, 0);
const context = { signal: new AbortController().signal, progress: () => undefined };

describe("the simulated silicon and the product's geometry table", () => {
  it.each(simulatedModelNames)("%s", (name) => {
    const simulated = geometryOf(simulatedModel(name));
    const table = geometryFor({ name });
    expect(simulated === null).toBe(table === null);
    for (const profile of simulated?.profiles ?? []) {
      const known = table?.profiles.find((candidate) => candidate.id === profile.id);
      const { engines: _, multiprocessors: __, computeInstanceProfiles, ...facts } = profile;
      expect(known).toMatchObject(facts);
      expect(known?.computeInstanceProfiles.map(({ multiprocessors: _, ...own }) => own)).toEqual(
        computeInstanceProfiles.map(({ multiprocessors: _, ...own }) => own),
      );
    }
  });

  it("allow the same layouts", () => {
    const models = simulatedModelNames.filter((name) => geometryOf(simulatedModel(name)) !== null);
    fc.assert(
      fc.property(fc.constantFrom(...models), fc.array(fc.nat(200), { maxLength: 8 }), (name, picks) => {
        const geometry = geometryOf(simulatedModel(name));
        const table = geometryFor({ name });
        if (geometry === null || table === null) throw new Error("no geometry");
        const places = geometry.profiles.flatMap((profile) =>
          profile.starts.map((start) => ({ profile: profile.id, start })),
        );
        const wanted = picks.flatMap((pick) => places[pick % places.length] ?? []);
        let accepted = true;
        try {
          simulatedMachine({ gpus: [{ model: name, instances: wanted }] });
        } catch {
          accepted = false;
        }
        const layout = {
          migEnabled: true,
          instances: wanted
            .map(({ profile, start }) => ({ profileId: profile, start }))
            .toSorted((a, b) => a.start - b.start),
        };
        expect(checkLayout(table, layout).length === 0).toBe(accepted);
      }),
      { numRuns: 500 },
    );
  });
});

describe("the host module over the demo cluster", () => {
  it("reads what the machine holds: orphans, pending repairs, twelve slices, work of many people", async () => {
    const { hosts } = describeCluster(24, defaultDemoSeed, nowMs);
    for (const { machine } of [0, 6, 14, 17, 23].flatMap((at) => hosts[at] ?? [])) {
      // The reader gives a second key to GPUs of one model that the driver lists in more or in less detail.
      const comparable = ({ geometries: _, takenAt: __, gpus, ...rest }: HostInventory) => ({
        ...rest,
        gpus: gpus.map((gpu) => ({ ...gpu, geometry: gpu.geometry?.replace(/#\d+$/, "") })),
      });
      const read = await readInventory(new SimulatedSystem(machine));
      expect(comparable(read)).toEqual(comparable(inventoryOf(machine)));
    }
  });

  it("reads the seven others of a host that has lost a GPU", async () => {
    const machine = describeCluster(24, defaultDemoSeed, nowMs).hosts[19]?.machine;
    if (machine === undefined) throw new Error("no gpu-20");
    const read = await readInventory(new SimulatedSystem(machine));
    expect(read.gpus[5]).toMatchObject({ state: { kind: "failed", reason: "lost" }, xids: [{ code: 79 }] });
    expect(read.unread.length).toBeGreaterThan(0);
    const others = (gpus: typeof read.gpus) =>
      gpus.filter(({ index }) => index !== 5).map(({ uuid, instances, holder }) => ({ uuid, instances, holder }));
    expect(others(read.gpus)).toEqual(others(inventoryOf(machine).gpus));
  });

  it("does the drawing's job on gpu-07: two empty instances make way for a 3g.40gb, and come back", async () => {
    const host = describeCluster(24, defaultDemoSeed, nowMs).hosts[6];
    if (host === undefined) throw new Error("no gpu-07");
    const system = new SimulatedSystem(host.machine);
    const gpu = (await readInventory(system)).gpus[3];
    if (gpu === undefined) throw new Error("no GPU 3");
    const before = layoutOf(gpu);
    const wish = asWish(before);
    const wanted = [
      ...wish.instances.filter(({ start }) => start < 4).map(({ profileId, start }) => ({ profileId, start })),
      { profileId: 9, start: 4 },
    ];
    const result = await apply(
      system,
      { gpus: [{ gpuUuid: gpu.uuid, layout: { migEnabled: true, instances: wanted } }] },
      context,
    );
    expect(result.outcome).toBe("applied");
    expect(host.machine.gpu(3).instances.map(({ profileId, start }) => [profileId, start])).toEqual([
      [19, 0],
      [14, 2],
      [9, 4],
    ]);
    expect(await status(system)).toMatchObject({ open: null, undoable: result.operationId });
    expect((await undo(system, {}, context)).outcome).toBe("applied");
    expect(await status(system)).toMatchObject({ undoable: null, operations: [{ kind: "undo" }, { kind: "apply" }] });
    const after = (await readInventory(system)).gpus[3];
    expect(after?.instances.map(({ placement }) => placement)).toEqual(gpu.instances.map(({ placement }) => placement));
  });
});
