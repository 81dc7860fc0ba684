import { AppError } from "../../../../shared/errors.ts";
import type { Operation } from "../../../../shared/protocol/contract.ts";
import type { System } from "../system.ts";
import { type BeginRecord, formatRecord, type JournalRecord, parseJournal } from "./journal-records.ts";
import { journalDirectory } from "./state.ts";

const fileMode = 0o600;
/** Closed operations beyond these are forgotten, the oldest first. */
const keptOperations = 500;

/** A journal on disk: one file an operation, one JSON record a line, each on disk before the deed it announces. */
export interface JournalFile {
  readonly id: string;
  readonly begin: BeginRecord;
  readonly records: readonly JournalRecord[];
  readonly open: boolean;
}

/** Adds records to one operation. `append` returns when the record is on disk; throws AppError `disk-full`, `permission`. */
export interface JournalWriter {
  readonly id: string;
  append(record: JournalRecord): Promise<void>;
}

function pathOf(id: string): string {
  return `${journalDirectory}/${id}.jsonl`;
}

let lastId = "";

/** Sorts by time, to the millisecond, and within this process always after the one before. */
export function newOperationId(now: Date): string {
  const time = now.toISOString().replaceAll(/[-:]/g, "").replace(/\.\d+/, "");
  const tail = now.getUTCMilliseconds() * 0x10_0000 + Math.floor(Math.random() * 0x10_0000);
  const idOf = (number: number) => `${time}-${number.toString(16).padStart(8, "0")}`;
  const id = idOf(tail);
  const after = Number.parseInt(lastId.split("-")[1] ?? "0", 16) + 1;
  lastId = id > lastId || !lastId.startsWith(time) ? id : idOf(after);
  return lastId;
}

/** Writes the first record. Only when it is on disk may the operation's first command run. */
export async function beginJournal(system: System, begin: BeginRecord): Promise<JournalWriter> {
  await forgetOldOperations(system);
  const writer = writerOf(system, begin.id);
  try {
    await writer.append(begin);
  } catch (error) {
    // An empty or half-written file stands for an operation that never began; not leaving it is mere tidiness.
    await system.files.remove(pathOf(begin.id)).catch(() => undefined);
    throw error;
  }
  return writer;
}

/** Continues an operation that was found open: whatever a crash left behind the last whole line is cut off first. */
export async function reopenJournal(system: System, id: string): Promise<JournalWriter> {
  const content = await system.files.read(pathOf(id));
  if (content === null) throw notFound(id);
  const { wholeBytes } = parseJournal(content);
  if (wholeBytes < content.length) await system.files.replace(pathOf(id), content.subarray(0, wholeBytes), fileMode);
  return writerOf(system, id);
}

function writerOf(system: System, id: string): JournalWriter {
  return {
    id,
    append: (record) => system.files.append(pathOf(id), formatRecord(record), fileMode),
  };
}

/** Removes an operation of which nothing was ever done, so that a full disk leaves no open journal behind. */
export async function discardJournal(system: System, id: string): Promise<void> {
  await system.files.remove(pathOf(id));
}

/**
 * Every operation of this host, newest first. Files in which not even the first record is whole are left out: their
 * operation never began. Throws AppError `unreadable` for a journal that is damaged further on, because what it says
 * last is what a recovery would have to know, and `permission` where the directory may not be read.
 */
export async function readJournals(system: System): Promise<readonly JournalFile[]> {
  const names = (await system.files.list(journalDirectory)) ?? [];
  const journals: JournalFile[] = [];
  for (const name of names.toSorted().toReversed()) {
    if (!name.endsWith(".jsonl")) continue;
    const journal = await readJournal(system, name.slice(0, -".jsonl".length));
    if (journal !== null) journals.push(journal);
  }
  return journals;
}

