import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { PartitionProgress, ServerMessage } from "../../../shared/api/contract.ts";
import { api } from "../../../shared/api/contract.ts";
import { AppError } from "../../../shared/errors.ts";
import { inProcessBridge } from "./bridge.ts";
import type { Handlers } from "./handlers.ts";
import { callsInFlightLimit, serveApi } from "./serve.ts";

const settings = { language: "en", theme: "dark" } as const;
const draft = {
  clusterId: "c",
  hosts: [{ hostId: "h", gpus: [{ gpuUuid: "GPU-1", layout: { migEnabled: true, instances: [] } }] }],
};

/** Handlers that answer `not-found`, but for those given. */
function handlersWith(given: Partial<Handlers>): Handlers {
  const missing = () => {
    throw new AppError({ code: "not-found", message: "none", remedy: "" });
  };
  return { ...Object.fromEntries(Object.keys(api).map((name) => [name, missing])), ...given } as Handlers;
}

function connect(given: Partial<Handlers>) {
  const bridge = inProcessBridge();
  const received: ServerMessage[] = [];
  bridge.client.onMessage((message) => received.push(message));
  serveApi(handlersWith(given), bridge.server);
  return { ...bridge, received, ends: () => received.filter((message) => message.kind === "end") };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("requests", () => {
  test("answer once, with the value or with the error as plain data", async () => {
    const { client, received } = connect({ "settings.get": () => settings });
    client.post({ kind: "call", id: 1, name: "settings.get", input: {} });
    client.post({ kind: "call", id: 2, name: "clusters.list", input: {} });
    await settle();
    expect(received.toSorted((a, b) => a.id - b.id)).toEqual([
      { kind: "end", id: 1, ok: true, value: settings },
      { kind: "end", id: 2, ok: false, error: { code: "not-found", message: "none", remedy: "" } },
    ]);
  });

  test("input that the contract does not allow never reaches the handler, and the answer says where it is wrong", async () => {
    const handler = vi.fn(() => settings);
    const { client, received } = connect({ "settings.set": handler });
    client.post({ kind: "call", id: 1, name: "settings.set", input: { language: "en", theme: "pink" } });
    client.post({ kind: "call", id: 2, name: "settings.set", input: null });
    client.post({ kind: "call", id: 3, name: "toString", input: {} });
    await settle();
    expect(received.map((message) => (message.kind === "end" && !message.ok ? message.error.code : null))).toEqual([
      "bad-request",
      "bad-request",
      "bad-request",
    ]);
    expect(received[0]).toMatchObject({ error: { message: expect.stringContaining("theme") } });
    expect(handler).not.toHaveBeenCalled();
  });

  test("a fault of ours comes across as `internal`", async () => {
    const { client, received } = connect({
      "settings.get": () => {
        throw new TypeError("x is not a function");
      },
    });
    client.post({ kind: "call", id: 1, name: "settings.get", input: {} });
    await settle();
    expect(received).toMatchObject([{ kind: "end", id: 1, ok: false, error: { code: "internal" } }]);
  });
});

describe("tasks", () => {
  test("send progress in order, then end; what comes after the end is not sent", async () => {
    let late: ((progress: PartitionProgress) => void) | undefined;
    const failure = (message: string): PartitionProgress => ({
      hostId: "h",
      kind: "host-failed",
      error: { code: "timeout", message, remedy: "" },
    });
    const { client, received } = connect({
      "partition.apply": async (_input, progress) => {
        late = progress;
        progress(failure("one"));
        progress(failure("two"));
        return [];
      },
    });
    client.post({ kind: "call", id: 7, name: "partition.apply", input: draft });
    await settle();
    late?.(failure("late"));
    await settle();
    expect(received).toEqual([
      { kind: "event", id: 7, seq: 0, event: failure("one") },
      { kind: "event", id: 7, seq: 1, event: failure("two") },
      { kind: "end", id: 7, ok: true, value: [] },
    ]);
  });

  test("cancelling asks the handler, whose own end is the one that is sent", async () => {
    const { client, received } = connect({
      "partition.apply": (_input, _progress, signal) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () =>
            resolve([{ hostId: "h", ok: false, error: { code: "cancelled", message: "stopped", remedy: "" } }]),
          ),
        ),
    });
    client.post({ kind: "call", id: 1, name: "partition.apply", input: draft });
    await settle();
    expect(received).toEqual([]);
    client.post({ kind: "cancel", id: 1 });
    client.post({ kind: "cancel", id: 1 });
    await settle();
    expect(received).toMatchObject([{ kind: "end", id: 1, ok: true, value: [{ ok: false }] }]);
  });
});

