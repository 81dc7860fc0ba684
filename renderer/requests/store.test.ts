import { expect, it, vi } from "vitest";
import { AppError } from "../../shared/errors.ts";
import type { Client } from "../client/index.ts";
import { createRequestsStore } from "./store.ts";

const decision = { subject: "t0nxp_p01", requestId: "r000001", basedOn: 1, decision: "approve", answer: "" } as const;
const conflict = new AppError({ code: "conflict", message: "mara refused it.", remedy: "Look at it again." });

function storeWith(answers: Readonly<Record<string, () => unknown>>) {
  const request = vi.fn(async (name: string) => answers[name]?.());
  return { request, store: createRequestsStore({ request } as unknown as Client, "lab") };
}

it("tells what somebody else decided meanwhile together with what stands now", async () => {
  let version = 1;
  const { store } = storeWith({
    "requests.list": () => ({ requests: [{ id: "r000001", version }], grants: [] }),
    "request.decide": () => {
      version = 2;
      throw conflict;
    },
  });
  await store.load();
  expect(await store.decide(decision)).toBe(false);
  expect(store.getState()).toMatchObject({
    answer: { requests: [{ version: 2 }] },
    refused: { about: "r000001", error: { code: "conflict", message: "mara refused it." } },
    isSending: false,
  });
  store.dismiss();
  expect(store.getState().refused).toBeNull();
});

it("sends one thing at a time, to the cluster it is about", async () => {
  let answer: (value: null) => void = () => undefined;
  const { store, request } = storeWith({
    "request.withdraw": () => new Promise((resolve) => (answer = resolve)),
    "requests.list": () => ({ requests: [], grants: [] }),
  });
  const input = { subject: "t0nxp_p01", requestId: "r000001", basedOn: 1 };
  const first = store.withdraw(input);
  expect(await store.withdraw(input)).toBe(false);
  answer(null);
  expect(await first).toBe(true);
  expect(request.mock.calls).toEqual([
    ["request.withdraw", { clusterId: "lab", input }],
    ["requests.list", { clusterId: "lab", input: {} }],
  ]);
});

it("keeps what was answered where a later look fails", async () => {
  let fails = false;
  const { store } = storeWith({
    "requests.list": () => {
      if (fails) throw conflict;
      return { requests: [], grants: [] };
    },
  });
  await store.load();
  fails = true;
  await store.load();
  expect(store.getState()).toMatchObject({ answer: { requests: [] }, error: { code: "conflict" } });
});
