import type { Readable, Writable } from "node:stream";
import {
  type CancellationToken,
  createMessageConnection,
  NullLogger,
  ProgressType,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import { AppError, toErrorData } from "../../../../shared/errors.ts";
import { type HostMethod, hostContract } from "../../../../shared/protocol/contract.ts";
import { failureCode } from "../../../../shared/protocol/wire.ts";
import type { System } from "../system.ts";
import { handlers } from "./handlers.ts";
import { cancelledByCaller, connectionLost } from "./interruption.ts";
import { parseCall, parseInput } from "./validation.ts";

const progressType = new ProgressType<unknown>();

/**
 * Answers the host contract over one pair of streams, until the input ends or `hangUp` is raised, and then until
 * every task has come to a rest: a change that is running ends its step before this resolves.
 */
export async function serveHost(
  system: System,
  input: Readable,
  output: Writable,
  hangUp: AbortSignal = new AbortController().signal,
): Promise<void> {
  const connection = createMessageConnection(
    new StreamMessageReader(input),
    new StreamMessageWriter(output),
    NullLogger,
  );
  const running = new Set<Promise<unknown>>();
  const gone = new AbortController();

  const answer = async (method: HostMethod, params: unknown, token: CancellationToken): Promise<unknown> => {
    const cancel = new AbortController();
    const listener = token.onCancellationRequested(() => cancel.abort(cancelledByCaller()));
    try {
      const call = parseCall(params);
      const { progressToken } = call;
      return await invoke(method, system, parseInput(method, call.input), {
        signal: AbortSignal.any([cancel.signal, gone.signal]),
        progress: (value) => {
          if (progressToken === undefined || gone.signal.aborted) return;
          connection.sendProgress(progressType, progressToken, value).catch(() => undefined);
        },
      });
    } catch (error) {
      const data = toErrorData(error);
      return new ResponseError(failureCode, data.message, data);
    } finally {
      listener.dispose();
    }
  };

  connection.onRequest((method, params, token) => {
    if (!isHostMethod(method)) {
      const data = new AppError({
        code: "bad-request",
        message: `tessera-host knows no request called ${JSON.stringify(method)}.`,
        remedy: "Use a console of the same version.",
      }).toData();
      return new ResponseError(failureCode, data.message, data);
    }
    const task = answer(method, params, token);
    running.add(task);
    return task.finally(() => running.delete(task));
  });

  await new Promise<void>((resolve) => {
    const end = (how: string) => {
      gone.abort(connectionLost(how));
      resolve();
    };
    connection.onClose(() => end("end of input"));
    input.on("end", () => end("end of input"));
    input.on("close", () => end("input closed"));
    // Without listeners a broken pipe would end the process in the middle of a step.
    input.on("error", (error) => end(error.message));
    output.on("error", (error) => end(error.message));
    connection.onError(([error]) => end(error.message));
    hangUp.addEventListener("abort", () => end("told to end"), { once: true });
    if (hangUp.aborted) end("told to end");
    connection.listen();
  });
  while (running.size > 0) await Promise.allSettled([...running]);
  connection.dispose();
}

function isHostMethod(method: string): method is HostMethod {
  return Object.hasOwn(hostContract, method);
}

/** The one place where the method's own types meet: `parseInput` has checked the input against its schema. */
function invoke(
  method: HostMethod,
  system: System,
  input: unknown,
  context: { readonly signal: AbortSignal; readonly progress: (value: unknown) => void },
): Promise<unknown> {
  const handler = handlers[method] as (system: System, input: unknown, context: unknown) => Promise<unknown>;
  return handler(system, input, context);
}
