import type {
  HostAnswer,
  HostInput,
  HostMethod,
  HostProgress,
  HostTask,
} from "../../../../shared/protocol/contract.ts";
import type { System } from "../system.ts";
import { handlers, type TaskContext } from "./handlers.ts";

/** Only our own names: `constructor` is no request. */
export function isHostMethod(method: string): method is HostMethod {
  return Object.hasOwn(handlers, method);
}

/**
 * Runs a command for the caller of this process, after its declaration in the contract was held against the caller's
 * roles. The one place where the method's own types meet: the input was checked against the method's schema. Throws
 * AppError, `forbidden` among others.
 */
export async function callMethod(
  system: System,
  method: HostMethod,
  input: unknown,
  context: { readonly signal: AbortSignal; readonly progress: (value: unknown) => void },
): Promise<unknown> {
  const handler = handlers[method] as (system: System, input: unknown, context: unknown) => Promise<unknown>;
  // The first answer of a connection: neither roles nor schemas are loaded for it.
  if (method === "hello") return handler(system, input, context);
  const { accessOnce, authorise, recorded } = await import("./authorise.ts");
  const access = accessOnce(system);
  await authorise(system, method, input, access);
  return recorded(system, method, access, () => handler(system, input, { ...context, access }));
}

/** `callMethod` for a method that is known where it is called. */
export async function call<M extends HostMethod>(
  system: System,
  method: M,
  input: HostInput<M>,
  context: TaskContext<M extends HostTask ? HostProgress<M> : never>,
): Promise<HostAnswer<M>> {
  const progress = context.progress as (value: unknown) => void;
  return (await callMethod(system, method, input, { signal: context.signal, progress })) as HostAnswer<M>;
}
