import { describe, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import { geometryFor } from "./geometry.ts";
import { parsePreset } from "./preset.ts";
import { isRefusal } from "./refusal.ts";
import type { GpuGeometry, LayoutInstance } from "./types.ts";

function tableOf(name: string): GpuGeometry {
  const geometry = geometryFor({ name });
  if (geometry === null) throw new Error(`${name} is not in the table`);
  return geometry;
}
const h100 = tableOf("NVIDIA H100 80GB HBM3");
const gb200 = tableOf("NVIDIA GB200");
const rtx = tableOf("NVIDIA RTX PRO 6000 Blackwell Server Edition");

/** `9@4` for each instance, or the rule that refuses it. */
function outcome(text: string, geometry: GpuGeometry, fixed: readonly LayoutInstance[] = []): string {
  const answer = parsePreset(text, geometry, fixed);
  if (isRefusal(answer)) return answer.violation.rule;
  return answer.instances.map(({ profileId, start }) => `${profileId}@${start}`).join(" ");
}

describe("parsePreset", () => {
  it.each([
    ["7x1g.10gb", "19@0 19@1 19@2 19@3 19@4 19@5 19@6"],
    ["3g+4g", "5@0 9@4"],
    ["2x3g.40gb", "9@0 9@4"],
    [" 3g.40GB , 2 x 1g.10gb ", "19@0 19@1 9@4"],
    ["2×2g 1g+me", "14@0 14@2 20@6"],
    ["MIG 7g.80gb", "0@0"],
    ["2x MIG 3g.40gb", "9@0 9@4"],
    ["1g.20gb", "15@6"],
    ["1g+me+3g", "20@0 9@4"],
    ["empty", ""],
    ["2x3g.40gb,1x1g.10gb", "no-room"],
    ["4g+4g", "too-many"],
    ["1g.5gb", "unknown-profile-name"],
    ["5g", "unknown-profile-name"],
    ["1g+gfx", "unknown-profile-name"],
  ])("%s on H100", (text, expected) => {
    expect(outcome(text, h100)).toBe(expected);
  });

  it.each([
    ["1g.24gb-me+1g.24gb+me.all", "65@0 67@3"],
    ["2g+gfx, 2g", "5@0 35@6"],
    ["1g+me.all 1g", "media-engines"],
    ["4x1g-me", "67@0 67@3 67@6 67@9"],
  ])("%s on RTX PRO 6000", (text, expected) => {
    expect(outcome(text, rtx)).toBe(expected);
  });

  it("says how many are asked for where no GPU takes so many", () => {
    const violations = ["9x1g.10gb", "3g+3g+3g"].map((text) => {
      const answer = parsePreset(text, h100);
      return isRefusal(answer) ? answer.violation : null;
    });
    expect(violations).toEqual([
      { rule: "too-many", profile: "1g.10gb", maxInstances: 7, wanted: 9 },
      { rule: "too-many", profile: "3g.40gb", maxInstances: 2, wanted: 3 },
    ]);
  });

  it("does not repeat a page that was pasted by mistake", () => {
    for (const text of ["x".repeat(10_000), "y".repeat(400)]) {
      expect(() => parsePreset(text, h100)).toThrow(/^.{1,240}$/);
    }
  });

  it("understands the name that another driver gives the same profile, but no other size", () => {
    expect(["7x1g.24gb", "3g.95gb", "1g.45gb", "1g.30gb"].map((text) => outcome(text, gb200))).toEqual([
      "19@0 19@1 19@2 19@3 19@4 19@5 19@6",
      "9@4",
      "15@6",
      "unknown-profile-name",
    ]);
  });

  it("fills up around what stays", () => {
    const used = { profileId: 14, start: 2, id: 4, inUse: true, computeInstances: [] };
    expect(parsePreset("3g", h100, [used])).toEqual({
      migEnabled: true,
      instances: [used, { profileId: 9, start: 4 }],
    });
    expect(outcome("4g", h100, [used])).toBe("no-room");
  });

  it.each(["", " , ", "seven", "3g.40gb.x", "0x1g", "999x1g", "x1g", "1g+mee", "-3x1g", "1g:4", "3x"])(
    "%j is no preset",
    (text) => {
      const act = () => parsePreset(text, h100);
      expect(act).toThrow(AppError);
      expect(act).toThrow(/cannot be read/);
    },
  );
});
