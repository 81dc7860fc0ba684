import { expect, test } from "vitest";
import { csvOf } from "../topology/csv.ts";
import { auditCells, auditColumns } from "./table.ts";

test("a row as a line: no cell is a formula, the command line can be pasted", () => {
  const cells = auditCells({
    seq: 7,
    at: "2026-03-01T10:00:00.000Z",
    uid: 12001,
    user: "li",
    loginUid: null,
    keyFingerprint: "SHA256:abc",
    address: "10.0.0.5",
    role: "lead",
    command: "request.ask",
    tenant: "t3f2k",
    object: "=1+1",
    before: null,
    after: null,
    commandLine: '["sacctmgr","a b"]',
    outcome: "done",
    error: null,
    hash: "ff",
  });
  expect(csvOf(auditColumns, [cells]).split("\r\n")[1]).toBe(
    "7,2026-03-01T10:00:00.000Z,12001,li,,SHA256:abc,10.0.0.5,lead,request.ask,t3f2k,'=1+1,,,sacctmgr 'a b',done,,ff",
  );
});
