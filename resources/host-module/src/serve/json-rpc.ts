import type { Readable, Writable } from "node:stream";

/**
 * The server's half of JSON-RPC 2.0 as vscode-jsonrpc frames it (`Content-Length`, blank line, UTF-8 JSON), with its
 * `$/cancelRequest` and `$/progress`. The console uses that library; here its load time and its two rounds of the event
 * loop for each answer were most of what a first answer and a warm request cost, and this half is a page.
 */
export interface Request {
  readonly method: string;
  readonly params: unknown;
  /** Raised by `$/cancelRequest`. */
  readonly cancelled: AbortSignal;
  /** Sends `$/progress`. */
  readonly progress: (token: number, value: unknown) => void;
}

export type Answer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string; readonly data: unknown };

/** Nobody sends so much; whoever claims to is not speaking this protocol. */
const largestMessageBytes = 16 * 1024 * 1024;
/** A caller that leaves this much unread has stopped reading. */
const largestBacklogBytes = 64 * 1024 * 1024;

const parseError = -32_700;
const invalidRequest = -32_600;

/** Calls `onRequest` for each request and sends what it answers. `onEnd` is called once, with why. */
export function answerRequests(
  input: Readable,
  output: Writable,
  onRequest: (request: Request) => Promise<Answer>,
  onEnd: (why: string) => void,
): void {
  const running = new Map<number | string, AbortController>();
  let ended = false;
  const end = (why: string) => {
    if (ended) return;
    ended = true;
    onEnd(why);
  };
  const send = (message: object) => {
    if (ended || output.destroyed || output.writableEnded) return;
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    output.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    if (output.writableLength > largestBacklogBytes) end("the caller does not read what it asked for");
  };
  const progress = (token: number, value: unknown) => send({ method: "$/progress", params: { token, value } });

  const receive = (text: string) => {
    const message = parseMessage(text);
    if (message === null) {
      send({ id: null, error: { code: parseError, message: "This is no JSON object." } });
      return;
    }
    const { id, method, params } = message;
    if (method === "$/cancelRequest") {
      const target = memberOf(params, "id");
      if (typeof target === "number" || typeof target === "string") running.get(target)?.abort();
      return;
    }
    // Other notifications ask for nothing; answers are to questions that this side never puts.
    if (id === undefined) return;
    if (typeof method !== "string" || (typeof id !== "number" && typeof id !== "string")) {
      send({ id: null, error: { code: invalidRequest, message: "This is no JSON-RPC request." } });
      return;
    }
    const cancel = new AbortController();
    running.set(id, cancel);
    onRequest({ method, params, cancelled: cancel.signal, progress }).then((answer) => {
      running.delete(id);
      if (answer.ok) send({ id, result: answer.result ?? null });
      else send({ id, error: { code: answer.code, message: answer.message, data: answer.data } });
    });
  };

  let received: Buffer = Buffer.alloc(0);
  input.on("data", (chunk: Buffer | string) => {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
    for (;;) {
      const next = takeMessage(received);
      if (next === "incomplete") return;
      if (next === "garbage") {
        end("what came in is no JSON-RPC");
        input.destroy();
        return;
      }
      received = next.rest;
      receive(next.text);
    }
  });
  input.on("end", () => end("end of input"));
  input.on("close", () => end("input closed"));
  // Without listeners a broken pipe would end the process in the middle of a step.
  input.on("error", (error) => end(error.message));
  output.on("error", (error) => end(error.message));
  output.on("close", () => end("output closed"));
}

function takeMessage(received: Buffer): { readonly text: string; readonly rest: Buffer } | "incomplete" | "garbage" {
  const head = received.indexOf("\r\n\r\n");
  if (head < 0) return received.length > 4_096 ? "garbage" : "incomplete";
  const length = Number(/(?:^|\r\n)Content-Length: *(\d+)/i.exec(received.toString("latin1", 0, head))?.[1] ?? "none");
  if (!(length <= largestMessageBytes)) return "garbage";
  const start = head + 4;
  if (received.length < start + length) return "incomplete";
  return { text: received.toString("utf8", start, start + length), rest: received.subarray(start + length) };
}

function parseMessage(
  text: string,
): { readonly id: unknown; readonly method: unknown; readonly params: unknown } | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  return { id: memberOf(value, "id"), method: memberOf(value, "method"), params: memberOf(value, "params") };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
