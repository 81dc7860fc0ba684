/** `defrag plan`: a plan for a layout in a file. It needs no GPU, no cluster and no rights, and changes nothing. */
import { parseGoal } from "../../../../shared/defrag/goal.ts";
import { type DefragOptions, planDefragmentation } from "../../../../shared/defrag/plan.ts";
import { readLayout } from "../../../../shared/defrag/read-layout.ts";
import {
  type ClusterLayout,
  type DefragPlan,
  defaultOptions,
  type ExecutionMode,
  layoutSchema,
  type Move,
} from "../../../../shared/defrag/types.ts";
import { AppError } from "../../../../shared/errors.ts";
import { parseCommand, UsageError } from "./arguments.ts";
import { table } from "./drawing.ts";
import { readPlainFile } from "./read-file.ts";
import type { Terminal } from "./terminal.ts";

/** 100,000 GPUs with seven instances each are about 150 MB. */
const largestLayoutBytes = 256 * 1024 * 1024;
/** Relaxations in each search, as in the tests. */
const nodeLimit = 400;

const planOptions = {
  json: { type: "boolean" },
  layout: { type: "string", multiple: true },
  goal: { type: "string" },
  "max-moves": { type: "string" },
  "max-cost": { type: "string" },
  spare: { type: "string" },
  tenant: { type: "string", multiple: true },
  host: { type: "string", multiple: true },
  at: { type: "string" },
  mode: { type: "string" },
  "what-if-all-move": { type: "boolean" },
} as const;

export async function runDefrag([verb, ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (verb !== "plan") throw new UsageError("Say defrag plan --layout FILE.");
  const { values } = parseCommand(args, planOptions);
  const files = values.layout ?? [];
  if (files.length === 0 || files.includes("")) throw new UsageError("Say --layout FILE.");
  const limits = limitsOf(values);
  const read = readLayouts(await Promise.all(files.map(readJson)));
  const layout = values["what-if-all-move"] === true ? allMovable(read) : read;
  // What is about to end is left to end, seen from when the layout was taken where no other time is said.
  const options: DefragOptions = { ...limits, at: limits.at ?? read.takenAt };
  refuseUnknown("host", options.hosts, new Set(layout.hosts.map(({ name }) => name)));
  refuseUnknown("tenant", options.tenants, tenantsOf(layout));
  const plan = planDefragmentation(layout, options);
  terminal.out(values.json === true ? JSON.stringify(plan) : planText(plan));
  return 0;
}

type Values = ReturnType<typeof parseCommand<typeof planOptions>>["values"];

function limitsOf(values: Values): DefragOptions {
  return {
    ...defaultOptions,
    goal: values.goal === undefined ? defaultOptions.goal : parseGoal(values.goal),
    mode: modeOf(values.mode),
    maxMoves: numberOf("--max-moves", values["max-moves"], /^\d{1,7}$/),
    maxCost: numberOf("--max-cost", values["max-cost"], /^\d{1,9}(\.\d{1,6})?$/),
    spareGpus: numberOf("--spare", values.spare, /^\d{1,4}$/) ?? 0,
    tenants: values.tenant ?? null,
    hosts: values.host ?? null,
    at: instantOf(values.at),
    nodeLimit,
  };
}

function numberOf(option: string, text: string | undefined, form: RegExp): number | null {
  if (text === undefined) return null;
  if (!form.test(text)) throw new UsageError(`${option} takes a number.`);
  return Number(text);
}

function instantOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new UsageError("--at takes a time such as 2026-11-30T22:00:00Z.");
  return new Date(time).toISOString();
}

function modeOf(text: string | undefined): ExecutionMode {
  if (text === undefined) return defaultOptions.mode;
  if (text === "in-use" || text === "empty" || text === "free-space") return text;
  throw new UsageError("--mode takes in-use, empty or free-space.");
}

/** What is wrong with the file is said without quoting it: it is read with our rights, which may be more than the caller's. */
async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readPlainFile(path, largestLayoutBytes));
  } catch {
    throw new AppError({
      code: "bad-request",
      message: `${path} is no readable JSON file.`,
      remedy: "Give a file of the schema tessera.layout/1, as docs/defrag.md shows it.",
    });
  }
}

