/**
 * From the bytes that a tool printed to lines of text. Captures are cut in mid-print, hold bytes that are no
 * UTF-8 (the 550 driver prints an unset string where a lost GPU's bus id belongs), carry Windows line ends,
 * and `topo -m` underlines its header with escape sequences even when it is piped.
 */

/** Read besides the facts, one entry for each thing that could not be; the caller adds the source. */
export interface PartialRead {
  /** What was looked for; empty for the whole output. */
  readonly field: string;
  readonly reason: string;
  /** At most 200 characters of the raw text. */
  readonly raw: string;
}

/** What a parser answers: never an exception, whatever the input. */
export interface Parsed<Facts> {
  readonly facts: Facts;
  readonly unread: readonly PartialRead[];
}

const rawLimit = 200;

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const escapeSequence = /\u001b\[[0-9;?]*[ -/]*[@-~]?|\u001b[@-Z\\-_]/g;

/** Text of any output: UTF-8 (or UTF-16 with a byte order mark, as PowerShell writes it), `\n` line ends, no escape sequences. */
export function textOf(output: Uint8Array | string): string {
  const text = typeof output === "string" ? output : decode(output);
  return text.replace(escapeSequence, "").replace(/\r\n?/g, "\n").replaceAll("\u0000", "");
}

function decode(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return new TextDecoder("utf-8").decode(bytes);
}

/** Lines of any output, without trailing white space. */
export function linesOf(output: Uint8Array | string): string[] {
  return textOf(output)
    .split("\n")
    .map((line) => line.trimEnd());
}

export function partialRead(field: string, reason: string, raw: string): PartialRead {
  return { field, reason, raw: raw.length > rawLimit ? raw.slice(0, rawLimit) : raw };
}
