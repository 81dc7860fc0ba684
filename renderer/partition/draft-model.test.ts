import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { knownGeometries } from "../../shared/mig/geometry.ts";
import { layoutVersion } from "../../shared/mig/layout.ts";
import { planGpu } from "../../shared/mig/plan.ts";
import { checkLayout } from "../../shared/mig/rules.ts";
import type { GpuGeometry, Layout, LayoutInstance } from "../../shared/mig/types.ts";
import type { Gpu } from "../../shared/protocol/inventory.ts";
import { type Draft, emptyDraft, reached, rebased, wantedIn, withoutStale, withWanted } from "./draft-model.ts";
import {
  applyPreset,
  copyOnto,
  divide,
  moveBetween,
  moveWithin,
  place,
  remove,
  sameInstance,
  sameLayout,
  setMig,
} from "./edits.ts";
import type { GpuFacts } from "./facts.ts";
import { commit, type History, redo, startHistory, undo } from "./history.ts";

function geometryNamed(key: string): GpuGeometry {
  const geometry = knownGeometries.find((candidate) => candidate.key === key);
  if (geometry === undefined) throw new Error(`no geometry ${key}`);
  return geometry;
}

const h100 = geometryNamed("H100-SXM5-80GB");

function idOf(geometry: GpuGeometry, name: string): number {
  const profile = geometry.profiles.find((candidate) => candidate.name === name);
  if (profile === undefined) throw new Error(`no profile ${name}`);
  return profile.id;
}

/** `1g.10gb@0!` is in use, `3g.40gb@4` is not. */
function layout(words: string, geometry: GpuGeometry = h100): Layout {
  const instances = words
    .split(" ")
    .filter((word) => word !== "")
    .map((word, index): LayoutInstance => {
      const [, name = "", start = "0", held] = /^(.*)@(\d+)(!)?$/.exec(word) ?? [];
      const profileId = idOf(geometry, name);
      const filling = geometry.profiles
        .find((profile) => profile.id === profileId)
        ?.computeInstanceProfiles.find((compute) => compute.name === name);
      const computeInstances = filling === undefined ? [] : [{ profileId: filling.id, start: 0, id: 0 }];
      return { profileId, start: Number(start), id: index + 1, computeInstances, inUse: held === "!" };
    });
  return { migEnabled: true, instances };
}

function words(result: Layout, geometry: GpuGeometry = h100): string {
  return result.instances
    .map((instance) => {
      const name = geometry.profiles.find((profile) => profile.id === instance.profileId)?.name ?? "?";
      return `${name}@${instance.start}${instance.inUse === true ? "!" : ""}`;
    })
    .join(" ");
}

