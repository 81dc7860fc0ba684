import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from "node:fs";
import { writeError } from "../operating-system/file-error.ts";

/**
 * The marks beside the ledger: a text file that is only ever appended to, one line for each transaction that wrote to
 * the audit: its first row, its last row, and the last row's hash. The chain alone cannot tell that its tail was cut
 * off, since what is left is whole; the marks can. They are written right after the transaction (before it, a crash in
 * between would look like a cut), so a process that dies in that moment leaves rows that no mark covers.
 *
 * Root can rewrite both files. Against that only a copy elsewhere helps: ship the marks to another machine, or set the
 * file append-only (`chattr +a`), which nothing here minds.
 */
export interface Mark {
  readonly first: number;
  readonly last: number;
  readonly hash: string;
}

export interface Marks {
  /** False where there is no such file, or not the one that was made with the ledger. */
  readonly present: boolean;
  readonly marks: readonly Mark[];
  /** Lines that are not marks, by number from 1. */
  readonly unreadable: readonly number[];
}

const marksHeading = "tessera-audit-marks-1";
const renewedHeading = `${marksHeading} made anew: the one before was gone`;

/** A copy for a backup: a record whose marks were lost stays one. */
export function formatMarks({ present, marks }: Pick<Marks, "present" | "marks">): string {
  return `${present ? marksHeading : renewedHeading}\n${marks.map(formatMark).join("")}`;
}

export function marksPathOf(ledgerPath: string): string {
  return `${ledgerPath}.audit-marks`;
}

function formatMark(mark: Mark): string {
  return `${mark.first} ${mark.last} ${mark.hash}\n`;
}

const markLine = /^(\d{1,15}) (\d{1,15}) ([0-9a-f]{64})$/;
/** What a crash in the middle of a line can leave of one; the next append begins a new line. */
const tornLine = /^\d{0,15}( \d{0,15}( [0-9a-f]{0,63})?)?$/;

export function readMarks(path: string): Marks {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return { present: false, marks: [], unreadable: [] };
  }
  const [heading, ...lines] = text.split("\n");
  const marks: Mark[] = [];
  const unreadable: number[] = [];
  for (const [index, line] of lines.entries()) {
    const [, first, last, hash] = markLine.exec(line) ?? [];
    if (first !== undefined && last !== undefined && hash !== undefined) {
      marks.push({ first: Number(first), last: Number(last), hash });
    } else if (!tornLine.test(line) && line !== marksHeading) unreadable.push(index + 2);
  }
  return { present: heading === marksHeading, marks, unreadable };
}

/** Makes the file of a new ledger. Throws AppError `disk-full`, `permission`. */
export function makeMarks(path: string): void {
  append(path, "", marksHeading);
}

/**
 * Appends marks, on disk (fsync) when it returns. A line that a crash left torn is ended first. A file that is gone is
 * made again, under a heading that tells so for ever. Throws AppError `disk-full`, `permission`.
 */
export function appendMarks(path: string, marks: readonly Mark[]): void {
  append(path, marks.map(formatMark).join(""), renewedHeading);
}

function append(path: string, text: string, heading: string): void {
  try {
    const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    const file = openSync(path, flags, 0o600);
    try {
      const { size } = fstatSync(file);
      const prefix = size === 0 ? `${heading}\n` : endsLine(file, size) ? "" : "\n";
      const bytes = Buffer.from(prefix + text);
      if (bytes.length === 0) return;
      // One write: two processes do not mix their lines under O_APPEND. Two that make the file write its heading twice.
      const written = writeSync(file, bytes);
      fsyncSync(file);
      if (written < bytes.length) {
        if (size === 0) ftruncateSync(file, 0);
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw writeError(error, path);
  }
}

function endsLine(file: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 0x0a;
}
