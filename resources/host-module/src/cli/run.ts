import { AppError, toErrorData } from "../../../../shared/errors.ts";
import { type ApplyResult, protocolVersion, type StepProgress } from "../../../../shared/protocol/contract.ts";
import { call } from "../serve/call.ts";
import type { TaskContext } from "../serve/handlers.ts";
import { parseInput } from "../serve/validation.ts";
import type { System } from "../system.ts";
import { version } from "../version.ts";
import { largestWishBytes, parseCommand, UsageError } from "./arguments.ts";
import { readPlainFile } from "./read-file.ts";
import type { Terminal } from "./terminal.ts";
import { usage } from "./usage.ts";

/** What a command needs to know of the program that runs. */
export interface Program {
  readonly bundle: string;
  readonly runtime: string;
}

/** One command of the command line. Answers the exit status: 0 done, 1 failed, 2 wrong usage. */
export async function runCommandLine(
  args: readonly string[],
  system: System,
  terminal: Terminal,
  program: Program,
): Promise<number> {
  try {
    return await dispatch(args, system, terminal, program);
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.error(`tessera-host: ${error.message}\nTry tessera-host --help.`);
      return 2;
    }
    const data = toErrorData(error);
    if (args.includes("--json")) terminal.out(JSON.stringify({ error: data }));
    terminal.error(`tessera-host: ${data.message}`);
    if (data.remedy !== "") terminal.error(data.remedy);
    const words = data.evidence?.details ?? data.evidence?.stderr ?? "";
    if (words !== "") terminal.error(words.trimEnd().replaceAll(/^/gm, "  "));
    return 1;
  }
}

const json = { json: { type: "boolean" } } as const;

async function dispatch(
  [command, ...args]: readonly string[],
  system: System,
  terminal: Terminal,
  program: Program,
): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    terminal.out(usage);
    return 0;
  }
  switch (command) {
    case "--version":
    case "version":
      terminal.out(version);
      return 0;
    case "--help":
    case "-h":
    case "help":
      terminal.out(usage);
      return 0;
    case "hello": {
      const { values } = parseCommand(args, json);
      const hello = await call(system, "hello", { protocolVersion, client: "command line" }, silent(terminal));
      terminal.out(
        values.json
          ? JSON.stringify(hello)
          : `tessera-host ${hello.version} (protocol ${hello.protocolVersion}) on ${hello.hostName}, ${hello.root ? "as root" : "without root"}, for ${hello.caller.user ?? hello.caller.uid}`,
      );
      return 0;
    }
    case "mig":
      return mig(args, system, terminal);
    case "doctor": {
      const { values } = parseCommand(args, json);
      const findings = await call(system, "doctor", {}, silent(terminal));
      const { doctorText } = await import("./print-inventory.ts");
      terminal.out(values.json ? JSON.stringify(findings) : doctorText(findings));
      return findings.some(({ level }) => level === "problem") ? 1 : 0;
    }
    case "inventory":
    case "watch":
    case "bundle":
      return (await import("./run-inventory.ts")).runInventory(command, args, system, terminal);
    case "call":
    case "me":
    case "tenants":
    case "audit":
    case "ledger":
    case "timer":
      return (await import("./run-control.ts")).runControl(command, args, system, terminal);
    case "defrag":
      return (await import("./run-defrag.ts")).runDefrag(args, terminal);
    case "slurm":
      return (await import("./run-slurm.ts")).runSlurm(args, system, terminal);
    case "install":
    case "uninstall":
      return (await import("./run-install.ts")).runInstall(command, args, system, terminal, program);
    case undefined:
      throw new UsageError("No command given.");
    default:
      throw new UsageError(`There is no command ${JSON.stringify(command)}.`);
  }
}

function silent(terminal: Terminal): TaskContext<never> {
  return { signal: terminal.signal, progress: () => undefined };
}

