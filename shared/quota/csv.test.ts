import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCsv, writeCsv } from "./csv.ts";

const textsOf = (file: string) => {
  const table = parseCsv(file);
  return table.ok
    ? table.records.map(({ cells }) => cells.map(({ text }) => text))
    : `${table.fault} at ${table.line}:${table.column}`;
};

const dangerous = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"];
const cell = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom("'", "=", "-", '"', ",", "\r", "\n", " ", "\t", "a", "＝", "\uFEFF") }),
);
const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 6 });

/** Cells as a spreadsheet sees them, guard and all, character by character. */
function asSeen(file: string): readonly string[] {
  const cells = [""];
  let isQuoted = false;
  for (let at = 0; at < file.length; at += 1) {
    const mark = file.charAt(at);
    if (isQuoted && file.startsWith('""', at)) {
      cells[cells.length - 1] += mark;
      at += 1;
    } else if (mark === '"') isQuoted = !isQuoted;
    else if (!isQuoted && ",\r\n".includes(mark)) cells.push("");
    else cells[cells.length - 1] += mark;
  }
  return cells;
}

describe("writeCsv", () => {
  it.each([
    [[["a", "b"]], "a,b\r\n"],
    [[["a,b", 'say "x"', "two\nlines", " padded"]], '"a,b","say ""x""","two\nlines"," padded"\r\n'],
    [[["=1+1", "+1", "-1", "@x", "＝1"]], "'=1+1,'+1,'-1,'@x,'＝1\r\n"],
    [[["'=1", "''-", "'quoted'", "a=b"]], "''=1,'''-,'quoted',a=b\r\n"],
    [[['=HYPERLINK("http://x","y")']], '"\'=HYPERLINK(""http://x"",""y"")"\r\n'],
    [[[""], ["", ""]], '""\r\n,\r\n'],
    [[], ""],
  ])("%j is %j", (records, expected) => {
    expect(writeCsv(records)).toBe(expected);
  });

  it("lets no cell begin with what a spreadsheet would run", () => {
    fc.assert(
      fc.property(rows, (records) => {
        const seen = asSeen(writeCsv(records));
        expect(seen.filter((text) => dangerous.some((mark) => text.startsWith(mark)))).toEqual([]);
      }),
    );
  });

  it("is read back as it was, guard and all", () => {
    fc.assert(
      fc.property(rows, (records) => {
        // A byte order mark at the very beginning is one of the file.
        fc.pre(records[0]?.[0]?.startsWith("\uFEFF") !== true);
        expect(textsOf(writeCsv(records))).toEqual(records);
        expect(textsOf(`\uFEFF${writeCsv(records)}`)).toEqual(records);
      }),
      { numRuns: 500 },
    );
  });
});

describe("parseCsv", () => {
  it.each([
    [
      "a,b\nc,d",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    [
      "a,b\r\n\r\nc,d\r\n",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    ["a\rb\r", [["a"], ["b"]]],
    ['"a""b","c\r\nd"\n', [['a"b', "c\r\nd"]]],
    [
      "a,\n,b\n",
      [
        ["a", ""],
        ["", "b"],
      ],
    ],
    [" a , b ", [[" a ", " b "]]],
    ["", []],
    ["\n\n", []],
    ["'=1,'x", [["=1", "'x"]]],
    ['"a', "quote-not-closed at 1:1"],
    ['x,y\n1,"a\n\n', "quote-not-closed at 2:2"],
    ['"a"b,c', "text-after-quote at 1:1"],
    ['x\n"1\n2","a" ,c', "text-after-quote at 3:2"],
    ['a,b"c"', "quote-inside at 1:2"],
  ])("%j is %j", (file, expected) => {
    expect(textsOf(file)).toEqual(expected);
  });

  it("knows the line of every cell", () => {
    expect(parseCsv('a,"b\nb",c\r\n\r\n"d\r\rd",e')).toEqual({
      ok: true,
      records: [
        {
          line: 1,
          cells: [
            { text: "a", line: 1 },
            { text: "b\nb", line: 1 },
            { text: "c", line: 2 },
          ],
        },
        {
          line: 4,
          cells: [
            { text: "d\r\rd", line: 4 },
            { text: "e", line: 6 },
          ],
        },
      ],
    });
  });

  it("answers any text with a table or a fault inside it", () => {
    const text = fc.string({ unit: fc.constantFrom('"', ",", "\r", "\n", "a", "'", "=") });
    fc.assert(
      fc.property(text, (file) => {
        const table = parseCsv(file);
        const lines = file.split(/\r\n|\r|\n/).length;
        if (table.ok) expect(table.records.every(({ line, cells }) => line <= lines && cells.length > 0)).toBe(true);
        else expect(table.line >= 1 && table.line <= lines && table.column >= 1).toBe(true);
      }),
    );
  });
});