async function readJournal(system: System, id: string): Promise<JournalFile | null> {
  const content = await system.files.read(pathOf(id));
  if (content === null) {
    if ((await system.files.status(pathOf(id))) === null) return null;
    throw new AppError({
      code: "permission",
      message: "The journal of earlier operations may not be read by this user.",
      remedy: "Run tessera-host as root or through its sudo rule.",
      evidence: { host: system.hostName, details: pathOf(id) },
    });
  }
  const { records, unreadable } = parseJournal(content);
  if (unreadable !== null) {
    throw new AppError({
      code: "unreadable",
      message: `Line ${unreadable.line} of the journal ${pathOf(id)} cannot be understood.`,
      remedy: "Compare the GPU's layout with the journal by hand, then move the file away.",
      evidence: { host: system.hostName, details: unreadable.text },
    });
  }
  const begin = records[0];
  if (begin === undefined || begin.kind !== "begin") return null;
  return { id, begin, records, open: !records.some((record) => record.kind === "end") };
}

export function findJournal(journals: readonly JournalFile[], id: string): JournalFile {
  const journal = journals.find((candidate) => candidate.id === id);
  if (journal === undefined) throw notFound(id);
  return journal;
}

function notFound(id: string): AppError {
  return new AppError({
    code: "not-found",
    message: `There is no operation ${JSON.stringify(id)} in the journal of this host.`,
    remedy: "tessera-host mig status lists the operations.",
  });
}

async function forgetOldOperations(system: System): Promise<void> {
  const names = ((await system.files.list(journalDirectory)) ?? []).filter((name) => name.endsWith(".jsonl"));
  for (const name of names.toSorted().slice(0, Math.max(0, names.length - keptOperations))) {
    const id = name.slice(0, -".jsonl".length);
    const journal = await readJournal(system, id).catch(() => null);
    if (journal !== null && !journal.open) await discardJournal(system, id);
  }
}

/** An operation as the contract shows it. */
export function operationOf(journal: JournalFile): Operation {
  const { begin, records } = journal;
  const end = records.findLast((record) => record.kind === "end");
  const begun = records.findLast((record) => record.kind === "step-begun");
  const last = records.findLast((record) => record.kind.startsWith("step-"));
  const phase = records.findLastIndex((record) => record.kind === "recovery" || record.kind === "rolling-back");
  return {
    id: journal.id,
    kind: begin.operation,
    state: end === undefined ? "open" : end.outcome,
    startedAt: begin.at,
    endedAt: end?.at ?? null,
    caller: begin.caller,
    reason: begin.reason,
    gpus: begin.gpus,
    doneSteps: records.slice(phase + 1).filter((record) => record.kind === "step-done").length,
    begunStep:
      begun !== undefined && last === begun && end === undefined ? { gpuUuid: begun.gpuUuid, step: begun.step } : null,
    ...(end === undefined ? { statement: statementOf(journal) } : {}),
  };
}

/** Where an open operation stands, in one sentence for the operator. */
export function statementOf(journal: JournalFile): string {
  const { begin, records } = journal;
  const stepCount = begin.gpus.reduce((count, plan) => count + plan.steps.length, 0);
  const forward = records.filter((record) => record.kind === "step-done" && record.direction === "forward").length;
  const back = records.filter((record) => record.kind === "step-done" && record.direction === "back").length;
  const last = records.at(-1);
  const parts = [`${forward} of ${stepCount} planned steps were done`];
  if (records.some((record) => record.kind === "rolling-back" || record.kind === "recovery")) {
    parts.push(`${back} steps led back`);
  }
  switch (last?.kind) {
    case "step-begun":
      parts.push(`the step begun at ${last.at} (${last.step.kind}) has no outcome on record`);
      break;
    case "step-failed":
      parts.push(`the last one failed: ${last.message}`);
      break;
    case "stopped":
      parts.push(last.why);
      break;
    case "rolling-back":
      parts.push(`rolling back had begun: ${last.why}`);
      break;
    default:
      parts.push("it ended between two steps");
  }
  return `${parts.join("; ")}.`;
}