async function mig([verb, ...args]: readonly string[], system: System, terminal: Terminal): Promise<number> {
  const print = await import("./print-mig.ts");
  const context: TaskContext<StepProgress> = {
    signal: terminal.signal,
    progress: (progress) => {
      const line = print.progressText(progress);
      if (line !== null) terminal.error(line);
    },
  };
  const report = (result: ApplyResult, asJson: boolean | undefined): number => {
    terminal.out(asJson ? JSON.stringify(result) : print.resultText(result));
    for (const { gpuUuid, error } of result.skipped ?? []) {
      terminal.error(
        `GPU ${gpuUuid} was left as it is: ${error.message}${error.remedy === "" ? "" : ` ${error.remedy}`}`,
      );
    }
    if (result.failure !== undefined) throw new AppError(result.failure);
    if ((result.skipped ?? []).length > 0) return 1;
    return result.outcome === "rolled-back" || result.outcome === "cancelled" ? 1 : 0;
  };
  const dryRun = { ...json, "dry-run": { type: "boolean" } } as const;
  switch (verb) {
    case "plan": {
      const { values } = parseCommand(args, { ...json, ...wishOptions });
      const plan = await call(
        system,
        "mig.plan",
        parseInput("mig.plan", await wishOf(values, system, terminal)),
        silent(terminal),
      );
      terminal.out(values.json ? JSON.stringify(plan) : print.planText(plan));
      return 0;
    }
    case "apply": {
      const { values } = parseCommand(args, { ...dryRun, ...wishOptions, reason: { type: "string" } });
      const wish = await wishOf(values, system, terminal);
      const request = parseInput("mig.apply", {
        ...wish,
        ...(values["dry-run"] ? { dryRun: true } : {}),
        ...(values.reason === undefined ? {} : { reason: values.reason }),
      });
      return report(await call(system, "mig.apply", request, context), values.json);
    }
    case "undo": {
      const { values, positionals } = parseCommand(args, dryRun, { least: 0, most: 1 });
      const [operationId] = positionals;
      const request = {
        ...(operationId === undefined ? {} : { operationId }),
        ...(values["dry-run"] ? { dryRun: true } : {}),
      };
      return report(await call(system, "mig.undo", request, context), values.json);
    }
    case "recover": {
      const { values, positionals } = parseCommand(
        args,
        { ...json, way: { type: "string" } },
        { least: 1, most: 1, what: "The operation" },
      );
      if (values.way !== "finish" && values.way !== "roll-back") {
        throw new UsageError("Say --way finish or --way roll-back.");
      }
      const { way } = values;
      const request = { operationId: positionals[0] ?? "", way } as const;
      return report(await call(system, "mig.recover", request, context), values.json);
    }
    case "restore": {
      const { values } = parseCommand(args, dryRun);
      const request = values["dry-run"] ? { dryRun: true } : {};
      return report(await call(system, "mig.restore", request, context), values.json);
    }
    case "status": {
      const { values } = parseCommand(args, json);
      const status = await call(system, "mig.status", {}, silent(terminal));
      terminal.out(values.json ? JSON.stringify(status) : print.statusText(status));
      return 0;
    }
    case "save": {
      const { values } = parseCommand(args, json);
      const saved = await call(system, "mig.save", {}, silent(terminal));
      terminal.out(
        values.json
          ? JSON.stringify(saved)
          : `Saved the layout${saved.savedGpus === 1 ? "" : "s"} of ${saved.savedGpus} divided GPU${saved.savedGpus === 1 ? "" : "s"}.`,
      );
      return 0;
    }
    default:
      throw new UsageError(verb === undefined ? "What about mig?" : `There is no command mig ${JSON.stringify(verb)}.`);
  }
}

const wishOptions = {
  gpu: { type: "string", multiple: true },
  layout: { type: "string" },
  preset: { type: "string" },
  "mig-off": { type: "boolean" },
  "keep-in-use": { type: "boolean" },
  file: { type: "string" },
} as const;

interface WishWords {
  readonly gpu?: string[];
  readonly layout?: string;
  readonly preset?: string;
  readonly "mig-off"?: boolean;
  readonly "keep-in-use"?: boolean;
  readonly file?: string;
}

/** The `{ gpus: [...] }` of a request, from a file or from words. */
async function wishOf(words: WishWords, system: System, terminal: Terminal): Promise<{ readonly gpus: unknown }> {
  const ways = [words.layout, words.preset, words["mig-off"], words.file].filter((way) => way !== undefined);
  if (ways.length !== 1) throw new UsageError("Say one of --layout, --preset, --mig-off and --file.");
  if (words.file !== undefined) {
    if (words.gpu !== undefined) throw new UsageError("The file names the GPUs: leave --gpu out.");
    return readWish(words.file, terminal);
  }
  // An unset variable of a shell must not read as "destroy everything", nor as "no GPU, so nothing to do".
  if (isBlank(words.layout)) throw new UsageError("--layout names no profile; say empty for no instances.");
  if (isBlank(words.preset)) throw new UsageError("--preset names no profile; say empty for no instances.");
  if (words.gpu === undefined || words.gpu.some(isBlank)) {
    throw new UsageError("Say which GPU: --gpu UUID, --gpu INDEX or --gpu all.");
  }
  const [{ driverReader }, { chosenGpus, wantedFor }] = await Promise.all([
    import("../mig/reading.ts"),
    import("./wanted.ts"),
  ]);
  const reader = driverReader(system);
  const chosen = chosenGpus(words.gpu, [...(await reader.list()).values()]);
  const gpus: unknown[] = [];
  for (const identity of chosen) {
    if (words["mig-off"]) {
      gpus.push({ gpuUuid: identity.uuid, layout: { migEnabled: false, instances: [] } });
      continue;
    }
    gpus.push(
      wantedFor(await reader.read(identity), {
        ...(words.layout === undefined ? {} : { layout: words.layout }),
        ...(words.preset === undefined ? {} : { preset: words.preset }),
        keepInUse: words["keep-in-use"] === true,
      }),
    );
  }
  return { gpus };
}

function isBlank(words: string | undefined): boolean {
  return words !== undefined && !/[^\s,]/.test(words);
}

/**
 * The file is read with our rights, which by the sudo rule may be root's: what is wrong with it is said without
 * quoting it, so that nobody reads another's files through us.
 */
async function readWish(path: string, terminal: Terminal): Promise<{ readonly gpus: unknown }> {
  try {
    const value: unknown = JSON.parse(
      path === "-" ? await terminal.readInput() : await readPlainFile(path, largestWishBytes),
    );
    if (typeof value === "object" && value !== null && "gpus" in value) return { gpus: value.gpus };
  } catch {
    // Not there, not readable or not JSON.
  }
  throw new AppError({
    code: "bad-request",
    message: `${path === "-" ? "Standard input" : path} is no readable JSON file with a list "gpus".`,
    remedy: 'It looks like { "gpus": [{ "gpuUuid": "GPU-...", "layout": { "migEnabled": true, "instances": [] } }] }.',
  });
}
