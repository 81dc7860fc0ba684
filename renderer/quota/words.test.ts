import { describe, expect, test } from "vitest";
import { fraction, limitsFromCsv } from "../../shared/quota/index.ts";
import { formatIn } from "../i18n/format.ts";
import { textIn } from "../i18n/index.ts";
import { draftImpact, emptyDraft, withEdits } from "./draft.ts";
import { modelOf } from "./model.ts";
import { nowMs, smallAnswer } from "./testing/answers.ts";
import { csvErrorWords, driftSideWords, driftWords, exactWords, impactSentences } from "./words.ts";

const english = textIn("en");
const chinese = textIn("zh-CN");

describe("faults of a file", () => {
  const sentences = (file: string) => {
    const read = limitsFromCsv(file, modelOf(smallAnswer, nowMs).tree);
    return read.ok ? [] : read.errors.map((error) => [csvErrorWords(english, error), csvErrorWords(chinese, error)]);
  };

  test("say the place, what stands there and why it is refused, in both languages", () => {
    const head = "ID,CPU cores,GPU cards,GPU memory (GiB),RAM (GiB),Card-hours,Period,Time zone";
    expect(sentences(`${head}\nt0nxp,1.5,,,,,,\nt0xxx,1,,,,,,\n`)).toEqual([
      ["Line 2, column 2 (CPU cores): “1.5”, must be whole", "第 2 行第 2 列（CPU cores）：“1.5”，必须是整数"],
      [
        "Line 3, column 1 (ID): “t0xxx”, no tenant, project or person has this ID",
        "第 3 行第 1 列（ID）：“t0xxx”，没有使用此 ID 的租户、项目或人员",
      ],
    ]);
  });

  test("without a first line of names, that is said once with the names that are expected", () => {
    expect(sentences("t0nxp,tenant,NLP,12,,,,,,\n")[0]?.[0]).toBe(
      "The first line does not name the columns. Expected: ID, Level, Name, GPU cards, GPU memory (GiB), CPU cores, RAM (GiB), Card-hours, Period, Time zone.",
    );
    expect(sentences("t0nxp,tenant,NLP,12,,,,,,\n")).toHaveLength(1);
  });

  test("of the whole file name no column", () => {
    expect(sentences("")).toEqual([["Line 1, column 1: the file is empty", "第 1 行第 1 列：文件为空"]]);
  });
});

test("differences of the engine have words, and what is not known stays as it is written", () => {
  const kinds = ["account", "member", "limits", "coordinator", "foreign", "unread", "newer"];
  expect(kinds.map((kind) => driftWords(chinese, kind))).toEqual([
    "账户",
    "成员关系",
    "限额",
    "账户协调人",
    "由他人设置",
    "无法读取",
    "newer",
  ]);
  expect([null, "there", "8 cards"].map((side) => driftSideWords(english, side))).toEqual([
    "not there",
    "there",
    "8 cards",
  ]);
});

test("an impact has the table's figures, limits rounded down and use up, and the exact ones as its title", () => {
  const model = modelOf(smallAnswer, nowMs);
  const draft = withEdits(model, emptyDraft, [{ nodeId: "t0nxp_p01", limits: { cards: fraction(3, 7) } }]);
  const [first] = impactSentences(english, formatIn("en"), model, draftImpact(model, draft), 1).first;
  expect([first?.words, first?.title]).toEqual([
    "NLP / Chat: 2 running jobs are above the new limit of 0.42 cards, by 6.58 cards; they keep running, new ones wait.",
    "NLP / Chat: 2 running jobs are above the new limit of 3/7 cards, by 6 4/7 cards; they keep running, new ones wait.",
  ]);
});

test("one of a unit is said in the singular", () => {
  const words = [fraction(1), fraction(2), fraction(9, 7)].map((amount) => exactWords(english, "cards", amount));
  expect(words).toEqual(["1 card", "2 cards", "1 2/7 cards"]);
  expect(exactWords(chinese, "cards", fraction(1))).toBe("1 卡");
});
