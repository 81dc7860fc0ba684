import { describe, expect, it } from "vitest";
import { csvCell, csvOf } from "./csv.ts";

describe("csv", () => {
  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1"])("never gives a spreadsheet the formula %j", (text) => {
    expect(csvCell(text).replace(/^"/, "").startsWith("'")).toBe(true);
  });

  it("keeps numbers as numbers, also negative ones, and unknown empty", () => {
    expect([csvCell(-3), csvCell(0), csvCell(null), csvCell(Number.NaN)]).toEqual(["-3", "0", "", ""]);
  });

  it("quotes what would break a row", () => {
    expect(
      csvOf(
        ["a", "b"],
        [
          ['say "hi"', "x,y"],
          ["line\nbreak", "中文"],
        ],
      ),
    ).toBe('\ufeffa,b\r\n"say ""hi""","x,y"\r\n"line\nbreak",中文\r\n');
  });
});
