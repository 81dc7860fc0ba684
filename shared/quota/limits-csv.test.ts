import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCsv, writeCsv } from "./csv.ts";
import { fraction, zero } from "./fraction.ts";
import type { Limits } from "./limits.ts";
import { describeCsvError, type LimitsCsvRow, limitsCsvHeaders, limitsFromCsv, limitsToCsv } from "./limits-csv.ts";
import { quotaNodes } from "./testing/trees.ts";
import { buildQuotaTree, type QuotaNode, withLimits } from "./tree.ts";

const nodes: readonly QuotaNode[] = [
  { id: "c", level: "cluster", parentId: null, limits: {} },
  { id: "t1", level: "tenant", parentId: "c", limits: { gpuTypes: { a30: fraction(4), h100: fraction(2) } } },
  { id: "t1_p1", level: "project", parentId: "t1", limits: {} },
];
const tree = buildQuotaTree(nodes);
const row = (nodeId: string, limits: Limits, name = nodeId): LimitsCsvRow => ({
  nodeId,
  level: "tenant",
  name,
  limits,
});

const head = "ID,Level,Name,GPU cards,GPU memory (GiB),CPU cores,RAM (GiB),Card-hours,Period,Time zone";

/** `2:4 GPU cards negative "-1"` for each error, or the edits. */
function outcome(file: string) {
  const read = limitsFromCsv(file, tree);
  return read.ok
    ? read.edits
    : read.errors.map(
        ({ line, column, header, fault, found }) => `${line}:${column} ${header} ${fault} ${JSON.stringify(found)}`,
      );
}

describe("limitsToCsv", () => {
  it("writes a row for each node, exact amounts that no spreadsheet takes for a date, and no formula", () => {
    const month = { kind: "month", timeZone: "Europe/Berlin" } as const;
    const limits: Limits = {
      cards: fraction(3, 7),
      gpuMemoryGiB: fraction(39, 4),
      cpuCores: zero,
      cardHours: { hours: fraction(9, 7), period: month },
      gpuTypes: { h100: fraction(2) },
    };
    const rows = [
      row("t1", limits, '=cmd|"/c calc"!A1'),
      row(
        "t1_p1",
        { cardHours: { hours: fraction(1), period: { kind: "none" } }, gpuTypes: { a30: zero } },
        "Vision, Lab",
      ),
    ];
    expect(limitsToCsv(rows)).toBe(
      [
        `${head},GPU type: a30,GPU type: h100`,
        't1,tenant,"\'=cmd|""/c calc""!A1",0 3/7,9.75,0,,1 2/7,month,Europe/Berlin,,2',
        't1_p1,tenant,"Vision, Lab",,,,,1,none,,0,',
        "",
      ].join("\r\n"),
    );
  });
});

