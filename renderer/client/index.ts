import { type Client, createClient } from "./client.ts";
import { bridgeTransport, webSocketAddress, webSocketTransport } from "./transport.ts";

export type { Client } from "./client.ts";
export type { Bridge, LinkState } from "./transport.ts";

let shared: Client | null = null;

/** The one client of this page; made at the first call. */
export function client(): Client {
  if (shared === null) {
    const bridge = window.tesseraBridge;
    const transport =
      bridge === undefined ? webSocketTransport(webSocketAddress(window.location.href)) : bridgeTransport(bridge);
    shared = createClient(transport);
  }
  return shared;
}