describe("subscriptions", () => {
  test("emit until cancelled, then end with null", async () => {
    let emit: ((events: readonly never[]) => void) | undefined;
    const { client, received } = connect({
      "troubleshooting.events": (_input, given) => {
        emit = given;
      },
    });
    client.post({ kind: "call", id: 1, name: "troubleshooting.events", input: {} });
    await settle();
    emit?.([]);
    client.post({ kind: "cancel", id: 1 });
    await settle();
    emit?.([]);
    await settle();
    expect(received).toEqual([
      { kind: "event", id: 1, seq: 0, event: [] },
      { kind: "end", id: 1, ok: true, value: null },
    ]);
  });
});

test("closing the port ends what only told this page something; a change goes on; nothing is posted any more", async () => {
  const aborted: string[] = [];
  const { client, close, received } = connect({
    "partition.apply": (_input, _progress, signal) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          aborted.push("task");
          resolve([]);
        }),
      ),
    prompts: (_input, _emit, signal) => signal.addEventListener("abort", () => aborted.push("subscription")),
  });
  client.post({ kind: "call", id: 1, name: "partition.apply", input: draft });
  client.post({ kind: "call", id: 2, name: "prompts", input: {} });
  await settle();
  close();
  await settle();
  expect(aborted).toEqual(["subscription"]);
  expect(received).toEqual([]);
});

test("a flood beyond the limit is refused call by call; the calls within it are answered", async () => {
  const gate = Promise.withResolvers<void>();
  const { client, ends } = connect({
    "settings.get": async () => {
      await gate.promise;
      return settings;
    },
  });
  const total = callsInFlightLimit + 100;
  for (let id = 0; id < total; id += 1) client.post({ kind: "call", id, name: "settings.get", input: {} });
  await settle();
  expect(ends()).toHaveLength(100);
  gate.resolve();
  await settle();
  expect(ends().filter((end) => end.ok)).toHaveLength(callsInFlightLimit);
  expect(new Set(ends().map((end) => end.id)).size).toBe(total);
});

test("an id that is in use ends the earlier call with an error, once", async () => {
  const { client, received } = connect({ "settings.get": () => new Promise(() => undefined) });
  client.post({ kind: "call", id: 1, name: "settings.get", input: {} });
  client.post({ kind: "call", id: 1, name: "settings.get", input: {} });
  await settle();
  expect(received).toMatchObject([{ kind: "end", id: 1, ok: false, error: { code: "bad-request" } }]);
});

test("whatever is sent: nothing is thrown, and each call with a usable id has at most one end", async () => {
  const name = fc.oneof(fc.constantFrom(...Object.keys(api)), fc.string(), fc.constant("__proto__"));
  const message = fc.oneof(
    fc.anything({ withBigInt: true, withDate: true }),
    fc.record({ kind: fc.constant("call"), id: fc.nat(50), name, input: fc.jsonValue() }),
    fc.record({ kind: fc.constantFrom("call", "cancel", "end"), id: fc.oneof(fc.nat(50), fc.double(), fc.string()) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 40 }), async (messages) => {
      const { client, ends } = connect({});
      let sent = 0;
      for (const one of messages) {
        client.postRaw(one);
        if (isCall(one)) sent += 1;
      }
      await settle();
      expect(ends().length).toBeLessThanOrEqual(sent);
    }),
    { numRuns: 200 },
  );
});

function isCall(message: unknown): boolean {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === "call";
}
