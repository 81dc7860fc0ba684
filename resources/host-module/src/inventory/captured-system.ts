/**
 * A host that was captured: answers are replayed by argument vector, files come from a map. Whatever was not captured
 * does not exist. Support bundles and tests are read through it.
 */
import { AppError } from "../../../../shared/errors.ts";
import type { Files, RunResult, System } from "../system.ts";

export interface CapturedRun {
  readonly stdout?: Uint8Array | string;
  readonly stderr?: Uint8Array | string;
  readonly exitStatus?: number | null;
}

export interface CapturedSystemOptions {
  /** By the words of the command, joined by blanks. A function is asked at each call. */
  readonly runs?: Readonly<Record<string, CapturedRun | string | (() => CapturedRun | string)>>;
  readonly files?: Readonly<Record<string, Uint8Array | string>>;
  readonly hostName?: string;
  readonly architecture?: string;
  readonly now?: () => Date;
}

export interface CapturedSystem extends System {
  /** Every command that was run, in order. */
  readonly calls: readonly string[];
}

const bytesOf = (content: Uint8Array | string | undefined): Uint8Array =>
  content === undefined ? new Uint8Array() : typeof content === "string" ? new TextEncoder().encode(content) : content;

export function capturedSystem(options: CapturedSystemOptions = {}): CapturedSystem {
  const calls: string[] = [];
  const runs = options.runs ?? {};
  return {
    calls,
    async run(argv): Promise<RunResult> {
      const command = argv.join(" ");
      calls.push(command);
      const answer = Object.hasOwn(runs, command) ? runs[command] : undefined;
      const captured = typeof answer === "function" ? answer() : answer;
      const run = typeof captured === "string" ? { stdout: captured } : captured;
      return {
        argv,
        stdout: bytesOf(run?.stdout),
        stderr: bytesOf(run?.stderr),
        exitStatus: run === undefined ? 127 : run.exitStatus === undefined ? 0 : run.exitStatus,
        signal: null,
        timedOut: false,
        durationMs: 1,
      };
    },
    files: capturedFiles(options.files ?? {}),
    now: options.now ?? (() => new Date("2026-03-01T12:00:00.000Z")),
    hostName: options.hostName ?? "gpu-01",
    architecture: options.architecture ?? "x86_64",
    root: false,
    ledgerPath: null,
    caller: { uid: 1000, user: "operator" },
  };
}

function capturedFiles(contents: Readonly<Record<string, Uint8Array | string>>): Files {
  const readOnly = async (): Promise<never> => {
    throw new AppError({ code: "permission", message: "A captured host cannot be written to.", remedy: "" });
  };
  return {
    async read(path) {
      return Object.hasOwn(contents, path) ? bytesOf(contents[path]) : null;
    },
    async list(path) {
      const prefix = path.endsWith("/") ? path : `${path}/`;
      const below = Object.keys(contents).filter((name) => name.startsWith(prefix));
      const names = new Set(below.map((name) => name.slice(prefix.length).split("/")[0] ?? ""));
      return names.size === 0 ? null : [...names].sort();
    },
    status: async () => null,
    readLink: async () => null,
    makeDirectory: readOnly,
    replace: readOnly,
    append: readOnly,
    remove: readOnly,
    lock: readOnly,
    isLocked: async () => false,
  };
}
