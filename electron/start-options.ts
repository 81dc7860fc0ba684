/** The options that the window and the browser console are started with, as `npm start` hands them on. */
import { parseArgs } from "node:util";
import { AppError } from "../shared/errors.ts";

export interface StartOptions {
  readonly demo: boolean;
  /** As whom one logs in to the demo cluster; null for its operator. */
  readonly demoAs: string | null;
  readonly cluster: string | null;
  /** 0 for any free one. */
  readonly port: number;
  readonly dataDirectory: string | null;
  readonly help: boolean;
}

export const startHelp = `  --port N              listen on this port of 127.0.0.1 (default: any free one)
  --demo-as USER        log in to the demo cluster as one of its people (li.wei leads a tenant, chen.yu is in one)
  --no-demo             without the demo cluster
  --cluster NAME        connect this cluster at once
  --data-directory DIR  where clusters, settings and the last known state are kept
  --help                this text
`;

const options = {
  web: { type: "boolean" },
  port: { type: "string" },
  "no-demo": { type: "boolean" },
  "demo-as": { type: "string" },
  cluster: { type: "string" },
  "data-directory": { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/**
 * Ours among the words that a desktop program is started with: Chromium's switches, the application's folder and
 * what test drivers and macOS add stand among them.
 */
export function ownStartArguments(argv: readonly string[]): readonly string[] {
  const own: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? "";
    const name = word.replace(/^--/, "").replace(/=.*$/, "");
    if (!word.startsWith("--") || !isOption(name)) continue;
    own.push(word);
    const value = argv[index + 1];
    if (options[name].type === "boolean" || word.includes("=") || value === undefined) continue;
    own.push(value);
    index += 1;
  }
  return own;
}

function isOption(name: string): name is keyof typeof options {
  return Object.hasOwn(options, name);
}

/** Throws `bad-request`. */
export function parseStartOptions(argv: readonly string[]): StartOptions {
  const { values } = parse(argv);
  return {
    demo: values["no-demo"] !== true,
    demoAs: values["demo-as"] ?? null,
    cluster: values.cluster ?? null,
    port: values.port === undefined ? 0 : portNumber(values.port),
    dataDirectory: values["data-directory"] ?? null,
    help: values.help === true,
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options,
    });
  } catch (error) {
    throw new AppError({
      code: "bad-request",
      message: error instanceof Error ? error.message : String(error),
      remedy: "--help says the options.",
    });
  }
}

function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new AppError({
    code: "bad-request",
    message: `'${text}' is not a port number.`,
    remedy: "Give a number from 0 to 65535; 0 takes any free port.",
  });
}
