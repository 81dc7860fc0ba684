import { AppError } from "../../../../shared/errors.ts";
import type { System } from "../system.ts";
import { version } from "../version.ts";
import { parseCommand, UsageError } from "./arguments.ts";
import type { Program } from "./run.ts";
import type { Terminal } from "./terminal.ts";

export async function runInstall(
  command: "install" | "uninstall",
  args: readonly string[],
  system: System,
  terminal: Terminal,
  program: Program,
): Promise<number> {
  const lines = await (command === "install" ? installed(args, system, program) : uninstalled(args, system));
  terminal.out(
    lines.lines.length === 0
      ? "Nothing was installed here."
      : lines.asJson
        ? JSON.stringify(lines.lines)
        : lines.lines.join("\n"),
  );
  return 0;
}

interface Done {
  readonly lines: readonly string[];
  readonly asJson: boolean;
}

async function installed(args: readonly string[], system: System, program: Program): Promise<Done> {
  const { values } = parseCommand(args, {
    json: { type: "boolean" },
    root: { type: "string" },
    "sudo-group": { type: "string" },
    "restore-on-boot": { type: "boolean" },
  });
  if (!program.bundle.endsWith(".cjs")) {
    throw new AppError({
      code: "bad-request",
      message: "Only the bundle can install itself, and this is its source.",
      remedy: "Run npm run build, then npx --no-install tessera-host install.",
    });
  }
  const { install } = await import("../install/install.ts");
  const lines = await install(system, {
    version,
    bundle: program.bundle,
    runtime: program.runtime,
    ...(values.root === undefined ? {} : { root: values.root }),
    ...(values["sudo-group"] === undefined ? {} : { sudoGroup: values["sudo-group"] }),
    ...(values["restore-on-boot"] === undefined ? {} : { restoreOnBoot: values["restore-on-boot"] }),
  });
  return { lines, asJson: values.json === true };
}

async function uninstalled(args: readonly string[], system: System): Promise<Done> {
  const { values } = parseCommand(args, {
    json: { type: "boolean" },
    root: { type: "string" },
    version: { type: "string" },
    all: { type: "boolean" },
  });
  if ((values.version === undefined) === (values.all !== true)) {
    throw new UsageError("Say --version VERSION or --all.");
  }
  const { uninstall } = await import("../install/uninstall.ts");
  const lines = await uninstall(system, {
    ...(values.version === undefined ? {} : { version: values.version }),
    ...(values.root === undefined ? {} : { root: values.root }),
  });
  return { lines, asJson: values.json === true };
}
