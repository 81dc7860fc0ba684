import { describe, expect, test } from "vitest";
import { geometryOfKey } from "../../../../shared/mig/geometry.ts";
import { version } from "../version.ts";
import { UsageError } from "./arguments.ts";
import { drawLayout, table } from "./drawing.ts";
import { run } from "./testing/run.ts";
import { parseLayout } from "./wanted.ts";

describe("exit status", () => {
  test("0 when it is done", async () => {
    expect(await run("--version")).toEqual({ status: 0, out: version, error: "" });
  });

  test.each([[["--help"]], [["mig", "plan", "--help"]], [["serve", "-h"]], [["uninstall", "--all", "--help"]]])(
    "0 for %j, which does nothing but help",
    async (args) => {
      const { status, out, error } = await run(...args);
      expect({ status, error }).toEqual({ status: 0, error: "" });
      expect(out).toContain("tessera-host mig");
    },
  );

  test.each([
    [["mig", "plan"], "Say one of"],
    [["mig", "apply", "--gpu", "0"], "Say one of"],
    [["mig", "apply", "--layout", "x"], "Say which GPU"],
    [["mig", "apply", "--gpu", "0", "--layout", "a", "--preset", "b"], "Say one of"],
    [["mig", "plan", "--gpu", "0", "--layout", ""], "say empty"],
    [["mig", "apply", "--gpu", "0", "--layout", " , "], "say empty"],
    [["mig", "apply", "--gpu", "0", "--preset", ""], "say empty"],
    [["mig", "apply", "--gpu", "", "--preset", "3g"], "Say which GPU"],
    [["mig", "recover", "some"], "--way"],
    [["mig", "explode"], "explode"],
    [["inventory", "--form", "x"], "--form"],
    [["watch", "--interval", "soon"], "milliseconds"],
    [["uninstall"], "--all"],
    [["hello", "there"], "there"],
    [[], "No command"],
  ])("2 for %j, with a sentence", async (args, words) => {
    const { status, out, error } = await run(...args);
    expect({ status, out }).toEqual({ status: 2, out: "" });
    expect(error).toContain(words);
  });

  test("1 with the reason on standard error, and as JSON where asked", async () => {
    const { status, out, error } = await run("inventory", "--json");
    expect(status).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ error: { code: "driver-missing" } });
    expect(error).toContain("nvidia-smi");
  });

  test("1 for a wish that is no JSON, without quoting what was read", async () => {
    const { status, error } = await run("mig", "plan", "--file", "-");
    expect(status).toBe(1);
    expect(error).toContain('list "gpus"');
  });
});

const geometry = geometryOfKey("H100-SXM5-80GB");
if (geometry === null) throw new Error("the table has no H100");

describe("a layout in words", () => {
  test("names profiles by name or number, with compute instances in brackets", () => {
    expect(parseLayout("3g.40gb@4(1c@0,2c@1), 19@0,1g.10gb@1()", geometry)).toEqual([
      {
        profileId: 9,
        start: 4,
        computeInstances: [
          { profileId: 0, start: 0 },
          { profileId: 1, start: 1 },
        ],
      },
      { profileId: 19, start: 0 },
      { profileId: 19, start: 1, computeInstances: [] },
    ]);
  });

  test("is empty where it says so, and not where it says nothing", () => {
    expect(parseLayout("empty", geometry)).toEqual([]);
    for (const blank of ["", " ", ","]) expect(() => parseLayout(blank, geometry)).toThrow(UsageError);
  });

  test.each(["3g.40gb", "3g.41gb@0", "3g.40gb@x", "3g.40gb@0(4c@0)", "3g.40gb@0(1c)"])("refuses %s", (text) => {
    expect(() => parseLayout(text, geometry)).toThrow(UsageError);
  });
});

describe("drawing", () => {
  test("shows instances over the memory slices they cover", () => {
    const instances = [
      { profileId: 9, start: 0, id: 1, inUse: true, computeInstances: [{ profileId: 2, start: 0 }] },
      { profileId: 19, start: 4, id: 11, computeInstances: [] },
    ];
    expect(drawLayout({ migEnabled: true, instances }, geometry)).toEqual([
      " 0        1        2        3        4        5        6        7",
      "|3g.40gb #1 in use                  |1g.10gb |.       |.       |.       |",
    ]);
  });

  test("puts numbers to the right and words to the left", () => {
    expect(
      table(
        ["GPU", "NAME"],
        [
          ["0", "a"],
          ["10", "bc"],
        ],
      ),
    ).toEqual(["GPU  NAME", "  0  a", " 10  bc"]);
  });
});
