import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hasSamples, labReleases, sampleText } from "./testing/samples.ts";
import { readTransactions, readTresIds, transactionConditions } from "./transactions.ts";

const tresIds = readTresIds("Type|Name|ID\ncpu||1\nmem||2\ngres|gpu|1001\ngres|gpu:a100|1002\n").facts;

test("who changed which limits of what, when", () => {
  const line =
    "2026-12-02T07:36:59|Modify Associations|root|(id_assoc=4 || id_assoc=7)|mod_time=1, shares=60, grp_jobs=NULL, grp_tres = if (id_assoc=4, '1=128,2=1000,1001=8,1099=2', grp_tres), grp_tres_mins = if (id_assoc=4, '', grp_tres_mins), max_wall_pj=2880";
  expect(readTransactions(`Time|Action|Actor|Where|Info\n${line}\n`, { tresIds, utcOffsetMinutes: 60 })).toEqual({
    facts: [
      {
        at: Date.UTC(2026, 11, 2, 6, 36, 59) / 1000,
        action: "Modify Associations",
        actor: "root",
        where: "(id_assoc=4 || id_assoc=7)",
        associationIds: [4, 7],
        changes: {
          Fairshare: "60",
          GrpJobs: null,
          GrpTRES: "1099=2,cpu=128,gres/gpu=8,mem=1000M",
          GrpTRESMins: null,
          MaxWall: "2880",
        },
        info: line.split("|").slice(8).join("|") || line.slice(line.indexOf("mod_time")),
      },
    ],
    unread: [],
  });
});

test("values with commas and bars stay whole; a cut line is listed", () => {
  const text = "2026-12-02T07:36:53|Add Accounts|root|t1|description='a | b, c', organization='t1'\n2026-12-02T07:3";
  const { facts, unread } = readTransactions(text);
  expect(facts.map(({ where, changes }) => [where, changes])).toEqual([
    ["t1", { Description: "a | b, c", Organization: "t1" }],
  ]);
  expect(unread.map(({ raw }) => raw)).toEqual(["2026-12-02T07:3"]);
});

test("days are asked for with both of them, and the end that Slurm wants is the day after", () => {
  expect(transactionConditions({ since: "2026-12-01", until: "2026-12-31" })).toEqual([
    "Start=2026-12-01",
    "End=2027-01-01",
  ]);
  expect(transactionConditions({ until: "2028-02-28" })).toEqual(["End=2028-02-29"]);
  expect(transactionConditions({ since: "2026-12-01 x=1", until: "soon" })).toEqual([]);
});

test("no text makes it throw", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      readTransactions(`2026-12-02T07:36:53|a|b|c|grp_tres=${text}`);
      readTransactions(text);
      readTresIds(text);
    }),
  );
});

describe.skipIf(!hasSamples)("the lab cluster, seven releases", () => {
  test("every line is read, and the limits that were set are told by name", () => {
    for (const release of labReleases) {
      const text = sampleText(`lab/${release}/text/sacctmgr_txn.txt`);
      const ids = readTresIds(sampleText(`lab/${release}/text/sacctmgr_tres.txt`));
      const { facts, unread } = readTransactions(text, { tresIds: ids.facts });
      expect([release, ids.unread, unread, facts.length]).toEqual([
        release,
        [],
        [],
        text.trim().split("\n").length - 1,
      ]);
      expect(facts.every(({ at, actor }) => at !== null && actor === "root")).toBe(true);
      const limits = facts
        .filter(({ changes }) => changes.GrpTRES !== undefined)
        .map(({ associationIds, changes }) => [associationIds, changes.GrpTRES]);
      expect(limits).toContainEqual([[3], "cpu=128,gres/gpu:a100=8,gres/gpu=8,mem=1024000M"]);
      expect(limits).toContainEqual([[5], "gres/gpu:a100_1g.5gb=3,gres/gpu=4"]);
      expect(limits).toContainEqual([[6], "gres/gpu=999"]);
      expect(limits.at(-1)).toEqual([[6], null]);
    }
  });
});
