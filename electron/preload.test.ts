import { MessageChannel } from "node:worker_threads";
import { beforeEach, expect, test, vi } from "vitest";
import type { ClientMessage, ServerMessage } from "../shared/api/contract.ts";

interface Bridge {
  send(message: ClientMessage): void;
  onMessage(listener: (message: ServerMessage) => void): () => void;
  onState(listener: (state: string) => void): () => void;
}

const electron = vi.hoisted(() => ({
  exposed: new Map<string, unknown>(),
  listeners: new Map<string, (event: { ports: unknown[] }) => void>(),
  sent: [] as string[],
}));
vi.mock("electron", () => ({
  contextBridge: { exposeInMainWorld: (name: string, api: unknown) => electron.exposed.set(name, api) },
  ipcRenderer: {
    on: (channel: string, listener: (event: { ports: unknown[] }) => void) => electron.listeners.set(channel, listener),
    send: (channel: string) => electron.sent.push(channel),
  },
}));

let bridge: Bridge;
let states: string[];
let messages: ServerMessage[];

beforeEach(async () => {
  vi.resetModules();
  electron.sent.length = 0;
  // Ports of the test before may still say that they close.
  const [ownStates, ownMessages]: [string[], ServerMessage[]] = [[], []];
  states = ownStates;
  messages = ownMessages;
  await import("./preload.ts");
  bridge = electron.exposed.get("tesseraBridge") as Bridge;
  bridge.onState((state) => ownStates.push(state));
  bridge.onMessage((message) => ownMessages.push(message));
});

/** Hands the preload script one end, as main does, and gives the services' end. */
function handOver() {
  const { port1, port2 } = new MessageChannel();
  electron.listeners.get("tessera:port")?.({ ports: [port2] });
  return port1;
}

const end: ServerMessage = { kind: "end", id: 1, ok: true, value: null };

test("exposes the bridge and nothing of Electron", () => {
  expect([...electron.exposed.keys()]).toEqual(["tesseraBridge"]);
  expect(Object.keys(bridge).sort()).toEqual(["onMessage", "onState", "send"]);
  expect(electron.sent).toEqual(["tessera:connect"]);
});

test("carries messages both ways, those too that were sent before the port came", async () => {
  const early: ClientMessage = { kind: "call", id: 0, name: "app.info", input: {} };
  bridge.send(early);
  const services = handOver();
  const received: unknown[] = [];
  services.on("message", (message) => received.push(message));
  bridge.send({ kind: "call", id: 1, name: "app.info", input: {} });
  await vi.waitFor(() => expect(received).toEqual([early, { ...early, id: 1 }]));
  services.postMessage(end);
  await vi.waitFor(() => expect(messages).toEqual([end]));
  expect(states).toEqual(["connecting", "open"]);
  services.close();
});

test("says when the services fall, and is open again on the next port", async () => {
  const first = handOver();
  first.close();
  await vi.waitFor(() => expect(states).toEqual(["connecting", "open", "lost"]));
  const second = handOver();
  second.postMessage(end);
  await vi.waitFor(() => expect(messages).toEqual([end]));
  expect(states).toEqual(["connecting", "open", "lost", "open"]);
  second.close();
});

test("a port that replaces one that still stands is a loss of what was asked on it", () => {
  const first = handOver();
  const second = handOver();
  expect(states).toEqual(["connecting", "open", "lost", "open"]);
  first.close();
  second.close();
});
