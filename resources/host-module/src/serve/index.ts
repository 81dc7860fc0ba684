import type { Readable, Writable } from "node:stream";
import { AppError, toErrorData } from "../../../../shared/errors.ts";
import type { HostMethod } from "../../../../shared/protocol/contract.ts";
import { type Call, failureCode } from "../../../../shared/protocol/wire.ts";
import type { System } from "../system.ts";
import { callMethod, isHostMethod } from "./call.ts";
import { cancelledByCaller, connectionLost } from "./interruption.ts";
import { type Answer, answerRequests, type Request } from "./json-rpc.ts";

/**
 * Answers the host contract over one pair of streams, until the input ends or `hangUp` is raised, and then until
 * every task has come to a rest: a change that is running ends its step before this resolves.
 */
export async function serveHost(
  system: System,
  input: Readable,
  output: Writable,
  hangUp?: AbortSignal,
): Promise<void> {
  const running = new Set<Promise<Answer>>();
  const gone = new AbortController();
  await new Promise<void>((resolve) => {
    const end = (how: string) => {
      gone.abort(connectionLost(how));
      resolve();
    };
    const onRequest = (request: Request) => {
      const answering = answer(system, request, gone.signal);
      running.add(answering);
      return answering.finally(() => running.delete(answering));
    };
    answerRequests(input, output, onRequest, end);
    hangUp?.addEventListener("abort", () => end("told to end"), { once: true });
    if (hangUp?.aborted) end("told to end");
  });
  while (running.size > 0) await Promise.allSettled(running);
}

async function answer(system: System, request: Request, gone: AbortSignal): Promise<Answer> {
  try {
    const { method, params } = request;
    if (!isHostMethod(method)) {
      throw new AppError({
        code: "bad-request",
        message: `tessera-host knows no request called ${JSON.stringify(method)}.`,
        remedy: "Use a console of the same version.",
      });
    }
    const { input, progressToken } = await callOf(method, params);
    const cancel = new AbortController();
    const abort = () => cancel.abort(request.cancelled.aborted ? cancelledByCaller() : gone.reason);
    for (const signal of [request.cancelled, gone]) {
      if (signal.aborted) abort();
      else signal.addEventListener("abort", abort, { once: true });
    }
    const progress = (value: unknown) => {
      if (progressToken !== undefined) request.progress(progressToken, value);
    };
    try {
      return { ok: true, result: await callMethod(system, method, input, { signal: cancel.signal, progress }) };
    } finally {
      gone.removeEventListener("abort", abort);
    }
  } catch (error) {
    const data = toErrorData(error);
    return { ok: false, code: failureCode, message: data.message, data };
  }
}

/** `hello` comes first on every connection and is checked by hand: the schemas are loaded with the first real request. */
async function callOf(method: HostMethod, params: unknown): Promise<Call<unknown>> {
  if (method === "hello") {
    const hello = helloCall(params);
    if (hello !== null) return { input: hello };
  }
  const { parseCall, parseInput } = await import("./validation.ts");
  const call = parseCall(params);
  return { ...call, input: parseInput(method, call.input) };
}

function helloCall(params: unknown): { readonly protocolVersion: number; readonly client: string } | null {
  if (typeof params !== "object" || params === null || !("input" in params)) return null;
  const { input } = params;
  if (typeof input !== "object" || input === null || !("protocolVersion" in input) || !("client" in input)) return null;
  const { protocolVersion, client } = input;
  const fits = Number.isSafeInteger(protocolVersion) && typeof client === "string" && client.length <= 200;
  return fits && typeof protocolVersion === "number" ? { protocolVersion, client } : null;
}
