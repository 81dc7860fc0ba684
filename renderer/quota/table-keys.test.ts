import { expect, it } from "vitest";
import { fraction } from "../../shared/quota/index.ts";
import type { Client } from "../client/index.ts";
import { createDesk } from "./desk.ts";
import { draftedTree, mayEdit } from "./draft.ts";
import type { Look } from "./look.ts";
import { modelOf, rowsOf } from "./model.ts";
import { createQuotaStore } from "./store.ts";
import { pressKey, takeWritten } from "./table-keys.ts";
import { lead, nowMs, smallAnswer } from "./testing/answers.ts";

const plain = { shift: false, control: false, alt: false };

async function table() {
  const client = { request: () => Promise.resolve(smallAnswer) } as unknown as Pick<Client, "request" | "task">;
  const store = createQuotaStore(client, "c1", () => nowMs);
  const desk = createDesk();
  desk.setState({ expanded: new Set(["cluster", "t0nxp"]) });
  await store.load();
  const model = modelOf(smallAnswer, nowMs);
  const look = (): Look => {
    const draft = store.getState().history.present;
    return {
      clusterId: "c1",
      clusterName: "hangzhou-a",
      me: lead,
      store,
      desk,
      answer: smallAnswer,
      model,
      draft,
      tree: draftedTree(model, draft),
      mayEdit: (subject) => mayEdit(lead, subject),
    };
  };
  const rows = () =>
    rowsOf(model, look().tree, { expanded: desk.getState().expanded, search: "", filter: "all", drafted: new Set() });
  const press = (key: string, held: Partial<typeof plain> = {}) => pressKey(look(), rows(), { key, ...plain, ...held });
  const write = (text: string) => {
    desk.setState({ writing: { text, fault: null } });
    return takeWritten(look());
  };
  return { desk, store, rows, press, write };
}

const cursorOf = ({ desk }: Awaited<ReturnType<typeof table>>) => desk.getState().selection.cursor;

it("walks the cells, and closes a row at the left edge before it goes up", async () => {
  const open = await table();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"]) open.press(key);
  expect(cursorOf(open)).toEqual({ subject: "t0nxp_p01", column: "gpuMemoryGiB" });
  open.press("ArrowLeft");
  open.press("ArrowLeft");
  expect(cursorOf(open)).toEqual({ subject: "t0nxp", column: "cards" });
  open.press("ArrowLeft");
  expect(open.rows().map(({ id }) => id)).toEqual(["cluster", "t0nxp", "t0v1s"]);
});

it("begins to write with a figure, keeps what is no limit with the reason, and drafts what is one", async () => {
  const open = await table();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) open.press(key);
  expect(open.press("6")).toBe(true);
  expect(open.desk.getState().writing).toEqual({ text: "6", fault: null });
  expect(open.write("six")).toBe(false);
  expect(open.desk.getState().writing).toEqual({ text: "six", fault: "not-a-number" });
  expect(open.write("6")).toBe(true);
  expect(open.store.getState().history.present).toEqual(
    new Map([["t0nxp_p01", { limits: { cards: fraction(6) }, basedOn: 1 }]]),
  );
});

it("writes and clears nothing that the caller may not change", async () => {
  const open = await table();
  open.press("ArrowDown");
  open.press("ArrowDown");
  expect(cursorOf(open)?.subject).toBe("t0nxp");
  expect([open.press("6"), open.press("Enter"), open.press("Delete")]).toEqual([false, false, false]);
  for (const key of ["ArrowDown", "ArrowDown"]) open.press(key, { shift: key === "ArrowDown" });
  open.press("Delete");
  expect([...open.store.getState().history.present.keys()]).toEqual(["t0nxp_p01", "t0nxp_p02"]);
});
