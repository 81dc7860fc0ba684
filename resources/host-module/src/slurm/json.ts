/**
 * `--json` of Slurm's tools. Whether an answer is JSON is told by what it is, never by the exit status: some commands
 * print plain text and exit 0 (`scontrol show assoc_mgr --json`, `sacctmgr show transactions --json`, up to 26.05).
 * Values changed their shape over the versions: `5` became `{"set": true, "infinite": false, "number": 5}`, a state in
 * lower case became an array of upper case words.
 */
import { textOf } from "../nvidia-smi/text.ts";
import { isSentinel, type Reading } from "./reading.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** An answer that is JSON of Slurm. */
export interface SlurmJson {
  readonly root: JsonObject;
  /** `data_parser/v0.0.40`, `openapi/v0.0.38`, from `meta`. */
  readonly parser: string;
  /** The last number of the parser's version, 40; null where it has none. */
  readonly parserNumber: number | null;
  /** `23.11.11` */
  readonly release: string | null;
  readonly cluster: string | null;
}

/** Reads the envelope; null where this is no JSON of Slurm, and then one entry says why. Errors that it carries are listed. */
export function readJson(output: Uint8Array | string, reading: Reading): SlurmJson | null {
  const text = textOf(output).trim();
  if (!text.startsWith("{")) return reading.reject("", "not JSON: the command printed text", text);
  const root = parse(text);
  if (root === undefined) return reading.reject("", "JSON that is cut or damaged", text);
  if (!isObject(root)) return reading.reject("", "JSON, and no object", text);
  const parser = parserOf(root);
  if (parser === null) return reading.reject("", "JSON without the parser's name in `meta`", text);
  for (const error of list(root.errors)) reading.reject("errors", "Slurm answered with an error", wordsOf(error));
  const slurm = object(at(root, "meta", "slurm") ?? at(root, "meta", "Slurm"));
  const number = /\.(\d+)(?:\+.*)?$/.exec(parser)?.[1];
  return {
    root,
    parser,
    parserNumber: number === undefined ? null : Number(number),
    release: string(slurm.release),
    cluster: string(slurm.cluster),
  };
}

/** Whether an output is JSON of Slurm: an object with the parser's name in `meta`. */
export function isJson(output: Uint8Array | string): boolean {
  const text = textOf(output).trimStart();
  if (!text.startsWith("{")) return false;
  const root = parse(text);
  return isObject(root) && parserOf(root) !== null;
}

/** 23.11 and 24.05 print a bare `Infinity` where a number has no end; it reads as null. Undefined for what is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const mended = text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:Infinity|NaN|inf|nan)\b/g, (token) =>
      token.startsWith('"') ? token : "null",
    );
    try {
      return JSON.parse(mended);
    } catch {
      return undefined;
    }
  }
}

function parserOf(root: JsonObject): string | null {
  // 23.02 calls it `plugins`; 22.05 has the parser in `type`.
  const plugin = object(at(root, "meta", "plugin") ?? at(root, "meta", "plugins"));
  return string(plugin.data_parser) ?? string(plugin.type);
}

function wordsOf(error: unknown): string {
  const { error: name, description } = object(error);
  return [string(name), string(description)].filter((words) => words !== null).join(": ") || JSON.stringify(error);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as an object, an empty one where it is none. */
export function object(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value as an array, an empty one where it is none. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text that says something; null for an empty one and for what is none. */
export function string(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Words of an array of strings, of one string with commas (22.05), of nothing. */
export function strings(value: unknown): readonly string[] {
  if (typeof value === "string") return value.split(",").filter((word) => word !== "");
  return list(value).flatMap((word) => string(word) ?? []);
}

/** What stands at a path, undefined where the path ends before. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (from, key) => (isObject(from) && Object.hasOwn(from, key) ? from[key] : undefined),
    value,
  );
}

/** A number in any of its shapes; `unlimited` for an infinite one, null for one that is not set or no number. */
export function numberIn(value: unknown): number | "unlimited" | null {
  if (typeof value === "number") return Number.isFinite(value) && !isSentinel(value) ? value : null;
  if (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value)) return numberIn(Number(value));
  if (!isObject(value)) return null;
  if (value.infinite === true) return "unlimited";
  if (value.set === false) return null;
  return numberIn(value.number);
}

/** The same, null also for no limit. */
export function finiteIn(value: unknown): number | null {
  const number = numberIn(value);
  return number === "unlimited" ? null : number;
}

/** A time in seconds since the epoch; 0 stands for none. */
export function timeIn(value: unknown): number | null {
  const seconds = finiteIn(value);
  return seconds === 0 ? null : seconds;
}