/** One layout of the hosts of all files, each read for itself first; as old as the oldest. */
function readLayouts(values: readonly unknown[]): ClusterLayout {
  const layouts = values.map(readLayout);
  const times = layouts.flatMap(({ takenAt }) => takenAt ?? []).sort((a, b) => Date.parse(a) - Date.parse(b));
  const hosts = layouts.flatMap((layout) => layout.hosts);
  return readLayout({ schema: layoutSchema, takenAt: times[0] ?? null, hosts });
}

function allMovable(layout: ClusterLayout): ClusterLayout {
  const hosts = layout.hosts.map((host) => ({
    ...host,
    gpus: host.gpus.map((gpu) => ({
      ...gpu,
      instances: gpu.instances.map((one) =>
        one.allocation === null ? one : { ...one, allocation: { ...one.allocation, movable: true } },
      ),
    })),
  }));
  return { ...layout, hosts };
}

function tenantsOf(layout: ClusterLayout): ReadonlySet<string> {
  const instances = layout.hosts.flatMap(({ gpus }) => gpus).flatMap((gpu) => gpu.instances);
  return new Set(instances.flatMap(({ allocation }) => allocation?.tenant ?? []));
}

/** A name that is nowhere in the layout would look as if nothing could be moved. */
function refuseUnknown(what: "host" | "tenant", named: readonly string[] | null, known: ReadonlySet<string>): void {
  const unknown = named?.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new AppError({
    code: "not-found",
    message: `The layout has no ${what} ${JSON.stringify(unknown)}.`,
    remedy: `It has ${[...known].slice(0, 8).join(", ") || "none"}${known.size > 8 ? " and others" : ""}.`,
  });
}

const rounded = (value: number) => String(Math.round(value * 100) / 100);
const percent = (value: number | null) => (value === null ? "nothing is free" : `${rounded(value * 100)} %`);
const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

function moveRow({ order, profile, from, to }: Move): readonly string[] {
  const source = `${from.host} GPU ${from.gpu} at ${from.start}`;
  return [String(order), profile, source, `${to.host} GPU ${to.gpu} at ${to.start}`];
}

function capacityLines({ before, after }: DefragPlan): readonly string[] {
  const rows = after.capacity.map(({ model, profile, fits }) => {
    const now = before.capacity.find((one) => one.model === model && one.profile === profile)?.fits ?? 0;
    return [model, profile, String(now), String(fits)];
  });
  return rows.length === 0 ? [] : ["", ...table(["model", "profile", "fit now", "after"], rows)];
}

function boundText({ bound }: DefragPlan): string {
  return bound.kind === "exact"
    ? `${bound.freeGpus} is the most that any plan can leave free.`
    : `No plan can leave more than ${bound.freeGpus} free.`;
}

function planText(plan: DefragPlan): string {
  const { before, after, cost, costBound, length, bounces, moves } = plan;
  const isCheapest = cost - costBound <= 1e-6 * Math.max(1, cost);
  const least = isCheapest ? "proven the least for as many" : `at least ${rounded(costBound)} for as many`;
  const seconds = length.seconds === null ? "" : `, about ${Math.ceil(length.seconds)} s`;
  const waves = counted(length.waves, "wave", "waves");
  const stops = bounces === 0 ? "" : `, ${counted(bounces, "stop", "stops")} on the way`;
  const work =
    moves.length === 0
      ? "Nothing has to move."
      : `${counted(moves.length, "move", "moves")} in ${waves}${stops}, cost ${rounded(cost)} (${least})${seconds}.`;
  return [
    `Goal ${plan.goal}: free GPUs ${before.freeGpus} -> ${after.freeGpus}. ${boundText(plan)}`,
    work,
    ...(plan.shortfall === null ? [] : [plan.shortfall]),
    ...(plan.nextGpuPrice === null ? [] : [`One more free GPU would cost about ${rounded(plan.nextGpuPrice)}.`]),
    `Free hosts ${before.freeHosts} -> ${after.freeHosts}. Fragmentation for what is held now ${percent(before.fragmentation)} -> ${percent(after.fragmentation)}.`,
    ...(moves.length === 0 ? [] : ["", ...table(["order", "profile", "from", "to"], moves.map(moveRow))]),
    ...capacityLines(plan),
  ].join("\n");
}
