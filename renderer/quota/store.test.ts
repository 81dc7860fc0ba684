import { expect, it } from "vitest";
import { AppError } from "../../shared/errors.ts";
import type { QuotaAnswer, QuotaResult } from "../../shared/protocol/control.ts";
import { fraction } from "../../shared/quota/index.ts";
import type { Client } from "../client/index.ts";
import { conflictsOf, editsOf, type QuotaDraft } from "./draft.ts";
import type { DraftKeeper } from "./kept-draft.ts";
import { createQuotaStore } from "./store.ts";
import { nowMs, smallAnswer } from "./testing/answers.ts";

const edit = (nodeId: string, cards: number) => ({ nodeId, limits: { cards: fraction(cards) } });

function fakeClient(
  answers: (QuotaAnswer | AppError)[],
  result: QuotaResult | AppError,
  keeper: DraftKeeper | null = null,
) {
  const sent: unknown[] = [];
  const give = <T>(value: T | AppError | undefined) =>
    value === undefined || value instanceof AppError ? Promise.reject(value) : Promise.resolve(value);
  const client = {
    request: () => give(answers.shift()),
    task: (_name: string, input: unknown, onProgress: (progress: unknown) => void) => {
      sent.push(input);
      onProgress({ done: 1, total: 2 });
      return give(result);
    },
  } as unknown as Pick<Client, "request" | "task">;
  return { sent, store: createQuotaStore(client, "c1", () => nowMs, keeper) };
}

const lost = new AppError({ code: "ssh-unreachable", message: "The host does not answer.", remedy: "Try again." });

it("applies a draft: what was done leaves it, what failed stays, and the way back is a draft", async () => {
  const error = { code: "conflict", message: "It was changed meanwhile.", remedy: "Look at it again." } as const;
  const result: QuotaResult = {
    outcomes: [
      { subject: "t0nxp_p01", outcome: "done", version: 2 },
      { subject: "t0nxp_p02", outcome: "failed", error },
    ],
    commands: [],
  };
  const { sent, store } = fakeClient([smallAnswer, { ...smallAnswer, revision: 8 }], result);
  await store.load();
  store.edit([edit("t0nxp_p01", 6), edit("t0nxp_p02", 5)]);
  await store.apply();
  expect(sent).toEqual([
    {
      clusterId: "c1",
      input: {
        edits: [
          { subject: "t0nxp_p01", limits: { cards: fraction(6) }, basedOn: 1 },
          { subject: "t0nxp_p02", limits: { cards: fraction(5) }, basedOn: 1 },
        ],
        dryRun: false,
      },
    },
  ]);
  const { history, applied, progress, answer } = store.getState();
  expect([...history.present.keys()]).toEqual(["t0nxp_p02"]);
  expect(applied === null ? [] : editsOf(applied.back)).toEqual([
    { subject: "t0nxp_p01", limits: { cards: fraction(8) }, basedOn: 2 },
  ]);
  expect([progress, answer?.revision]).toEqual([null, 8]);
});

it("keeps the draft and the answer where the host does not answer", async () => {
  const { store } = fakeClient([smallAnswer, lost], lost);
  await store.load();
  store.edit([edit("t0nxp_p01", 6)]);
  await store.apply();
  await store.load();
  const { history, answer, error, progress } = store.getState();
  expect([history.present.size, answer, error?.code, progress]).toEqual([1, smallAnswer, "ssh-unreachable", null]);
});

it("undoes and redoes edits, and shows commands without progress", async () => {
  const { sent, store } = fakeClient([smallAnswer], { outcomes: [], commands: [["sacctmgr"]] });
  await store.load();
  store.edit([edit("t0nxp_p01", 6)]);
  store.undo();
  expect(store.getState().history.present.size).toBe(0);
  store.redo();
  expect((await store.commands()).commands).toEqual([["sacctmgr"]]);
  expect(sent).toMatchObject([{ input: { dryRun: true } }]);
  expect(store.getState().progress).toBeNull();
});

it("keeps the draft for the page that comes next, which finds what was changed meanwhile", async () => {
  let written: QuotaDraft = new Map();
  const keeper: DraftKeeper = {
    read: () => written,
    write: (draft) => {
      written = draft;
      return true;
    },
  };
  const nothing: QuotaResult = { outcomes: [], commands: [] };
  const before = fakeClient([smallAnswer], nothing, keeper).store;
  await before.load();
  before.edit([edit("t0nxp_p01", 6), edit("t0nxp_p02", 5)]);
  before.keep();

  const isReached = (id: string) => id === "t0nxp_p02";
  const changed = smallAnswer.nodes.map((node) =>
    isReached(node.id) ? { ...node, version: 2, limits: { cards: fraction(5) } } : { ...node, version: 2 },
  );
  const { store } = fakeClient([{ ...smallAnswer, nodes: changed }], nothing, keeper);
  await store.load();
  const { model, history } = store.getState();
  expect(editsOf(history.present)).toEqual([{ subject: "t0nxp_p01", limits: { cards: fraction(6) }, basedOn: 1 }]);
  expect(model === null ? [] : conflictsOf(model, history.present).map(({ subject }) => subject)).toEqual([
    "t0nxp_p01",
  ]);
});
