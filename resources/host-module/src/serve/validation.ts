import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";
import { AppError } from "../../../../shared/errors.ts";
import { type HostInput, type HostMethod, hostContract } from "../../../../shared/protocol/contract.ts";
import type { Call } from "../../../../shared/protocol/wire.ts";

// Without it every fault is an "Invalid input".
z.config(en());

const callSchema = z.object({ input: z.unknown(), progressToken: z.optional(z.int()) });

/** The envelope of a request. Throws AppError `bad-request`. */
export function parseCall(params: unknown): Call<unknown> {
  const parsed = callSchema.safeParse(params);
  if (!parsed.success) throw badRequest("The request", parsed.error);
  const { input, progressToken } = parsed.data;
  return { input, ...(progressToken === undefined ? {} : { progressToken }) };
}

/** The input of a command, checked against the contract. Throws AppError `bad-request` that names the field. */
export function parseInput<M extends HostMethod>(method: M, input: unknown): HostInput<M> {
  const schema: z.ZodMiniType<unknown> = hostContract[method].input;
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw badRequest(`The input of ${method}`, parsed.error);
  return parsed.data as HostInput<M>;
}

function badRequest(what: string, error: z.core.$ZodError): AppError {
  const issues = error.issues.map((issue) => `${issue.path.join(".") || "(whole)"}: ${issue.message || issue.code}`);
  return new AppError({
    code: "bad-request",
    message: `${what} is not what the contract allows: ${issues.slice(0, 3).join("; ")}.`,
    remedy: "Use a console of the same version, or correct the input.",
    evidence: { details: issues.slice(0, 20).join("\n") },
  });
}
