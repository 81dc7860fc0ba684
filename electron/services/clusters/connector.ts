/** What a cluster asks of whoever brings it to a host: SSH in the console, a fake in its tests. */
import type { ConnectPhase } from "../../../shared/api/snapshot.ts";
import type { AppErrorData } from "../../../shared/errors.ts";
import type {
  Hello,
  HostAnswer,
  HostInput,
  HostMethod,
  HostProgress,
  HostTask,
} from "../../../shared/protocol/contract.ts";

export interface ConnectTarget {
  readonly clusterId: string;
  readonly hostId: string;
  /** As the operator wrote it: an alias of ssh config or `[user@]host[:port]`. */
  readonly destination: string;
  /** Seconds; 0 sends none; absent is the connection's own default. */
  readonly keepaliveSeconds: number | undefined;
}

export interface HostConnector {
  /** Connects, verifies, installs and starts tessera-host. Throws AppError; leaves nothing behind when it does. */
  connect(target: ConnectTarget, phase: (phase: ConnectPhase) => void, signal: AbortSignal): Promise<HostLink>;
}

/** A running tessera-host. Every method rejects with AppError; all that is pending rejects when the link goes. */
export interface HostLink {
  readonly hello: Hello;
  request<M extends Exclude<HostMethod, HostTask>>(
    method: M,
    input: HostInput<M>,
    signal?: AbortSignal,
  ): Promise<HostAnswer<M>>;
  /** The signal asks the host to stop; the task still ends by itself. */
  task<M extends HostTask>(
    method: M,
    input: HostInput<M>,
    progress: (progress: HostProgress<M>) => void,
    signal?: AbortSignal,
  ): Promise<HostAnswer<M>>;
  /** Resolves with why, once the link has gone. Never rejects. */
  readonly closed: Promise<AppErrorData>;
  close(): void;
}
