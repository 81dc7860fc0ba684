import { AppError } from "../../../../shared/errors.ts";
import {
  type HostAnswer,
  type HostInput,
  type HostMethod,
  type HostProgress,
  type HostTask,
  protocolVersion,
} from "../../../../shared/protocol/contract.ts";
import type { System } from "../system.ts";
import { version } from "../version.ts";

/** What a handler knows of its caller's wishes while it runs. Progress may be sent to nobody. */
export interface TaskContext<Progress> {
  /** Raised when the caller cancels or goes away; `isCancellation` tells which. */
  readonly signal: AbortSignal;
  readonly progress: (value: Progress) => void;
}

export type Handler<M extends HostMethod> = (
  system: System,
  input: HostInput<M>,
  context: TaskContext<M extends HostTask ? HostProgress<M> : never>,
) => Promise<HostAnswer<M>>;

/**
 * Every command of the module, for `serve` and for the command line alike. Each imports what it needs when it is
 * first called: `hello` answers before any parser or planner has been loaded.
 */
export const handlers: { readonly [M in HostMethod]: Handler<M> } = {
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
  inventory: async () => notYet("inventory"),
  watch: async () => notYet("watch"),
  "mig.plan": async (system, input) => (await operations()).plan(system, input),
  "mig.apply": async (system, input, context) => (await operations()).apply(system, input, context),
  "mig.undo": async (system, input, context) => (await operations()).undo(system, input, context),
  "mig.recover": async (system, input, context) => (await operations()).recover(system, input, context),
  "mig.status": async (system) => (await operations()).status(system),
  "mig.save": async (system) => (await operations()).save(system),
  "mig.restore": async (system, input, context) => (await operations()).restore(system, input, context),
  doctor: async () => notYet("doctor"),
};

const operations = () => import("../mig/operations.ts");

function notYet(method: string): never {
  throw new AppError({ code: "internal", message: `${method} is not built yet.`, remedy: "" });
}
