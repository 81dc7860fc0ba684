/** Both ends of the contract in one process, with the structured clone that a real border makes. For tests and the CLI. */
import type { ClientMessage, ServerMessage } from "../../../shared/api/contract.ts";
import type { ServerPort } from "./serve.ts";

export interface ClientPort {
  post(message: ClientMessage): void;
  onMessage(listener: (message: ServerMessage) => void): void;
  onClose(listener: () => void): void;
}

export interface Bridge {
  readonly server: ServerPort;
  readonly client: ClientPort & { postRaw(message: unknown): void };
  close(): void;
}

export function inProcessBridge(): Bridge {
  const serverListeners: ((message: unknown) => void)[] = [];
  const clientListeners: ((message: ServerMessage) => void)[] = [];
  const closeListeners: (() => void)[] = [];
  let open = true;
  const toServer = (message: unknown): void => {
    const copy: unknown = structuredClone(message);
    queueMicrotask(() => {
      if (open) for (const listener of serverListeners) listener(copy);
    });
  };
  return {
    server: {
      post: (message) => {
        const copy = structuredClone(message);
        queueMicrotask(() => {
          if (open) for (const listener of clientListeners) listener(copy);
        });
      },
      onMessage: (listener) => serverListeners.push(listener),
      onClose: (listener) => closeListeners.push(listener),
    },
    client: {
      post: toServer,
      postRaw: toServer,
      onMessage: (listener) => clientListeners.push(listener),
      onClose: (listener) => closeListeners.push(listener),
    },
    close: () => {
      if (!open) return;
      open = false;
      for (const listener of closeListeners) listener();
    },
  };
}
