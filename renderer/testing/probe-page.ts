/**
 * What every probe of a benchmark needs in its page: the end of a frame, and a bridge with answers in place of the services.
 * It stands there before the probe; no build of the console contains it.
 */
import type { ClientMessage, ServerMessage } from "../../shared/api/contract.ts";
import type { Bridge } from "../client/index.ts";

const listeners = new Set<(message: ServerMessage) => void>();

const probePage = {
  /** The time at the end of the next frame. */
  endOfFrame(): Promise<number> {
    return new Promise((resolve) =>
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => resolve(performance.now());
        channel.port2.postMessage(null);
      }),
    );
  },

  /** To the page, as if it came over the bridge. */
  say(message: ServerMessage): void {
    for (const listener of listeners) listener(message);
  },

  /** A bridge as in the desktop window, always open; `hear` gets what the page asks for. */
  bridge(hear: (message: Exclude<ClientMessage, { kind: "cancel" }>) => void): void {
    const bridge: Bridge = {
      send: (message) => {
        if (message.kind !== "cancel") hear(message);
      },
      onMessage: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      onState: (listener) => {
        listener("open");
        return () => {};
      },
    };
    Object.defineProperty(window, "tesseraBridge", { value: bridge });
  },
};

declare global {
  interface Window {
    probePage: typeof probePage;
  }
}
window.probePage = probePage;