describe("an edit", () => {
  const now = layout("1g.10gb@0! 2g.20gb@2! 1g.10gb@4 1g.10gb@6");

  test("makes room among what nobody holds", () => {
    const edit = place(h100, now, idOf(h100, "3g.40gb"), 4);
    expect(edit.ok && words(edit.layout)).toBe("1g.10gb@0! 2g.20gb@2! 3g.40gb@4");
  });

  test("never goes over what is in use, and says which rule", () => {
    const edit = place(h100, now, idOf(h100, "4g.40gb"), 0);
    expect(edit).toMatchObject({ ok: false, refusal: { violation: { rule: "overlap", otherInUse: true } } });
    expect(remove(h100, now, 0)).toMatchObject({ ok: false, refusal: { violation: { rule: "instance-in-use" } } });
    expect(moveWithin(h100, now, 0, 1)).toMatchObject({
      ok: false,
      refusal: { violation: { rule: "instance-in-use" } },
    });
    expect(setMig(h100, now, false)).toMatchObject({ ok: false, refusal: { violation: { rule: "instance-in-use" } } });
    expect(divide(h100, now, 2, [])).toMatchObject({ ok: false });
  });

  test("changes places where both fit", () => {
    const before = layout("3g.40gb@0 2g.20gb@4");
    const move = moveWithin(h100, before, 4, 0);
    expect(move.ok && [words(move.to), move.swapped]).toEqual(["2g.20gb@0 3g.40gb@4", true]);
  });

  test("moves to another GPU, and back comes what stood there", () => {
    const from = { geometry: h100, layout: layout("3g.40gb@0 1g.10gb@4!") };
    const to = { geometry: h100, layout: layout("1g.10gb@0! 2g.20gb@4") };
    const move = moveBetween(from, 0, to, 4);
    expect(move.ok && [words(move.from), words(move.to), move.swapped]).toEqual([
      "2g.20gb@0 1g.10gb@4!",
      "1g.10gb@0! 3g.40gb@4",
      true,
    ]);
  });

  test("refuses a profile that the other model does not have", () => {
    const a100 = geometryNamed("A100-40GB");
    const move = moveBetween(
      { geometry: h100, layout: layout("3g.40gb@0") },
      0,
      { geometry: a100, layout: layout("", a100) },
      0,
    );
    expect(move).toMatchObject({
      ok: false,
      refusal: { violation: { rule: "unknown-profile-name", profile: "3g.40gb" } },
    });
  });

  test("counts what is in use towards a preset, and lets wanted empties stand", () => {
    const edit = applyPreset(h100, layout("1g.10gb@0! 1g.10gb@6 2g.20gb@2"), "3x1g.10gb");
    expect(edit.ok && words(edit.layout)).toMatch(/^1g\.10gb@0! 1g\.10gb@\d 1g\.10gb@6$/);
    expect(applyPreset(h100, layout("1g.10gb@0!"), "7g.80gb")).toMatchObject({ ok: false });
    expect(() => applyPreset(h100, layout(""), "seven")).toThrow("seven");
  });

  test("copies a layout around what is in use there", () => {
    const from = { geometry: h100, layout: layout("3g.40gb@0! 3g.40gb@4") };
    const edit = copyOnto(from, { geometry: h100, layout: layout("3g.40gb@4! 1g.10gb@0") });
    expect(edit.ok && words(edit.layout)).toBe("3g.40gb@0 3g.40gb@4!");
    expect(copyOnto(from, { geometry: h100, layout: layout("1g.10gb@1!") })).toMatchObject({ ok: false });
  });
});

function facts(name: string, geometry: GpuGeometry, current: Layout): GpuFacts {
  const gpu = { uuid: name } as Gpu;
  return { hostId: "h", hostName: "h", gpu, geometry, current, version: layoutVersion(current), heldWhole: false };
}

/** Any legal layout of the geometry, some of it in use. */
function anyLayout(geometry: GpuGeometry): fc.Arbitrary<Layout> {
  const choice = fc.tuple(fc.nat(geometry.profiles.length - 1), fc.nat(12), fc.boolean());
  return fc.array(choice, { maxLength: 10 }).map((choices) => {
    let result: Layout = { migEnabled: true, instances: [] };
    for (const [index, [at, pick, inUse]] of choices.entries()) {
      const profile = geometry.profiles[at];
      const start = profile?.starts[pick % profile.starts.length];
      if (profile === undefined || start === undefined) continue;
      const filling = profile.computeInstanceProfiles.find((c) => c.computeSlices === profile.computeSlices);
      const computeInstances = filling === undefined ? [] : [{ profileId: filling.id, start: 0, id: 0 }];
      const instances = [
        ...result.instances,
        { profileId: profile.id, start, id: index + 1, inUse, computeInstances },
      ].sort((a, b) => a.start - b.start);
      const next = { migEnabled: true, instances };
      if (checkLayout(geometry, next).length === 0) result = next;
    }
    return result;
  });
}

type Action =
  | { readonly kind: "place" | "remove" | "move"; readonly gpu: 0 | 1; readonly a: number; readonly b: number }
  | { readonly kind: "preset" | "copy" | "mig"; readonly gpu: 0 | 1; readonly a: number; readonly b: number };

const action: fc.Arbitrary<Action> = fc.record({
  kind: fc.constantFrom("place", "place", "place", "remove", "move", "move", "preset", "copy", "mig"),
  gpu: fc.constantFrom(0, 1),
  a: fc.nat(15),
  b: fc.nat(15),
});

