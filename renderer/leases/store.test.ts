import { expect, test, vi } from "vitest";
import { AppError } from "../../shared/errors.ts";
import type { Client } from "../client/index.ts";
import { createLeasesStore } from "./store.ts";

function storeWith(answers: Readonly<Record<string, () => unknown>>) {
  const request = vi.fn(async (name: string) => answers[name]?.());
  return { request, store: createLeasesStore({ request } as unknown as Client, "lab") };
}
const wish = { projectId: "t0nxp_p01", gpuUuid: "GPU-1", gpuInstanceId: 2 };

test("who was faster stands on the screen when the refusal does", async () => {
  const { store } = storeWith({
    "leases.list": () => [{ id: "l000001" }],
    "lease.take": () => {
      throw new AppError({ code: "in-use", message: "This GPU instance is leased already.", remedy: "" });
    },
  });
  expect(await store.take(wish)).toBe(false);
  expect(store.getState()).toMatchObject({
    leases: [{ id: "l000001" }],
    refused: { about: "GPU-1/2", error: { code: "in-use" } },
    isSending: false,
  });
});

test("nothing else is sent while something is", async () => {
  let answer: (value: null) => void = () => undefined;
  const { store, request } = storeWith({
    "leases.list": () => [],
    "lease.take": () => new Promise((resolve) => (answer = resolve)),
  });
  const first = store.take(wish);
  expect(await store.take(wish)).toBe(false);
  answer(null);
  expect(await first).toBe(true);
  expect(request.mock.calls.filter(([name]) => name === "lease.take")).toHaveLength(1);
});
