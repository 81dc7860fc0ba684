/** The options that the window and the browser console are started with, as `npm start` hands them on. */
import { parseArgs } from "node:util";
import { AppError } from "../shared/errors.ts";

export interface StartOptions {
  readonly demo: boolean;
  readonly cluster: string | null;
  /** 0 for any free one. */
  readonly port: number;
  readonly dataDirectory: string | null;
  readonly help: boolean;
}

export const startHelp = `  --port N              listen on this port of 127.0.0.1 (default: any free one)
  --no-demo             without the demo cluster
  --cluster NAME        connect this cluster at once
  --data-directory DIR  where clusters, settings and the last known state are kept
  --help                this text
`;

/** Throws `bad-request`. */
export function parseStartOptions(argv: readonly string[]): StartOptions {
  const { values } = parse(argv);
  return {
    demo: values["no-demo"] !== true,
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
      options: {
        web: { type: "boolean" },
        port: { type: "string" },
        "no-demo": { type: "boolean" },
        cluster: { type: "string" },
        "data-directory": { type: "string" },
        help: { type: "boolean", short: "h" },
      },
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
