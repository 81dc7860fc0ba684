/** The handlers of the control commands: each goes to the control host under its own name. */
import type { Handlers } from "../api/handlers.ts";
import type { Control } from "./control.ts";
import { type ControlRequest, type ControlTask, controlRequests, controlTasks } from "./methods.ts";

type ControlHandlers = Pick<Handlers, ControlRequest | ControlTask | "control.state">;
/** Does not compile where a command is missing in the lists. */
type Listed = (typeof controlRequests)[number] | (typeof controlTasks)[number];
type Missing = Exclude<ControlRequest | ControlTask, Listed>;
const nothingMissing: [Missing] extends [never] ? true : Missing = true;

export function controlHandlers(control: Control): ControlHandlers {
  const requests = controlRequests.map((method) => [
    method,
    (call: never, signal: AbortSignal) => control.request(method, call, signal),
  ]);
  const tasks = controlTasks.map((method) => [
    method,
    (call: never, progress: (value: unknown) => void, signal: AbortSignal) =>
      control.task(method, call, progress, signal),
  ]);
  const state: Handlers["control.state"] = ({ clusterId }, emit, signal) => control.subscribe(clusterId, emit, signal);
  return nothingMissing && { ...Object.fromEntries([...requests, ...tasks]), "control.state": state };
}
