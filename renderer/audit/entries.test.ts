import { expect, test } from "vitest";
import type { AuditRowView, SlurmTransactionView } from "../../shared/protocol/control.ts";
import { allRows, entriesOf, nextRow, shellText, withPage } from "./entries.ts";

function row(seq: number, at: string): AuditRowView {
  return {
    seq,
    at: `2026-03-01T${at}.000Z`,
    uid: 0,
    user: "root",
    loginUid: null,
    keyFingerprint: null,
    address: null,
    role: "administrator",
    command: "tenant.create",
    tenant: null,
    object: null,
    before: null,
    after: null,
    commandLine: null,
    outcome: "done",
    error: null,
    hash: `${seq}`,
  };
}

function told(at: string, action = "Add Accounts"): SlurmTransactionView {
  return { at: `2026-03-01T${at}.000Z`, actor: "root", action, where: "", info: "" };
}

const keys = (entries: ReturnType<typeof entriesOf>) =>
  entries.map((one) => (one.kind === "ledger" ? one.row.seq : one.transaction.action));

test("what Slurm was told stands at its time; ledger rows keep their order though the clock went back", () => {
  const rows = [row(1, "10:00:00"), row(3, "10:30:00"), row(2, "11:00:00")];
  const slurm = [told("09:00:00", "early"), told("10:10:00", "between"), told("12:00:00", "late")];
  expect(keys(entriesOf(rows, slurm, true))).toEqual(["late", 3, 2, "between", 1, "early"]);
});

test("before the oldest row nothing of Slurm is shown while older pages are missing", () => {
  expect(keys(entriesOf([row(5, "10:00:00")], [told("09:00:00", "early")], false))).toEqual([5]);
});

test("the choice goes from row to row of the ledger, and stops at the ends", () => {
  const entries = entriesOf([row(1, "10:00:00"), row(2, "11:00:00")], [told("10:30:00"), told("12:00:00")], true);
  expect([-1, 1, 3].map((at) => nextRow(entries, at, 1))).toEqual([1, 3, 3]);
  expect([1, 3].map((at) => nextRow(entries, at, -1e9))).toEqual([1, 1]);
  expect(nextRow(entriesOf([], [told("10:30:00")], true), -1, 1)).toBe(null);
});

test("two transactions that are alike have keys of their own", () => {
  const entries = entriesOf([], [told("09:00:00"), told("09:00:00")], true);
  expect(new Set(entries.map((one) => one.key)).size).toBe(2);
});

test("a page that overlaps what is held adds each row once", () => {
  const rows = withPage([row(2, "10:00:00"), row(1, "09:00:00")], [row(3, "10:01:00"), row(2, "10:00:00")]);
  expect(rows.map(({ seq }) => seq)).toEqual([3, 2, 1]);
});

test("all pages are fetched, each from where the one before ended", async () => {
  const asked: (number | null)[] = [];
  const rows = await allRows(async (before) => {
    asked.push(before);
    return before === null ? { rows: [row(2, "10:00:00")], next: 2 } : { rows: [row(1, "09:00:00")], next: null };
  });
  expect([asked, rows.map(({ seq }) => seq)]).toEqual([
    [null, 2],
    [2, 1],
  ]);
});

test("words that a shell would read otherwise are quoted; other text stays", () => {
  expect(shellText('["sacctmgr","-i","Description=it\'s $HOME","GrpTRES=gres/gpu=4",""]')).toBe(
    "sacctmgr -i 'Description=it'\\''s $HOME' GrpTRES=gres/gpu=4 ''",
  );
  expect(shellText("not [")).toBe("not [");
  expect(shellText('{"a":1}')).toBe('{"a":1}');
});
