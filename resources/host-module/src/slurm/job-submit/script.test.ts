import { describe, expect, it } from "vitest";
import { identityIn, jobSubmitIdentity, jobSubmitLua } from "./script.ts";

const h100 = { type: "h100", memoryGiB: 80, cardShareUnits: 56 };
const slice = { type: "h100_3g.40gb", memoryGiB: 40, cardShareUnits: 28 };

describe("jobSubmitLua", () => {
  it("holds the types as a table, without pads, and says whose it is", () => {
    const script = jobSubmitLua({ types: [slice, h100, { ...h100, type: "pad" }] });
    expect(script).toContain(
      `local types = {
  ["h100"] = { vram = 80, cardshare = 56 },
  ["h100_3g.40gb"] = { vram = 40, cardshare = 28 },
}
local type_names = "h100, h100_3g.40gb"
`,
    );
    expect(identityIn(script)).toBe(jobSubmitIdentity({ types: [h100, slice] }));
  });

  it("is the same for the same facts in another order, and another for other facts", () => {
    const script = jobSubmitLua({ types: [h100, slice] });
    expect(jobSubmitLua({ types: [slice, h100] })).toBe(script);
    const others = [
      { types: [h100] },
      { types: [h100, { ...slice, memoryGiB: 39 }] },
      { types: [h100, { ...slice, cardShareUnits: 24 }] },
    ];
    const identities = [{ types: [h100, slice] }, ...others].map((facts) => identityIn(jobSubmitLua(facts)));
    expect(new Set(identities).size).toBe(4);
  });

  it.each([
    ["a quote", { ...h100, type: 'h"' }],
    ["a separator", { ...h100, type: "h:1" }],
    ["a type that reads as a count", { ...h100, type: "4K" }],
    ["a fraction", { ...h100, cardShareUnits: 27.5 }],
    ["no share", { ...h100, cardShareUnits: 0 }],
    ["less memory than none", { ...h100, memoryGiB: -1 }],
  ])("refuses %s", (_, fact) => {
    expect(() => jobSubmitLua({ types: [fact] })).toThrow(expect.objectContaining({ code: "bad-request" }));
  });

  it("refuses a type named twice", () => {
    expect(() => jobSubmitLua({ types: [h100, h100] })).toThrow(expect.objectContaining({ code: "bad-request" }));
  });
});

describe("identityIn", () => {
  it("knows nobody else's script", () => {
    expect([identityIn(""), identityIn("-- Tessera\n"), identityIn("function slurm_job_submit() end\n")]).toEqual([
      null,
      null,
      null,
    ]);
  });
});
