/** `slurm guard`: the job_submit.lua that makes typed limits, card shares and GPU memory hold. */
import { AppError } from "../../../../shared/errors.ts";
import { forbidden } from "../access/access.ts";
import { accessHere } from "../access/here.ts";
import { padType } from "../slurm/nodes.ts";
import { SlurmReader } from "../slurm/reader.ts";
import type { System } from "../system.ts";
import { parseCommand, UsageError } from "./arguments.ts";
import type { Terminal } from "./terminal.ts";

export async function runSlurm(args: readonly string[], system: System, terminal: Terminal): Promise<number> {
  const { values, positionals } = parseCommand(
    args,
    { json: { type: "boolean" }, card: { type: "string", multiple: true }, "take-over": { type: "boolean" } },
    { least: 2, most: 2, what: "slurm guard, and install, remove or status," },
  );
  const [what, verb] = positionals;
  if (what !== "guard") throw new UsageError(`There is no command slurm ${JSON.stringify(what)}.`);
  const access = await accessHere(system);
  if (!access.administrator) throw forbidden("slurm guard", access, "administrator");
  const guard = await import("../slurm/job-submit/install.ts");
  switch (verb) {
    case "status":
    case "remove": {
      const state = verb === "status" ? await guard.jobSubmitState(system) : await guard.removeJobSubmit(system);
      terminal.out(values.json ? JSON.stringify(state) : stateText(state));
      return 0;
    }
    case "install": {
      const [{ cardsOfTypes }, { gpuTypeFacts }] = await Promise.all([
        import("../slurm/job-submit/cards.ts"),
        import("../slurm/job-submit/configuration.ts"),
      ]);
      const types = await gpuTypes(system);
      const facts = { types: gpuTypeFacts(cardsOfTypes(types, namedCards(values.card ?? []))) };
      const state = await guard.installJobSubmit(system, facts, { takeOver: values["take-over"] === true });
      terminal.out(values.json ? JSON.stringify(state) : stateText(state));
      return 0;
    }
    default:
      throw new UsageError("Say slurm guard install, slurm guard remove or slurm guard status.");
  }
}

async function gpuTypes(system: System): Promise<readonly string[]> {
  const { facts } = await new SlurmReader(system).nodes();
  const types = [...new Set((facts ?? []).flatMap((node) => Object.keys(node.gpusByType)))];
  if (types.some((type) => type !== padType)) return types;
  throw new AppError({
    code: "not-found",
    message: "Slurm knows no GPU with a type here.",
    remedy: "Give every GPU a Type= in gres.conf and slurm.conf, and see that slurmctld answers.",
  });
}

function namedCards(words: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    words.map((word) => {
      const [type = "", model = ""] = word.split("=");
      if (type === "" || model === "") throw new UsageError("--card takes TYPE=MODEL, as h100=H100-SXM5-80GB.");
      return [type, model] as const;
    }),
  );
}

function stateText(state: {
  readonly path: string;
  readonly script: string;
  readonly installed: string | null;
  readonly inForce: string | null;
  readonly change: string;
}): string {
  return [
    `${state.path}: ${state.script === "ours" ? `ours (${state.installed ?? "?"})` : state.script}`,
    state.inForce === null ? "Not in force: slurmctld does not answer by it." : `In force: ${state.inForce}.`,
    ...(state.change === "" ? [] : [state.change]),
  ].join("\n");
}
