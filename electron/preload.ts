/**
 * The bridge and nothing else: messages of the contract between the page and the services' port. The page gets
 * neither Electron's objects nor the port itself.
 */
import { contextBridge, ipcRenderer } from "electron";
import type { ClientMessage, ServerMessage } from "../shared/api/contract.ts";
import { connectChannel, portChannel } from "./desktop/channels.ts";

/** A DOM MessagePort, of which this file needs no more; it is compiled without the DOM's types. */
interface PagePort {
  onmessage: ((event: { readonly data: ServerMessage }) => void) | null;
  postMessage(message: ClientMessage): void;
  addEventListener(type: "close", listener: () => void): void;
  start(): void;
  close(): void;
}

type State = "connecting" | "open" | "lost";

const messageListeners = new Set<(message: ServerMessage) => void>();
const stateListeners = new Set<(state: State) => void>();
/** What the page asked before its port came. */
const waiting: ClientMessage[] = [];
let port: PagePort | null = null;
let state: State = "connecting";

function become(next: State): void {
  state = next;
  for (const listener of stateListeners) listener(next);
}

// A second port means that the services were started anew: what was asked of the first gets no answer.
ipcRenderer.on(portChannel, (event) => {
  // The cast bridges two type worlds: with the DOM's types elsewhere in the program this is a DOM MessagePort.
  const given = event.ports[0] as unknown as PagePort | undefined;
  if (given === undefined) return;
  if (port !== null) {
    port.close();
    if (state === "open") become("lost");
  }
  port = given;
  given.onmessage = ({ data }) => {
    for (const listener of messageListeners) listener(data);
  };
  given.addEventListener("close", () => {
    if (port !== given) return;
    port = null;
    become("lost");
  });
  given.start();
  for (const message of waiting.splice(0)) given.postMessage(message);
  become("open");
});
ipcRenderer.send(connectChannel);

contextBridge.exposeInMainWorld("tesseraBridge", {
  send: (message: ClientMessage): void => {
    if (port === null) waiting.push(message);
    else port.postMessage(message);
  },
  onMessage: (listener: (message: ServerMessage) => void): (() => void) => {
    messageListeners.add(listener);
    return () => messageListeners.delete(listener);
  },
  /** Calls at once with the present state, then at each change. */
  onState: (listener: (state: State) => void): (() => void) => {
    stateListeners.add(listener);
    listener(state);
    return () => stateListeners.delete(listener);
  },
});