function act(draft: Draft, gpus: readonly [GpuFacts, GpuFacts], { kind, gpu, a, b }: Action): Draft {
  const here = gpus[gpu];
  const other = gpus[gpu === 0 ? 1 : 0];
  const at = wantedIn(draft, here);
  const there = wantedIn(draft, other);
  const set = (changes: readonly (readonly [GpuFacts, Layout])[]) =>
    withWanted(draft, new Map(changes.map(([which, result]) => [which.gpu.uuid, result])), (uuid) =>
      uuid === gpus[0].gpu.uuid ? gpus[0] : gpus[1],
    );
  const profile = here.geometry.profiles[a % here.geometry.profiles.length];
  const instance = at.instances[a % Math.max(1, at.instances.length)];
  switch (kind) {
    case "place": {
      const edit = place(here.geometry, at, profile?.id ?? 0, b);
      return edit.ok ? set([[here, edit.layout]]) : draft;
    }
    case "remove": {
      const edit = remove(here.geometry, at, instance?.start ?? 0);
      return edit.ok ? set([[here, edit.layout]]) : draft;
    }
    case "move": {
      if (b % 2 === 0) {
        const move = moveWithin(here.geometry, at, instance?.start ?? 0, b >> 1);
        return move.ok ? set([[here, move.to]]) : draft;
      }
      const from = { geometry: here.geometry, layout: at };
      const move = moveBetween(from, instance?.start ?? 0, { geometry: other.geometry, layout: there }, b >> 1);
      return move.ok
        ? set([
            [here, move.from],
            [other, move.to],
          ])
        : draft;
    }
    case "preset": {
      const edit = applyPreset(here.geometry, at, ["7x1g", "3g+4g", "2x3g", "empty"][a % 4] ?? "empty");
      return edit.ok ? set([[here, edit.layout]]) : draft;
    }
    case "copy": {
      const edit = copyOnto({ geometry: other.geometry, layout: there }, { geometry: here.geometry, layout: at });
      return edit.ok ? set([[here, edit.layout]]) : draft;
    }
    case "mig": {
      const edit = setMig(here.geometry, at, b % 2 === 0);
      return edit.ok ? set([[here, edit.layout]]) : draft;
    }
  }
}

const scenario = fc
  .tuple(fc.constantFrom(...knownGeometries), fc.constantFrom(...knownGeometries))
  .chain(([first, second]) =>
    fc.record({
      gpus: fc
        .tuple(anyLayout(first), anyLayout(second))
        .map(([a, b]): readonly [GpuFacts, GpuFacts] => [facts("a", first, a), facts("b", second, b)]),
      actions: fc.array(action, { maxLength: 25 }),
      others: fc.tuple(anyLayout(first), anyLayout(second)),
    }),
  );

