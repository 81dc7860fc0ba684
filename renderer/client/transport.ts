/** How envelopes travel: over the preload bridge in the desktop window, over a WebSocket in a browser. */
import type { ClientMessage, ServerMessage } from "../../shared/api/contract.ts";

/**
 * `open`: envelopes pass. `connecting`: the first try. `lost`: it was open, or could not be opened; tried again by itself.
 * `refused`: the console was started anew and no longer knows this page; only its new link helps.
 */
export type LinkState = "connecting" | "open" | "lost" | "refused";

/** What preload puts on `window.tesseraBridge`. Messages are plain data. */
export interface Bridge {
  send(message: ClientMessage): void;
  /** Answers the function that stops listening. */
  onMessage(listener: (message: ServerMessage) => void): () => void;
  /** Calls at once with the present state, then at each change: the services may be started anew. */
  onState(listener: (state: LinkState) => void): () => void;
}

export interface Transport {
  send(message: ClientMessage): void;
  onMessage(listener: (message: ServerMessage) => void): void;
  /** Calls at once with the present state, then at each change. */
  onState(listener: (state: LinkState) => void): void;
}

declare global {
  interface Window {
    readonly tesseraBridge?: Bridge;
  }
}

export function bridgeTransport(bridge: Bridge): Transport {
  return {
    send: (message) => bridge.send(message),
    onMessage: (listener) => void bridge.onMessage(listener),
    onState: (listener) => void bridge.onState(listener),
  };
}

/** The server let this page in with a cookie that scripts cannot read; the browser sends it along. */
export function webSocketAddress(page: string): string {
  const address = new URL("/api", page);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return address.href;
}

async function isRefused(): Promise<boolean> {
  try {
    const { status } = await fetch("/", { method: "HEAD", cache: "no-store" });
    return status === 401 || status === 403;
  } catch {
    return false;
  }
}

export function webSocketTransport(address: string): Transport {
  const messageListeners = new Set<(message: ServerMessage) => void>();
  const stateListeners = new Set<(state: LinkState) => void>();
  let state: LinkState = "connecting";
  let socket: WebSocket | null = null;
  let failures = 0;

  const become = (next: LinkState) => {
    if (next === state) return;
    state = next;
    for (const listener of stateListeners) listener(next);
  };
  const open = () => {
    const next = new WebSocket(address);
    socket = next;
    next.addEventListener("open", () => {
      failures = 0;
      become("open");
    });
    next.addEventListener("message", (event) => {
      if (typeof event.data !== "string") return;
      // The services on the other side are ours and of the same build: the envelope is trusted as typed.
      const message: ServerMessage = JSON.parse(event.data);
      for (const listener of messageListeners) listener(message);
    });
    next.addEventListener("close", () => {
      socket = null;
      if (state !== "refused") become("lost");
      failures += 1;
      // A browser does not tell why a socket was refused; asked for the page, the server does.
      void isRefused().then((refused) => {
        if (refused && socket?.readyState !== WebSocket.OPEN) become("refused");
      });
      window.setTimeout(open, Math.min(5_000, 250 * 2 ** failures) * (0.5 + Math.random() / 2));
    });
  };
  open();

  return {
    send: (message) => {
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
    onMessage: (listener) => void messageListeners.add(listener),
    onState: (listener) => {
      stateListeners.add(listener);
      listener(state);
    },
  };
}
