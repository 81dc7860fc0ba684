/** The console on 127.0.0.1: the page, and the contract on a WebSocket at `/api`. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { AppError } from "../../shared/errors.ts";
import { pageAnswer, securityHeaders } from "../page.ts";
import type { Handlers } from "../services/api/handlers.ts";
import { type ServerPort, serveApi } from "../services/api/serve.ts";
import { Access, isLoopbackHost, isOwnOrigin } from "./access.ts";

export interface WebServerOptions {
  readonly handlers: Handlers;
  /** The built page. */
  readonly directory: string;
  /** 0 for any free one. */
  readonly port: number;
  /** A link was used, or a used one was tried: here is the next. */
  readonly onFreshLink: (url: string) => void;
}

export interface WebServer {
  /** With the token that is good now. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Cluster files travel in one message. */
const largestMessageBytes = 16 * 1024 * 1024;
/** A page that no longer reads is cut off; it comes back by itself and gets the whole anew. */
const largestBacklogBytes = 256 * 1024 * 1024;
const pingEveryMs = 30_000;

/** Throws `bad-request` when the port is taken or not allowed. */
export async function startWebServer(options: WebServerOptions): Promise<WebServer> {
  const access = new Access();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: largestMessageBytes, perMessageDeflate: false });
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => {
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  // A client that sends its headers drop by drop holds nothing for long.
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;

  const linkOf = (token: string): string => `http://127.0.0.1:${portOf(server)}/?token=${token}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const host = request.headers.host;
    if (!isLoopbackHost(host)) {
      refuse(response, 421, "This console answers to 127.0.0.1 and localhost only.");
      return;
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      refuse(response, 405, "Only GET and HEAD.");
      return;
    }
    const url = parseUrl(request.url);
    if (url === null) {
      refuse(response, 400, "That is not an address.");
      return;
    }
    const token = url.searchParams.get("token");
    if (token !== null) {
      exchange(request, response, token);
      return;
    }
    if (!access.admits(request.headers.cookie)) {
      refuse(response, 401, "Open the link that the console printed in its terminal.");
      return;
    }
    const page = await pageAnswer(options.directory, url.pathname, [`ws://${host}`, "'self'"]);
    response.writeHead(page.status, page.headers);
    response.end(request.method === "HEAD" ? undefined : page.body);
  }

  function exchange(request: IncomingMessage, response: ServerResponse, token: string): void {
    // A link preview or a prefetch must not use the link up.
    if (request.method === "HEAD" || /prefetch|prerender/i.test(String(request.headers["sec-purpose"] ?? ""))) {
      refuse(response, 400, "Open the link in a browser.");
      return;
    }
    const cookie = access.exchange(token);
    if (cookie === null && !access.admits(request.headers.cookie)) {
      if (access.token === null) options.onFreshLink(linkOf(access.renewToken()));
      refuse(response, 403, "This link was used before. A fresh one is in the terminal of the console.");
      return;
    }
    response.writeHead(303, {
      ...securityHeaders("", []),
      location: "/",
      "cache-control": "no-store",
      ...(cookie === null ? {} : { "set-cookie": cookie }),
    });
    response.end();
  }

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    const { host, origin, cookie } = request.headers;
    const admitted =
      parseUrl(request.url)?.pathname === "/api" &&
      isLoopbackHost(host) &&
      isOwnOrigin(origin, host) &&
      access.admits(cookie);
    if (!admitted) {
      socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => serveApi(options.handlers, portOver(webSocket)));
  });

  await listen(server, options.port);
  return {
    get url() {
      return linkOf(access.token ?? access.renewToken());
    },
    port: portOf(server),
    close: async () => {
      for (const client of sockets.clients) client.close(1001, "The console ends");
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const last = setTimeout(() => {
        for (const client of sockets.clients) client.terminate();
      }, 500);
      server.closeIdleConnections();
      await closed;
      clearTimeout(last);
    },
  };
}

function portOver(socket: WebSocket): ServerPort {
  let alive = true;
  socket.on("pong", () => {
    alive = true;
  });
  socket.on("error", () => socket.terminate());
  const ping = setInterval(() => {
    if (!alive) socket.terminate();
    alive = false;
    socket.ping();
  }, pingEveryMs);
  socket.on("close", () => clearInterval(ping));
  return {
    post: (message) => {
      if (socket.bufferedAmount > largestBacklogBytes) socket.terminate();
      else socket.send(JSON.stringify(message));
    },
    onMessage: (listener) =>
      socket.on("message", (data, isBinary) => {
        if (isBinary) return;
        let message: unknown;
        try {
          message = JSON.parse(data.toString());
        } catch {
          return;
        }
        listener(message);
      }),
    onClose: (listener) => socket.on("close", listener),
  };
}

function refuse(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, {
    ...securityHeaders("", []),
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
  });
  response.end(`${sentence}\n`);
}

function parseUrl(text: string | undefined): URL | null {
  return text?.startsWith("/") ? URL.parse(text, "http://127.0.0.1") : null;
}

function portOf(server: Server): number {
  const address = server.address();
  return isAddressInfo(address) ? address.port : 0;
}

function isAddressInfo(address: string | AddressInfo | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, port)));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => resolve());
  });
}

function listenError(error: NodeJS.ErrnoException, port: number): AppError {
  const taken = error.code === "EADDRINUSE";
  return new AppError(
    {
      code: "bad-request",
      message: taken ? `Port ${port} on 127.0.0.1 is in use.` : `Port ${port} on 127.0.0.1 cannot be opened.`,
      remedy: taken
        ? "Choose another with --port, or leave --port out for any free one."
        : "Choose a port of 1024 or above with --port.",
      evidence: { details: error.message },
    },
    { cause: error },
  );
}
