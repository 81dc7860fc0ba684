/** The typed client of the console's services. Everything it offers follows from the contract map. */
import type {
  ApiAnswer,
  ApiEvent,
  ApiInput,
  ApiProgress,
  RequestName,
  ServerMessage,
  SubscriptionName,
  TaskName,
} from "../../shared/api/contract.ts";
import { AppError, type AppErrorData } from "../../shared/errors.ts";
import type { LinkState, Transport } from "./transport.ts";

export interface Client {
  /** Answers, or rejects with the AppError of the services. Aborting cancels on the other side and rejects. */
  request<N extends RequestName>(name: N, input: ApiInput<N>, signal?: AbortSignal): Promise<ApiAnswer<N>>;
  /** As `request`; aborting asks for a stop between steps, and the task's own end is awaited. */
  task<N extends TaskName>(
    name: N,
    input: ApiInput<N>,
    onProgress: (progress: ApiProgress<N>) => void,
    signal?: AbortSignal,
  ): Promise<ApiAnswer<N>>;
  /** Survives a lost link: it is asked for again when the link is back. Answers the function that closes it. */
  subscribe<N extends SubscriptionName>(
    name: N,
    input: ApiInput<N>,
    onEvent: (event: ApiEvent<N>) => void,
    onError?: (error: AppErrorData) => void,
  ): () => void;
  onLink(listener: (state: LinkState) => void): void;
}

interface Open {
  readonly event: (event: unknown) => void;
  readonly end: (message: ServerMessage & { kind: "end" }) => void;
  readonly lost: () => void;
}

interface Kept {
  readonly start: () => void;
}

const linkLost: AppErrorData = {
  code: "internal",
  message: "The connection to the console's own services was lost before the answer came.",
  remedy: "It is opened again by itself; look at the state of the hosts, then try again.",
};

const cancelled: AppErrorData = { code: "cancelled", message: "Cancelled.", remedy: "" };

export function createClient(transport: Transport): Client {
  let nextId = 1;
  let link: LinkState = "connecting";
  const open = new Map<number, Open>();
  const kept = new Set<Kept>();
  /** Calls made before the link is open wait for it. */
  const waiting: (() => void)[] = [];

  transport.onMessage((message) => {
    const entry = open.get(message.id);
    if (entry === undefined) return;
    if (message.kind === "event") entry.event(message.event);
    else {
      open.delete(message.id);
      entry.end(message);
    }
  });
  transport.onState((state) => {
    link = state;
    if (state === "lost" || state === "refused") {
      const entries = [...open.values()];
      open.clear();
      for (const entry of entries) entry.lost();
    }
    if (state === "open") {
      for (const call of waiting.splice(0)) call();
      for (const subscription of kept) subscription.start();
    }
  });

  function call(name: string, input: unknown, entry: Open): number {
    const id = nextId++;
    open.set(id, entry);
    const send = () => transport.send({ kind: "call", id, name, input });
    if (link === "open") send();
    else
      waiting.push(() => {
        if (open.has(id)) send();
      });
    return id;
  }

  // The answer's type is the contract's: both ends are built from the same map, so it is not checked again here.
  function ask<Answer>(
    name: string,
    input: unknown,
    onProgress: (progress: never) => void,
    signal: AbortSignal | undefined,
    rejectsAtOnce: boolean,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(new AppError(cancelled));
        return;
      }
      const abort = () => {
        transport.send({ kind: "cancel", id });
        if (!rejectsAtOnce) return;
        open.delete(id);
        reject(new AppError(cancelled));
      };
      const done = () => signal?.removeEventListener("abort", abort);
      const id = call(name, input, {
        event: (progress) => onProgress(progress as never),
        end: (message) => {
          done();
          if (message.ok) resolve(message.value as Answer);
          else reject(new AppError(message.error));
        },
        lost: () => {
          done();
          reject(new AppError(linkLost));
        },
      });
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  return {
    request: (name, input, signal) => ask(name, input, () => {}, signal, true),
    task: (name, input, onProgress, signal) => ask(name, input, onProgress, signal, false),
    subscribe: (name, input, onEvent, onError) => {
      let id: number | null = null;
      const subscription: Kept = {
        start: () => {
          id = call(name, input, {
            event: (event) => onEvent(event as ApiEvent<typeof name>),
            end: (message) => {
              id = null;
              if (!message.ok) onError?.(message.error);
            },
            lost: () => {
              id = null;
            },
          });
        },
      };
      kept.add(subscription);
      if (link === "open") subscription.start();
      return () => {
        kept.delete(subscription);
        if (id === null) return;
        open.delete(id);
        transport.send({ kind: "cancel", id });
      };
    },
    onLink: (listener) => transport.onState(listener),
  };
}