describe("limitsFromCsv", () => {
  it("reads rows as edits; an empty cell is no limit, GPU types without a column stay", () => {
    expect(outcome(`${head},GPU type: a30\nt1,,,1 2/7,,64,0.5,100,Month,europe/berlin,\n`)).toEqual([
      {
        nodeId: "t1",
        limits: {
          cards: fraction(9, 7),
          cpuCores: fraction(64),
          memoryGiB: fraction(1, 2),
          cardHours: { hours: fraction(100), period: { kind: "month", timeZone: "Europe/Berlin" } },
          gpuTypes: { h100: fraction(2) },
        },
      },
    ]);
  });

  it("takes columns in any order and does without level and name", () => {
    const file = "Time zone,Period,Card-hours,RAM (GiB),CPU cores,GPU memory (GiB), GPU cards ,ID\n,,,,8,,2,t1_p1\n";
    expect(outcome(file)).toEqual([{ nodeId: "t1_p1", limits: { cards: fraction(2), cpuCores: fraction(8) } }]);
  });

  it.each([";", "\t"])("takes %j between the cells where the first line has it", (separator) => {
    const file = `${head.replaceAll(",", separator)}\nt1,,"a,b",1.5,,,,,,\n`.replaceAll(/,(?!b)/g, separator);
    expect(outcome(file)).toEqual([
      { nodeId: "t1", limits: { cards: fraction(3, 2), gpuTypes: { a30: fraction(4), h100: fraction(2) } } },
    ]);
  });

  it("takes quoted titles between semicolons", () => {
    const titles = head.split(",").map((title) => `"${title}"`);
    expect(outcome(`${titles.join(";")}\nt1_p1;;;2;;;;;;\n`)).toEqual([
      { nodeId: "t1_p1", limits: { cards: fraction(2) } },
    ]);
  });

  it("takes the headers of another language", () => {
    const headers = { ...limitsCsvHeaders, cards: "GPU 卡数", gpuTypePrefix: "GPU 型号：" };
    const rows = [row("t1", { cards: fraction(1), gpuTypes: { a30: fraction(1), h100: fraction(1) } })];
    const file = limitsToCsv(rows, headers);
    expect(limitsFromCsv(file, tree, headers)).toEqual({
      ok: true,
      edits: [{ nodeId: "t1", limits: rows[0]?.limits }],
    });
    expect(limitsFromCsv(file, tree).ok).toBe(false);
  });

  it.each([
    ["", ['1:1 null empty-file ""']],
    ["\uFEFF\r\n", ['1:1 null empty-file ""']],
    ["a|b\nt1|1\n", ['1:1 null wrong-separator "a|b"']],
    ["t1,tenant,t1,,,,,,,\n", ['1:1 null no-header "t1"']],
    [`${head},\n`, ['1:11 null unknown-column ""']],
    [`${head},GPUs\n`, ['1:11 GPUs unknown-column "GPUs"']],
    [`${head},ID\n`, ['1:11 ID duplicate-column "ID"']],
    [`${head},GPU type: a30,GPU type:a30\n`, ['1:12 GPU type:a30 duplicate-column "GPU type:a30"']],
    [`${head},GPU type: a b\n`, ['1:11 GPU type: a b bad-gpu-type "GPU type: a b"']],
    [
      "ID,GPU cards\nt1,1\n",
      [
        '1:3 GPU memory (GiB) missing-column ""',
        '1:3 CPU cores missing-column ""',
        '1:3 RAM (GiB) missing-column ""',
        '1:3 Card-hours missing-column ""',
        '1:3 Period missing-column ""',
        '1:3 Time zone missing-column ""',
      ],
    ],
    [`${head}\nt1,"a`, ['2:2 null quote-not-closed ""']],
    [`${head}\nt1,,,1\n`, ['2:5 GPU memory (GiB) wrong-cell-count "4"']],
    [`${head}\nt1,,,,,,,,,,\n`, ['2:11 null wrong-cell-count "11"']],
    [`${head}\n,,,,,,,,,\n`, ['2:1 ID missing ""']],
    [`${head}\nt9,,,,,,,,,\n`, ['2:1 ID unknown-id "t9"']],
    [`${head}\nt1,,,,,,,,,\nt1,,,,,,,,,\n`, ['3:1 ID duplicate-id "t1"']],
    [
      `${head}\nt1,,,-1,x,1.5,"0,5",,,\n`,
      [
        '2:4 GPU cards negative "-1"',
        '2:5 GPU memory (GiB) not-a-number "x"',
        '2:6 CPU cores not-whole "1.5"',
        '2:7 RAM (GiB) not-a-number "0,5"',
      ],
    ],
    [`${head}\nt1,,,03-Jul,,,,,,\n`, ['2:4 GPU cards not-a-number "03-Jul"']],
    [`${head}\nt1,,,,,,,5,,\n`, ['2:9 Period missing ""']],
    [`${head}\nt1,,,,,,,5,month,\n`, ['2:10 Time zone missing ""']],
    [`${head}\nt1,,,,,,,5,year,UTC\n`, ['2:9 Period unknown-period "year"']],
    [`${head}\nt1,,,,,,,5,month,Mars\n`, ['2:10 Time zone unknown-time-zone "Mars"']],
    [`${head}\nt1,,,,,,,5,none,UTC\n`, ['2:10 Time zone unknown-field "UTC"']],
    [`${head}\nt1,,,,,,,-5,month,UTC\n`, ['2:8 Card-hours negative "-5"']],
    [
      `${head}\nt1,,,,,,,,month,UTC\n`,
      ['2:9 Period period-without-hours "month"', '2:10 Time zone period-without-hours "UTC"'],
    ],
    [`${head},GPU type: a30\nt1,,,,,,,,,,0.5\n`, ['2:11 GPU type: a30 not-whole "0.5"']],
    // Good rows before and after a bad one are not accepted either; lines count inside cells too.
    [`${head}\nt1_p1,,"two\nlines",1,,,,,,\nt1,,,bad,,,,,,\nc,,,1,,,,,,\n`, ['4:4 GPU cards not-a-number "bad"']],
  ])("%j is refused, with line and column", (file, expected) => {
    expect(outcome(file)).toEqual(expected);
  });

  it("reads back every tree that limitsToCsv wrote, into the same tree and into one without limits", () => {
    fc.assert(
      fc.property(quotaNodes, fc.string(), (drawn, name) => {
        const rows = drawn.map(({ id, level, limits }) => ({ nodeId: id, level, name, limits }));
        const file = limitsToCsv(rows);
        const edits = drawn.map(({ id, limits }) => ({ nodeId: id, limits }));
        const bare = buildQuotaTree(drawn.map((node) => ({ ...node, limits: {} })));
        expect(limitsFromCsv(file, buildQuotaTree(drawn))).toEqual({ ok: true, edits });
        const read = limitsFromCsv(file, bare);
        expect(read.ok ? withLimits(bare, read.edits) : read).toEqual(buildQuotaTree(drawn));
      }),
    );
  });

  it("accepts all or nothing, whichever cell somebody spoils", () => {
    const spoilt = fc.constantFrom("-1", "=1", "x", "1/0", "1e3", '"', "99999999999");
    fc.assert(
      fc.property(quotaNodes, fc.nat(), fc.integer({ min: 3, max: 7 }), spoilt, (drawn, index, column, text) => {
        const rows = drawn.map(({ id, level, limits }) => ({ nodeId: id, level, name: "", limits }));
        const table = parseCsv(limitsToCsv(rows));
        if (!table.ok) throw new Error(table.fault);
        const line = 1 + (index % drawn.length);
        const cells = table.records.map((record, at) =>
          record.cells.map((each, place) => (at === line && place === column ? text : each.text)),
        );
        const read = limitsFromCsv(writeCsv(cells), buildQuotaTree(drawn));
        expect(read.ok ? "accepted" : read.errors.map((each) => [each.line, each.column])).toContainEqual([
          line + 1,
          column + 1,
        ]);
      }),
    );
  });
});

describe("describeCsvError", () => {
  it.each([
    [
      { line: 3, column: 6, header: "CPU cores", fault: "not-whole", found: "1.5" } as const,
      'Line 3, column 6 (CPU cores): "1.5" is not a whole number.',
    ],
    [
      { line: 2, column: 9, header: "Period", fault: "missing", found: "" } as const,
      "Line 2, column 9 (Period): it is missing.",
    ],
    [
      { line: 2, column: 1, header: "ID", fault: "unknown-id", found: "t9" } as const,
      'Line 2, column 1 (ID): "t9", there is no tenant, project or person with this ID.',
    ],
    [
      { line: 1, column: 1, header: null, fault: "empty-file", found: "" } as const,
      "Line 1, column 1: the file is empty.",
    ],
  ])("%j", (error, expected) => {
    expect(describeCsvError(error)).toBe(expected);
  });
});
