/**
 * The server's side of the contract, over anything that carries messages: a MessagePort in Electron, a
 * WebSocket in the browser, two queues in a test. Nothing is thrown across, and every call that was accepted
 * has exactly one end.
 */
import type { ClientMessage, ServerMessage } from "../../../shared/api/contract.ts";
import { type ApiName, api } from "../../../shared/api/contract.ts";
import { AppError, type AppErrorData, failed } from "../../../shared/errors.ts";
import type { Handlers } from "./handlers.ts";

export interface ServerPort {
  post(message: ServerMessage): void;
  onMessage(listener: (message: unknown) => void): void;
  onClose(listener: () => void): void;
}

/** One page needs a handful; past this it is a fault that must not take the services with it. */
export const callsInFlightLimit = 512;

/** What every kind of handler comes down to. */
type Run = (input: unknown, emit: (event: unknown) => void, signal: AbortSignal) => unknown;

interface Call {
  readonly controller: AbortController;
  readonly kind: "request" | "task" | "subscription";
  seq: number;
}

export function serveApi(handlers: Handlers, port: ServerPort): void {
  const calls = new Map<number, Call>();
  let open = true;

  const post = (message: ServerMessage): void => {
    if (open) port.post(message);
  };
  const end = (id: number, call: Call, outcome: { ok: true; value: unknown } | { ok: false; error: AppErrorData }) => {
    if (calls.get(id) !== call) return;
    calls.delete(id);
    post({ kind: "end", id, ...outcome });
  };

  const begin = (id: number, name: string, input: unknown): void => {
    const earlier = calls.get(id);
    if (earlier !== undefined) {
      // Two calls under one id cannot be told apart by the caller: both end with this one message.
      earlier.controller.abort();
      end(id, earlier, failed(badRequest(`The id ${id} is in use by a call that has not ended.`)));
      return;
    }
    if (calls.size >= callsInFlightLimit) {
      post({ kind: "end", id, ...failed(badRequest(`More than ${callsInFlightLimit} calls at once.`)) });
      return;
    }
    if (!isApiName(name)) {
      post({ kind: "end", id, ...failed(badRequest(`There is no '${name.slice(0, 80)}' in the contract.`)) });
      return;
    }
    const entry = api[name];
    const parsed = entry.input.safeParse(input);
    if (!parsed.success) {
      const issues = parsed.error.issues.map((issue) => `${pathOf(issue.path)}: ${issue.message}`);
      post({
        kind: "end",
        id,
        ...failed(
          badRequest(`The input of '${name}' is not what it should be: ${issues[0]}.`, issues.slice(0, 20).join("\n")),
        ),
      });
      return;
    }
    const call: Call = { controller: new AbortController(), kind: entry.kind, seq: 0 };
    calls.set(id, call);
    void perform(id, call, runOf(handlers, name), parsed.data);
  };

  const perform = async (id: number, call: Call, run: Run, input: unknown): Promise<void> => {
    const { signal } = call.controller;
    const emit = (event: unknown): void => {
      if (calls.get(id) === call) post({ kind: "event", id, seq: call.seq++, event });
    };
    try {
      const value = await run(input, emit, signal);
      if (call.kind === "subscription") {
        if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        end(id, call, { ok: true, value: null });
      } else {
        end(id, call, { ok: true, value });
      }
    } catch (error) {
      const cancelled = signal.aborted && !(error instanceof AppError);
      end(id, call, failed(cancelled ? cancelledError() : error));
    }
  };

  port.onMessage((message) => {
    if (!open) return;
    const parsed = readClientMessage(message);
    if (parsed === null) return;
    if (parsed.kind === "call") begin(parsed.id, parsed.name, parsed.input);
    else calls.get(parsed.id)?.controller.abort();
  });
  port.onClose(() => {
    open = false;
    const left = [...calls.values()];
    calls.clear();
    // A change goes on: a page that is loaded anew, or lost, is nobody's wish to undo half of it.
    for (const call of left) if (call.kind !== "task") call.controller.abort();
  });
}

function isApiName(name: string): name is ApiName {
  return Object.hasOwn(api, name);
}

/** The three kinds differ in their parameters; here they meet in the one shape that `perform` drives. */
function runOf(handlers: Handlers, name: ApiName): Run {
  // The input was parsed with the schema of the same name, which TypeScript cannot follow through a union.
  const handler = handlers[name] as (...parameters: readonly unknown[]) => unknown;
  if (api[name].kind === "request") return (input, _emit, signal) => handler(input, signal);
  return (input, emit, signal) => handler(input, emit, signal);
}

/** A message without a usable id has nobody to answer to, and is dropped. */
function readClientMessage(message: unknown): ClientMessage | null {
  if (typeof message !== "object" || message === null) return null;
  const { kind, id } = message as { kind?: unknown; id?: unknown };
  if (typeof id !== "number" || !Number.isSafeInteger(id)) return null;
  if (kind === "cancel") return { kind, id };
  if (kind !== "call") return null;
  const { name, input } = message as { name?: unknown; input?: unknown };
  return { kind, id, name: typeof name === "string" ? name : "", input };
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "input" : path.map(String).join(".");
}

function badRequest(message: string, details?: string): AppError {
  return new AppError({
    code: "bad-request",
    message,
    remedy: "Correct the input; nothing was done.",
    ...(details === undefined ? {} : { evidence: { details } }),
  });
}

function cancelledError(): AppError {
  return new AppError({ code: "cancelled", message: "Cancelled before it ended.", remedy: "" });
}
