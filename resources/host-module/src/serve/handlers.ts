import { AppError } from "../../../../shared/errors.ts";
import type {
  HostAnswer,
  HostInput,
  HostMethod,
  HostProgress,
  HostTask,
} from "../../../../shared/protocol/contract.ts";
import { protocolVersion } from "../../../../shared/protocol/version.ts";
import type { Access } from "../access/access.ts";
import type { System } from "../system.ts";
import { version } from "../version.ts";
import { type ControlMethod, controlHandlers } from "./control-handlers.ts";

/** What a handler knows of its caller's wishes while it runs. Progress may be sent to nobody. */
export interface TaskContext<Progress> {
  /** Raised when the caller cancels or goes away; `isCancellation` tells which. */
  readonly signal: AbortSignal;
  readonly progress: (value: Progress) => void;
}

export interface CallContext<Progress> extends TaskContext<Progress> {
  /** The caller's roles on this host, looked up when first asked for. */
  readonly access: () => Promise<Access>;
}

/** Commands whose answer or effect depends on who asks beyond what the contract's declaration says. */
export type ControlHandler<M extends HostMethod> = (
  system: System,
  input: HostInput<M>,
  context: CallContext<M extends HostTask ? HostProgress<M> : never>,
) => Promise<HostAnswer<M>>;

export type Handler<M extends HostMethod> = (
  system: System,
  input: HostInput<M>,
  context: TaskContext<M extends HostTask ? HostProgress<M> : never>,
) => Promise<HostAnswer<M>>;

/**
 * Every command of the module, for `serve` and for the command line alike. Each imports what it needs when it is
 * first called: `hello` answers before any parser or planner has been loaded.
 */
export const handlers: { readonly [M in Exclude<HostMethod, ControlMethod>]: Handler<M> } & typeof controlHandlers = {
  hello: async (system, input) => {
    if (input.protocolVersion !== protocolVersion) {
      throw new AppError({
        code: "version-mismatch",
        message: `The console speaks protocol ${input.protocolVersion}, tessera-host ${version} speaks ${protocolVersion}.`,
        remedy: "Let the console deploy its own version of tessera-host to this host.",
      });
    }
    return {
      protocolVersion,
      version,
      hostName: system.hostName,
      root: system.root,
      caller: system.caller,
    };
  },
  // By the reader that a watch of the same host uses: what cannot have changed since is not asked for again.
  inventory: async (system, _input, { signal }) =>
    (await sight()).shownInventory(system, await (await watching()).readNow(system, signal)),
  watch: async (system, input, { signal, progress }) => {
    await (await watching()).watchHost(system, input, signal, progress);
    return null;
  },
  "watch.complete": async (system) => {
    (await watching()).watcherOf(system).complete();
    return null;
  },
  "mig.plan": async (system, input) => (await operations()).plan(system, input),
  "mig.apply": async (system, input, context) =>
    changing(system, async () => (await operations()).apply(system, input, context)),
  "mig.undo": async (system, input, context) =>
    changing(system, async () => (await operations()).undo(system, input, context)),
  "mig.recover": async (system, input, context) =>
    changing(system, async () => (await operations()).recover(system, input, context)),
  "mig.status": async (system) => (await operations()).status(system),
  "mig.save": async (system) => (await operations()).save(system),
  "mig.restore": async (system, input, context) =>
    changing(system, async () => (await operations()).restore(system, input, context)),
  ...controlHandlers,
  doctor: async (system) => (await import("../install/doctor.ts")).doctor(system),
};

const operations = () => import("../mig/operations.ts");
const sight = () => import("../access/shown-inventory.ts");
const watching = () => import("./watch.ts");

/** Our own reading could be the client that keeps MIG mode "in use": whoever watches rests until the change is over. */
async function changing<T>(system: System, work: () => Promise<T>): Promise<T> {
  return (await watching()).whileWatchRests(system, work);
}
