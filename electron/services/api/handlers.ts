/** What the services must answer, derived from the contract: a name without a handler does not compile. */
import type {
  ApiAnswer,
  ApiEvent,
  ApiInput,
  ApiName,
  ApiProgress,
  RequestName,
  SubscriptionName,
  TaskName,
} from "../../../shared/api/contract.ts";

type Awaitable<T> = T | Promise<T>;

/** Throws AppError for what the operator can understand; anything else is shown as a fault of ours. */
export type RequestHandler<N extends RequestName> = (
  input: ApiInput<N>,
  signal: AbortSignal,
) => Awaitable<ApiAnswer<N>>;

/** The signal says that the caller asked to stop; the task still ends by itself, with what it reached. */
export type TaskHandler<N extends TaskName> = (
  input: ApiInput<N>,
  progress: (progress: ApiProgress<N>) => void,
  signal: AbortSignal,
) => Promise<ApiAnswer<N>>;

/** Emits until the signal aborts, and releases then what it holds. Throws where there is nothing to subscribe to. */
export type SubscriptionHandler<N extends SubscriptionName> = (
  input: ApiInput<N>,
  emit: (event: ApiEvent<N>) => void,
  signal: AbortSignal,
) => void;

export type Handlers = {
  readonly [N in ApiName]: N extends RequestName
    ? RequestHandler<N>
    : N extends TaskName
      ? TaskHandler<N>
      : N extends SubscriptionName
        ? SubscriptionHandler<N>
        : never;
};
