/** A client of the browser console for tests and benchmarks: opens the printed link as a browser would. */
import { WebSocket } from "ws";
import type {
  ApiAnswer,
  ApiEvent,
  ApiInput,
  ApiProgress,
  RequestName,
  ServerMessage,
  SubscriptionName,
  TaskName,
} from "../shared/api/contract.ts";
import { AppError } from "../shared/errors.ts";

export interface TestClient {
  request<N extends RequestName>(name: N, input: ApiInput<N>): Promise<ApiAnswer<N>>;
  task<N extends TaskName>(
    name: N,
    input: ApiInput<N>,
    onProgress?: (progress: ApiProgress<N>) => void,
    signal?: AbortSignal,
  ): Promise<ApiAnswer<N>>;
  /** Answers the function that closes it. */
  subscribe<N extends SubscriptionName>(name: N, input: ApiInput<N>, onEvent: (event: ApiEvent<N>) => void): () => void;
  close(): void;
}

/** The cookie that the link's token is exchanged for. */
export async function cookieOf(url: string): Promise<string> {
  const answer = await fetch(url, { redirect: "manual" });
  const cookie = answer.headers.get("set-cookie")?.split(";")[0];
  if (answer.status !== 303 || cookie === undefined) throw new Error(`${url} answered ${answer.status}`);
  return cookie;
}

export async function connectClient(url: string): Promise<TestClient> {
  const cookie = await cookieOf(url);
  const { host, origin } = new URL(url);
  const socket = new WebSocket(`ws://${host}/api`, { headers: { cookie, origin } });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return clientOver(socket);
}

function clientOver(socket: WebSocket): TestClient {
  let nextId = 0;
  const open = new Map<number, { event: (event: unknown) => void; end: (message: ServerMessage) => void }>();
  socket.on("message", (data) => {
    const message: ServerMessage = JSON.parse(data.toString());
    const call = open.get(message.id);
    if (message.kind === "event") return call?.event(message.event);
    open.delete(message.id);
    call?.end(message);
  });
  // Both ends are built from the same contract, so answers are taken as it types them.
  const call = <T>(name: string, input: unknown, onEvent: (event: never) => void, signal?: AbortSignal) => {
    const id = nextId++;
    const ended = new Promise<T>((resolve, reject) => {
      open.set(id, {
        event: (event) => onEvent(event as never),
        end: (message) => {
          if (message.kind !== "end") return;
          if (message.ok) resolve(message.value as T);
          else reject(new AppError(message.error));
        },
      });
    });
    const cancel = () => socket.send(JSON.stringify({ kind: "cancel", id }));
    signal?.addEventListener("abort", cancel, { once: true });
    socket.send(JSON.stringify({ kind: "call", id, name, input }));
    return { ended, cancel };
  };
  return {
    request: (name, input) => call<ApiAnswer<typeof name>>(name, input, () => undefined).ended,
    task: (name, input, onProgress = () => undefined, signal) =>
      call<ApiAnswer<typeof name>>(name, input, onProgress, signal).ended,
    subscribe: (name, input, onEvent) => {
      const { ended, cancel } = call<null>(name, input, onEvent);
      ended.catch(() => undefined);
      return cancel;
    },
    close: () => socket.close(),
  };
}
