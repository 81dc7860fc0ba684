/**
 * The console without Electron: the same services, on loopback, in a browser. For jump hosts, continuous
 * integration, and machines without a display.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AppErrorData } from "../../shared/errors.ts";
import { toErrorData } from "../../shared/errors.ts";
import { builtDirectory } from "../services/built-directory.ts";
import type { Services, ServicesOptions } from "../services/main.ts";
import { startServices } from "../services/main.ts";
import { parseStartOptions, type StartOptions, startHelp } from "../start-options.ts";
import { version } from "../version.ts";
import { startWebServer } from "./server.ts";
import { isSettled, summaryOf } from "./summary.ts";

export interface WebOptions {
  readonly port?: number;
  readonly demo?: boolean;
  /** Connected at once, by name. */
  readonly cluster?: string;
  readonly dataDirectory?: string;
  /** Instead of dist/renderer. */
  readonly pageDirectory?: string;
  /** What a terminal would show. Default: nothing. */
  readonly say?: (text: string) => void;
  /** For tests: parts of the services replaced. */
  readonly services?: Partial<ServicesOptions>;
}

export interface Web {
  /** With a one-time token that is good now. */
  readonly url: string;
  readonly port: number;
  readonly services: Services;
  close(): Promise<void>;
}

/** Throws `bad-request` where the port cannot be had, `not-found` where the named cluster is not there. */
export async function startWeb(options: WebOptions = {}): Promise<Web> {
  const say = options.say ?? (() => undefined);
  const pageDirectory = options.pageDirectory ?? join(builtDirectory(), "renderer");
  const services = startServices({
    version,
    desktop: false,
    demo: options.demo ?? true,
    ...(options.dataDirectory === undefined ? {} : { dataDirectory: options.dataDirectory }),
    ...options.services,
  });
  try {
    const named = options.cluster === undefined ? null : services.clusters.named(options.cluster);
    const server = await startWebServer({
      handlers: services.handlers,
      directory: pageDirectory,
      port: options.port ?? 0,
      onFreshLink: (url) => say(`\nA fresh link, good once:\n\n  ${url}\n`),
    });
    say(
      `Tessera ${version}\n\n  ${server.url}\n\nThe link is good once, on this machine only (through ssh: ssh -L ${server.port}:127.0.0.1:${server.port} HOST).\n`,
    );
    if (!existsSync(join(pageDirectory, "index.html"))) {
      say(`There is no built page in ${pageDirectory}: run \`npm run build\`.\n`);
    }
    const trouble = services.storeTrouble();
    if (trouble !== null) say(`${errorText(trouble)}\n`);
    const first = named ?? (options.demo === false ? null : services.clusters.named("demo"));
    const summary = new AbortController();
    if (first !== null) {
      first.connect();
      first.publisher.subscribe(() => {
        const snapshot = first.publisher.current();
        if (!isSettled(snapshot)) return;
        summary.abort();
        say(`${summaryOf(snapshot)}\n`);
      }, summary.signal);
    }
    return {
      get url() {
        return server.url;
      },
      port: server.port,
      services,
      close: async () => {
        summary.abort();
        await server.close();
        await services.close();
      },
    };
  } catch (error) {
    await services.close();
    throw error;
  }
}

/** The whole program: serves until it is told to stop. Answers the exit status. */
export async function runWeb(argv: readonly string[]): Promise<number> {
  // From the first moment: a signal while starting must end as cleanly as one later.
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
  // A reader of the output that goes away (`| head`) takes nothing from whoever uses the console.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  let options: StartOptions;
  let web: Web;
  try {
    options = parseStartOptions(argv);
    if (options.help) {
      process.stdout.write(`Opens the Tessera console in a browser.\n\n${startHelp}`);
      return 0;
    }
    web = await startWeb({
      port: options.port,
      demo: options.demo,
      ...(options.demoAs === null ? {} : { services: { demoOptions: { caller: options.demoAs } } }),
      ...(options.cluster === null ? {} : { cluster: options.cluster }),
      ...(options.dataDirectory === null ? {} : { dataDirectory: options.dataDirectory }),
      say: (text) => process.stdout.write(`${text}\n`),
    });
  } catch (error) {
    const data = toErrorData(error);
    process.stderr.write(`${errorText(data)}\n`);
    return data.code === "bad-request" ? 2 : 1;
  }
  await stopped;
  // A second Ctrl-C ends at once whatever still hangs.
  process.once("SIGINT", () => process.exit(130));
  await web.close();
  return 0;
}

export function errorText(error: AppErrorData): string {
  const evidence = error.evidence?.details ?? error.evidence?.stderr;
  return [error.message, error.remedy, evidence].filter((line) => line !== undefined && line !== "").join("\n");
}
