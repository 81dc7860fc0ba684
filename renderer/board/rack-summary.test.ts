import { expect, test } from "vitest";
import type { HostView } from "../../shared/api/snapshot.ts";
import type { Gpu, HostInventory } from "../../shared/protocol/inventory.ts";
import { countsAlike, rackSummaryOf } from "./rack-summary.ts";

type Counted = Pick<HostView, "inventory" | "state">;

const inventory = (gpus: number): HostInventory => ({
  schema: "tessera.inventory/1",
  takenAt: "2026-03-01T12:00:00.000Z",
  host: {
    ...{ name: "g1", bootId: null, kernel: null, architecture: null, cpuCount: null, memoryMiB: null },
    ...{ numaNodes: [], nics: [], managers: [] },
  },
  driver: { version: null, cudaVersion: null },
  geometries: {},
  gpus: Array.from({ length: gpus }, () => gpu),
  links: [],
  unread: [],
});
const gpu: Gpu = {
  ...{ index: 0, uuid: "GPU-1", name: "", pciBusId: null, numaNode: null, cpuAffinity: null, state: { kind: "ok" } },
  ...{ mig: { current: null, pending: null }, geometry: null, holder: null, instances: [] },
  ...{ memory: { totalMiB: null, usedMiB: null }, utilisationPercent: null, memoryUtilisationPercent: null },
  ...{ power: { drawWatts: null, limitWatts: null }, temperatureCelsius: null, fanPercent: null },
  ecc: { enabled: null, volatileUncorrected: null, aggregateUncorrected: null },
  ...{ memoryRepair: null, xids: [], nvlinks: { active: null, total: null }, persistenceMode: null },
  ...{ computeMode: null, processes: [] },
};
const live = (gpus: number): Counted => ({ inventory: inventory(gpus), state: { kind: "live" } });
const waiting: Counted = { inventory: null, state: { kind: "not-connected" } };
const refused: Counted = { inventory: null, state: refusedState() };

function refusedState(): HostView["state"] {
  return { kind: "refused", error: { code: "ssh-auth", message: "No.", remedy: "" } };
}

test.each([
  ["what hosts have told is counted", [live(8), live(4)], "2 hosts, 12 GPUs"],
  ["hosts that have not answered count no GPUs", [live(8), waiting], "2 hosts, 8 GPUs"],
  ["refused hosts are said, and count no GPUs", [live(8), refused, refused], "3 hosts, 8 GPUs, 2 refused"],
  [
    "what a refused host had told before is known",
    [{ ...live(8), state: refusedState() }],
    "1 host, 8 GPUs, 1 refused",
  ],
  ["nothing is said of GPUs where none are known", [waiting, refused], "2 hosts, 1 refused"],
])("%s", (_name, hosts, words) => {
  expect(rackSummaryOf(hosts)).toBe(words);
});

test("only what the summary says counts as another", () => {
  expect(countsAlike(live(8), { ...live(8), state: { kind: "not-connected" } })).toBe(true);
  expect([countsAlike(live(8), live(4)), countsAlike(waiting, refused), countsAlike(waiting, live(0))]).toEqual([
    false,
    false,
    false,
  ]);
});
