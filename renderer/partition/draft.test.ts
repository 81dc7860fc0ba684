import { beforeEach, expect, test, vi } from "vitest";
import { knownGeometries } from "../../shared/mig/geometry.ts";
import { layoutVersion } from "../../shared/mig/layout.ts";
import type { Layout } from "../../shared/mig/types.ts";
import type { Gpu } from "../../shared/protocol/inventory.ts";
import { useDraft } from "./draft.ts";
import { emptyDraft } from "./draft-model.ts";
import { applyPreset, type Edit } from "./edits.ts";
import type { GpuFacts } from "./facts.ts";
import { startHistory } from "./history.ts";

const standing = vi.hoisted(() => new Map<string, GpuFacts>());
vi.mock(import("./facts.ts"), async (original) => ({
  ...(await original()),
  factsFor: (gpuUuid: string) => standing.get(gpuUuid) ?? null,
}));

const h100 = knownGeometries.find(({ key }) => key === "H100-SXM5-80GB");
if (h100 === undefined) throw new Error("no geometry of the H100");

const empty: Layout = { migEnabled: true, instances: [] };

function divided(preset: string, inUse = false): Layout {
  const edit: Edit = applyPreset(h100 ?? never(), empty, preset);
  if (!edit.ok) throw new Error(preset);
  return {
    migEnabled: true,
    instances: edit.layout.instances.map((instance, at) => ({ ...instance, id: at + 1, inUse })),
  };
}

function never(): never {
  throw new Error("unreachable");
}

function stands(gpuUuid: string, current: Layout, heldWhole = false): void {
  const gpu = { uuid: gpuUuid, index: 0, name: "NVIDIA H100 80GB HBM3", instances: [] as Gpu["instances"] } as Gpu;
  const version = layoutVersion(current);
  standing.set(gpuUuid, { hostId: "h", hostName: "h", gpu, geometry: h100 ?? never(), current, version, heldWhole });
}

const half = { kind: "profile", profileId: 9, profile: "3g.40gb" } as const;

const namesOf = (gpuUuid: string) =>
  useDraft
    .getState()
    .wantedByGpu.get(gpuUuid)
    ?.instances.map(({ profileId }) => h100?.profiles.find(({ id }) => id === profileId)?.name);

beforeEach(() => {
  standing.clear();
  useDraft.setState({ wantedByGpu: new Map(), history: startHistory(emptyDraft), drag: null, aim: null });
});

test("a preset says the whole layout of a GPU that changed underneath; where it is refused, the earlier wish stays", () => {
  stands("a", empty);
  stands("b", empty);
  const { usePreset } = useDraft.getState();
  expect(usePreset(["a", "b"], "3g+4g")).toEqual({ changed: 2, refused: [] });
  const wished = useDraft.getState().wantedByGpu.get("b");
  stands("a", divided("2x3g.40gb"));
  stands("b", divided("7x1g.10gb", true));
  const outcome = usePreset(["a", "b"], "1x7g.80gb");
  expect(outcome).toMatchObject({ changed: 1, refused: [{ gpuUuid: "b" }] });
  expect(namesOf("a")).toEqual(["7g.80gb"]);
  expect(useDraft.getState().wantedByGpu.get("b")).toBe(wished);
  expect(useDraft.getState().history.present.get("a")?.basedOn).toBe(standing.get("a")?.version);
  // One step back takes the preset back, and nothing else.
  useDraft.getState().undo();
  expect(namesOf("a")?.toSorted()).toEqual(["3g.40gb", "4g.40gb"]);
});

test("a GPU that somebody holds whole is refused, the others are divided", () => {
  stands("a", { migEnabled: false, instances: [] }, true);
  stands("b", empty);
  const outcome = useDraft.getState().usePreset(["a", "b", "gone"], "7x1g.10gb");
  expect(outcome).toMatchObject({ changed: 1, refused: [{ gpuUuid: "a", refusal: {} }] });
  expect([...useDraft.getState().wantedByGpu.keys()]).toEqual(["b"]);
});

test("text that is no preset changes nothing and says so", () => {
  stands("a", empty);
  for (const words of ["", "foo", "9x1g.10gb", "x".repeat(10_000)]) {
    const before = useDraft.getState().history;
    let outcome: unknown;
    try {
      outcome = useDraft.getState().usePreset(["a"], words);
    } catch (error) {
      outcome = error;
    }
    expect(outcome).toMatchObject(words === "9x1g.10gb" ? { changed: 0, refused: [{}] } : { code: "bad-request" });
    expect(useDraft.getState().history).toBe(before);
  }
});

test("what came to be by another way is no longer wished for, and cannot be undone here", () => {
  stands("a", empty);
  stands("b", empty);
  useDraft.getState().usePreset(["a", "b"], "3g+4g");
  stands("a", divided("3g+4g"));
  useDraft.getState().settleReached();
  expect([...useDraft.getState().wantedByGpu.keys()]).toEqual(["b"]);
  useDraft.getState().undo();
  expect([...useDraft.getState().wantedByGpu.keys()]).toEqual(["b"]);
});

test("a drop is one step of the history; a refused one is none", () => {
  stands("a", divided("3g+4g", true));
  stands("b", empty);
  const { begin, drop, targetsOf } = useDraft.getState();
  begin(half);
  expect(targetsOf("b").some(({ legal }) => legal)).toBe(true);
  drop("a", 0);
  expect(useDraft.getState()).toMatchObject({ drag: null, history: { past: [] } });
  begin(half);
  drop("b", 4);
  expect(namesOf("b")).toEqual(["3g.40gb"]);
  useDraft.getState().undo();
  expect(useDraft.getState().wantedByGpu.size).toBe(0);
  useDraft.getState().redo();
  expect(namesOf("b")).toEqual(["3g.40gb"]);
});
