/**
 * Serves the built console with a snapshot behind it and nothing else: no hosts, no services. For benchmarks and
 * looks at the board where the numbers or the picture must be the same every time.
 */

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { WebSocketServer } from "ws";
import type { ClientMessage, ServerMessage } from "../../shared/api/contract.ts";
import type { ClusterSnapshot, SnapshotEvent } from "../../shared/api/snapshot.ts";
import { snapshotEvents } from "../../shared/snapshot/pack.ts";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

/** As strict as the console's own: what is drawn here must also be drawn there. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

export interface SnapshotServer {
  readonly url: string;
  /** To every page that watches the cluster. */
  push(event: SnapshotEvent): void;
  close(): Promise<void>;
}

/** `answers` are for pages with a bridge of their own: by the command's name, each as the text that would travel. */
export async function serveSnapshot(
  directory: string,
  snapshot: ClusterSnapshot | null,
  answers: Readonly<Record<string, string>> = {},
): Promise<SnapshotServer> {
  // For pages that bring a bridge of their own instead of the WebSocket: each event as the text that would travel.
  const parts =
    snapshot === null ? "[]" : JSON.stringify(snapshotEvents(snapshot).map((event) => JSON.stringify(event)));
  const texts = new Map([
    ["/snapshot-events.json", parts],
    ["/answers.json", JSON.stringify(answers)],
  ]);
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://localhost").pathname);
    const text = texts.get(path);
    if (text !== undefined) {
      response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
      response.end(text);
      return;
    }
    const file = join(directory, path === "/" ? "index.html" : path);
    readFile(file).then(
      (content) => {
        response.writeHead(200, {
          "content-type": types[extname(file)] ?? "application/octet-stream",
          "content-security-policy": policy,
          "cache-control": "no-store",
        });
        response.end(content);
      },
      () => response.writeHead(404).end(),
    );
  });
  const sockets = new WebSocketServer({ server, path: "/api" });
  const watching = new Map<(message: ServerMessage) => void, { id: number; seq: number }>();
  // Made once: the time it takes belongs to the server, not to the page that is measured.
  const own: Readonly<Record<string, unknown>> = {
    "app.info": { version: "0.1.0", platform: process.platform, desktop: false, secrets: "memory", demo: false },
    "settings.get": { language: "system", theme: "system" },
    "clusters.list":
      snapshot === null
        ? []
        : [
            {
              id: snapshot.clusterId,
              name: snapshot.name,
              kind: "ssh",
              hostCount: snapshot.hosts.length,
              connected: true,
            },
          ],
  };
  sockets.on("connection", (socket) => {
    const send = (message: ServerMessage) => socket.send(JSON.stringify(message));
    socket.on("message", (data) => {
      const message: ClientMessage = JSON.parse(String(data));
      if (message.kind === "cancel") return;
      const { id } = message;
      if (message.name === "snapshot" && snapshot !== null) {
        const events = snapshotEvents(snapshot);
        for (const [seq, event] of events.entries()) send({ kind: "event", id, seq, event });
        watching.set(send, { id, seq: events.length });
        return;
      }
      if (message.name === "prompts" || message.name === "troubleshooting.events") return;
      const value = own[message.name];
      if (value !== undefined) send({ kind: "end", id, ok: true, value });
      else {
        const error = { code: "not-found", message: `No ${message.name} here.`, remedy: "" } as const;
        send({ kind: "end", id, ok: false, error });
      }
    });
    socket.on("close", () => watching.delete(send));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/`,
    push: (event) => {
      for (const [send, state] of watching) send({ kind: "event", id: state.id, seq: state.seq++, event });
    },
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