describe("any sequence of edits", () => {
  test("leaves legal layouts in which everything in use stands where it stood", () => {
    fc.assert(
      fc.property(scenario, ({ gpus, actions }) => {
        let draft = emptyDraft;
        for (const one of actions) {
          draft = act(draft, gpus, one);
          for (const gpu of gpus) {
            const wanted = wantedIn(draft, gpu);
            expect(checkLayout(gpu.geometry, wanted)).toEqual([]);
            for (const held of gpu.current.instances.filter((instance) => instance.inUse === true)) {
              expect(wanted.instances).toContainEqual(held);
            }
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test("makes a draft that can be planned, touching nothing in use", () => {
    fc.assert(
      fc.property(scenario, ({ gpus, actions }) => {
        const draft = actions.reduce((before, one) => act(before, gpus, one), emptyDraft);
        for (const gpu of gpus) {
          const outcome = planGpu({
            gpuUuid: gpu.gpu.uuid,
            gpuIndex: 0,
            gpuName: "GPU",
            geometry: gpu.geometry,
            current: gpu.current,
            wanted: wantedIn(draft, gpu),
          });
          expect(outcome.ok).toBe(true);
          if (outcome.ok && !draft.has(gpu.gpu.uuid)) expect(outcome.plan.steps).toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("is taken back by as many undos and made again by as many redos", () => {
    fc.assert(
      fc.property(scenario, ({ gpus, actions }) => {
        let history: History<Draft> = startHistory(emptyDraft);
        const seen: Draft[] = [emptyDraft];
        for (const one of actions) {
          const next = act(history.present, gpus, one);
          if (next !== history.present) seen.push(next);
          history = commit(history, next);
        }
        for (const draft of seen.slice(0, -1).reverse()) {
          history = undo(history);
          expect(history.present).toBe(draft);
        }
        expect(undo(history)).toBe(history);
        for (const draft of seen.slice(1)) {
          history = redo(history);
          expect(history.present).toBe(draft);
        }
        expect(redo(history)).toBe(history);
      }),
      { numRuns: 200 },
    );
  });

  test("that changed underneath is reached, or begun anew, by what stands now", () => {
    const before = facts("a", h100, layout(""));
    const draft = withWanted(emptyDraft, new Map([["a", layout("1g.10gb@4 1g.10gb@5")]]), () => before);
    const asWanted = facts("a", h100, layout("1g.10gb@4 1g.10gb@5"));
    const otherwise = facts("a", h100, layout("1g.10gb@4"));
    expect(reached(draft, () => before)).toEqual([]);
    expect(reached(draft, () => otherwise)).toEqual([]);
    expect(reached(draft, () => asWanted)).toEqual(["a"]);

    expect(withoutStale(draft, ["a"], () => before)).toBe(draft);
    const fresh = withoutStale(draft, ["a"], () => asWanted);
    expect(fresh.size).toBe(0);
    // Empty as it was when the draft was begun, and not as it is now.
    const emptied = withWanted(fresh, new Map([["a", layout("")]]), () => asWanted);
    expect(emptied.get("a")).toMatchObject({ basedOn: asWanted.version });
  });

  test("says what it kept and somebody removed since, and does not make it again", () => {
    const before = facts("a", h100, layout("1g.10gb@0 2g.20gb@2"));
    const draft = withWanted(emptyDraft, new Map([["a", layout("1g.10gb@0 2g.20gb@2 3g.40gb@4")]]), () => before);
    const emptied = facts("a", h100, layout("2g.20gb@2"));
    const { draft: moved, dropped, gone } = rebased(draft, () => emptied);
    expect([words(moved.get("a")?.wanted ?? layout("")), dropped, gone]).toEqual(["2g.20gb@2 3g.40gb@4", 0, 1]);
  });

  test("can be carried over to any other layout, which keeps everything in use", () => {
    fc.assert(
      fc.property(scenario, ({ gpus, actions, others }) => {
        const draft = actions.reduce((before, one) => act(before, gpus, one), emptyDraft);
        const now: readonly [GpuFacts, GpuFacts] = [
          facts("a", gpus[0].geometry, others[0]),
          facts("b", gpus[1].geometry, others[1]),
        ];
        const moved = rebased(draft, (uuid) => (uuid === "a" ? now[0] : now[1]));
        for (const gpu of now) {
          const wanted = wantedIn(moved.draft, gpu);
          expect(checkLayout(gpu.geometry, wanted)).toEqual([]);
          for (const held of gpu.current.instances.filter((instance) => instance.inUse === true)) {
            expect(wanted.instances.some((other) => sameInstance(gpu.geometry, other, held))).toBe(true);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  test("carried over to the layout it was made for says the same as before", () => {
    fc.assert(
      fc.property(scenario, ({ gpus, actions }) => {
        const draft = actions.reduce((before, one) => act(before, gpus, one), emptyDraft);
        const moved = rebased(draft, (uuid) => (uuid === "a" ? gpus[0] : gpus[1]));
        expect(moved.dropped).toBe(0);
        for (const gpu of gpus) {
          expect(sameLayout(gpu.geometry, wantedIn(moved.draft, gpu), wantedIn(draft, gpu))).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});
