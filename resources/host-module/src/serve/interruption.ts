import { AppError } from "../../../../shared/errors.ts";

/**
 * Why a task's AbortSignal was raised decides what a change does: `cancelled` rolls back, while after a lost
 * connection nobody is there to see the outcome, so the running step ends, the journal says where things stand,
 * and the operator chooses at the next call.
 */
export function cancelledByCaller(): AppError {
  return new AppError({ code: "cancelled", message: "The operation was cancelled.", remedy: "" });
}

export function connectionLost(how: string): AppError {
  return new AppError({
    code: "ssh-closed",
    message: `The connection to the caller went away (${how}).`,
    remedy: "Connect again, look at the status, then finish the operation or roll it back.",
  });
}

/** Whether a raised signal means "undo what you did"; any other reason means "stop where you are". */
export function isCancellation(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason instanceof AppError && signal.reason.code === "cancelled";
}
