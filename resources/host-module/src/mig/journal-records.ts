import * as z from "zod/mini";
import type { GpuPlan, PlanStep } from "../../../../shared/mig/types.ts";
import {
  layoutComputeInstanceSchema,
  layoutInstanceSchema,
  layoutSchema,
} from "../../../../shared/protocol/contract.ts";
import type { Caller } from "../system.ts";
import { withoutUndefined } from "./plain.ts";

/** The lines of a journal, as they are read back. What another version or a damaged disk left is refused, not guessed. */

const count = z.int().check(z.nonnegative());
const placement = z.object({ start: count, size: count });

const planStepSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("set-mig-mode"), enabled: z.boolean(), needsReset: z.boolean() }),
  z.object({
    kind: z.literal("destroy-instance"),
    gpuInstanceId: count,
    profileId: count,
    profile: z.string(),
    placement,
    computeInstances: z.array(layoutComputeInstanceSchema),
  }),
  z.object({
    kind: z.literal("create-instance"),
    profileId: count,
    profile: z.string(),
    placement,
    defaultComputeInstance: z.boolean(),
    computeInstances: z.array(layoutComputeInstanceSchema),
  }),
  z.object({
    kind: z.literal("destroy-compute-instance"),
    gpuInstanceId: count,
    profile: z.string(),
    computeInstance: layoutComputeInstanceSchema,
  }),
  z.object({
    kind: z.literal("create-compute-instance"),
    gpuInstanceId: count,
    profile: z.string(),
    computeInstance: layoutComputeInstanceSchema,
  }),
]);

const gpuPlanSchema = z.object({
  gpuUuid: z.string(),
  gpuIndex: count,
  gpuName: z.string(),
  basedOn: z.string(),
  before: layoutSchema,
  after: layoutSchema,
  steps: z.array(planStepSchema),
  kept: z.array(layoutInstanceSchema),
});

const caller = z.object({ uid: z.int(), user: z.nullable(z.string()) });
const at = z.string();
const direction = z.enum(["forward", "back"]);

const recordSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("begin"),
    at,
    id: z.string(),
    operation: z.enum(["apply", "undo", "restore"]),
    caller,
    reason: z.nullable(z.string()),
    undoes: z.nullable(z.string()),
    host: z.string(),
    bootId: z.nullable(z.string()),
    version: z.string(),
    gpus: z.array(gpuPlanSchema),
  }),
  z.object({
    kind: z.literal("step-begun"),
    at,
    direction,
    gpuUuid: z.string(),
    step: planStepSchema,
    commands: z.array(z.array(z.string())),
  }),
  z.object({
    kind: z.literal("step-done"),
    at,
    direction,
    gpuUuid: z.string(),
    durationMs: z.number(),
    layout: z.string(),
  }),
  z.object({
    kind: z.literal("step-failed"),
    at,
    direction,
    gpuUuid: z.string(),
    durationMs: z.number(),
    code: z.string(),
    message: z.string(),
    details: z.string(),
  }),
  z.object({ kind: z.literal("rolling-back"), at, why: z.string() }),
  z.object({ kind: z.literal("recovery"), at, way: z.enum(["finish", "roll-back"]), caller }),
  z.object({ kind: z.literal("stopped"), at, why: z.string() }),
  z.object({ kind: z.literal("end"), at, outcome: z.enum(["applied", "rolled-back", "cancelled"]) }),
]);

type Direction = "forward" | "back";

/** The operation and everything needed to finish it or to go back. */
export interface BeginRecord {
  readonly kind: "begin";
  /** ISO 8601, as in every record. */
  readonly at: string;
  readonly id: string;
  readonly operation: "apply" | "undo" | "restore";
  readonly caller: Caller;
  readonly reason: string | null;
  /** The operation that an undo undoes. */
  readonly undoes: string | null;
  readonly host: string;
  readonly bootId: string | null;
  readonly version: string;
  readonly gpus: readonly GpuPlan[];
}

export type JournalRecord =
  | BeginRecord
  /** Written before the first command of a step runs. */
  | {
      readonly kind: "step-begun";
      readonly at: string;
      readonly direction: Direction;
      readonly gpuUuid: string;
      readonly step: PlanStep;
      readonly commands: readonly (readonly string[])[];
    }
  | {
      readonly kind: "step-done";
      readonly at: string;
      readonly direction: Direction;
      readonly gpuUuid: string;
      readonly durationMs: number;
      /** Layout version read back after the step. */
      readonly layout: string;
    }
  | {
      readonly kind: "step-failed";
      readonly at: string;
      readonly direction: Direction;
      readonly gpuUuid: string;
      readonly durationMs: number;
      readonly code: string;
      readonly message: string;
      readonly details: string;
    }
  /** From here on steps lead back to the layout before. */
  | { readonly kind: "rolling-back"; readonly at: string; readonly why: string }
  /** The operator's choice for an operation found open. */
  | { readonly kind: "recovery"; readonly at: string; readonly way: "finish" | "roll-back"; readonly caller: Caller }
  /** Stopped on purpose between two steps; the operation is still open. */
  | { readonly kind: "stopped"; readonly at: string; readonly why: string }
  | { readonly kind: "end"; readonly at: string; readonly outcome: "applied" | "rolled-back" | "cancelled" };

export interface ParsedJournal {
  readonly records: readonly JournalRecord[];
  /** Bytes of whole lines; what follows was torn by a crash while it was written. */
  readonly wholeBytes: number;
  /** The first line that is whole and yet not a record. */
  readonly unreadable: { readonly line: number; readonly text: string } | null;
}

/** A journal file as records. The last line counts only with its line end: before that its deed had not begun. */
export function parseJournal(content: Uint8Array): ParsedJournal {
  const wholeBytes = content.lastIndexOf(0x0a) + 1;
  const lines = new TextDecoder().decode(content.subarray(0, wholeBytes)).split("\n").slice(0, -1);
  const records: JournalRecord[] = [];
  for (const [index, line] of lines.entries()) {
    const record = parseRecord(line);
    if (record === null) return { records, wholeBytes, unreadable: { line: index + 1, text: line.slice(0, 200) } };
    records.push(record);
  }
  return { records, wholeBytes, unreadable: null };
}

function parseRecord(line: string): JournalRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const parsed = recordSchema.safeParse(value);
  return parsed.success ? withoutUndefined<JournalRecord>(parsed.data) : null;
}

export function formatRecord(record: JournalRecord): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(record)}\n`);
}
