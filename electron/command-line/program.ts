/** `tessera` for scripts: the console's own services, one command at a time. */
import { Command, CommanderError } from "commander";
import type { HostApplyResult, HostPlanResult, PartitionDraft } from "../../shared/api/contract.ts";
import type { ClusterSnapshot, HostView } from "../../shared/api/snapshot.ts";
import { AppError, toErrorData } from "../../shared/errors.ts";
import { commandsOf, describeStep, layoutOf, layoutVersion } from "../../shared/mig/index.ts";
import type { Cluster } from "../services/clusters/cluster.ts";
import { expandHostList } from "../services/clusters/destination.ts";
import { type Services, type ServicesOptions, startServices } from "../services/main.ts";
import { version } from "../version.ts";
import { errorText, runWeb } from "../web/console.ts";
import { isSettled, summaryOf, table } from "../web/summary.ts";
import { answerAtTerminal } from "./ask.ts";
import { layoutWords, parseLayoutWords } from "./layout-words.ts";
import { processTerminal, readerGoneStatus, type Terminal } from "./terminal.ts";

interface Common {
  readonly dataDirectory?: string;
  readonly json?: boolean;
}

interface OnHost extends Common {
  readonly cluster: string;
  readonly host: string;
}

interface OnGpu extends OnHost {
  readonly gpu: string;
  readonly layout: string;
}

/** Answers the exit status: 0 done, 1 failed, 2 wrong usage. */
export async function runCommandLine(
  argv: readonly string[],
  ownTerminal?: Terminal,
  replaced: Partial<ServicesOptions> = {},
): Promise<number> {
  // `web` has its own options and its own end, and goes on when nobody reads.
  if (argv[0] === "web") return runWeb(argv.slice(1));
  const terminal = ownTerminal ?? processTerminal();
  let status = 0;
  let asJson = false;
  const say = (text: string): void => terminal.out(`${text}\n`);

  const withServices = async (common: Common, work: (services: Services, signal: AbortSignal) => Promise<void>) => {
    const stop = new AbortController();
    const gone = terminal.readerGone;
    const signal = gone === undefined ? stop.signal : AbortSignal.any([stop.signal, gone]);
    const interrupt = (): void => stop.abort();
    process.once("SIGINT", interrupt);
    process.once("SIGTERM", interrupt);
    asJson = common.json === true;
    const services = startServices({
      version,
      desktop: false,
      demo: true,
      ...(common.dataDirectory === undefined ? {} : { dataDirectory: common.dataDirectory }),
      ...replaced,
    });
    try {
      answerAtTerminal(services.prompts, signal);
      await work(services, signal);
    } finally {
      process.off("SIGINT", interrupt);
      process.off("SIGTERM", interrupt);
      await services.close();
    }
  };

  const program = new Command("tessera")
    .description("The console for GPU clusters, for scripts.")
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.error });

  program.command("web").description("opens the console in a browser; web --help says its options").helpOption(false);

  common(program.command("clusters").description("the clusters that this user has")).action((options: Common) =>
    withServices(options, async ({ clusters }) => {
      const list = clusters.list();
      if (options.json === true) return say(JSON.stringify(list, null, 2));
      say(
        table([["NAME", "KIND", "HOSTS"], ...list.map((one) => [one.name, one.kind, String(one.hostCount)])]).join(
          "\n",
        ),
      );
    }),
  );

  common(
    program
      .command("add")
      .description("adds a cluster: aliases of ssh config, [user@]host[:port], or lists as gpu[01-24]"),
  )
    .argument("<name>")
    .argument("<hosts...>")
    .action((name: string, hosts: string[], options: Common) =>
      withServices(options, async ({ clusters, storeTrouble }) => {
        if (name.trim() === "") {
          throw new AppError({
            code: "bad-request",
            message: "A cluster needs a name.",
            remedy: "Name it first, then its hosts.",
          });
        }
        const info = clusters.add({ name, hosts: hosts.flatMap(expandHostList), racks: { kind: "none" } });
        // The console would show the trouble and work on in memory; here the memory ends with the command.
        const trouble = storeTrouble();
        if (trouble !== null) throw new AppError(trouble);
        const count = info.hostCount === 1 ? "1 host" : `${info.hostCount} hosts`;
        say(options.json === true ? JSON.stringify(info, null, 2) : `Added ${info.name} with ${count}.`);
      }),
    );

  common(program.command("inventory").description("connects, reads every host, and shows what there is"))
    .requiredOption("--cluster <name>")
    .action((options: Common & { readonly cluster: string }) =>
      withServices(options, async ({ clusters }, signal) => {
        const cluster = clusters.named(options.cluster);
        cluster.connect();
        const snapshot = await settled(cluster, isSettled, signal);
        say(options.json === true ? JSON.stringify(snapshot, null, 2) : summaryOf(snapshot));
        for (const host of snapshot.hosts) {
          const failure = failureOf(host);
          if (failure === null) continue;
          status = 1;
          terminal.error(`${host.name}: ${failure}\n`);
        }
      }),
    );

  onGpu(
    common(program.command("plan").description("what would be done, step by step, with the exact commands")),
  ).action((options: OnGpu) =>
    withServices(options, async (services, signal) => {
      const draft = await draftFrom(services, options, signal);
      const results = await services.partition.plan(draft, signal);
      if (options.json === true) say(JSON.stringify(results, null, 2));
      else for (const result of results) say(planText(result));
      if (results.some((result) => !result.ok)) status = 1;
    }),
  );

  onGpu(
    common(
      program
        .command("apply")
        .description(
          "plans and applies; Ctrl-C, or a reader of the output that goes away, stops between steps and rolls back",
        ),
    ),
  ).action((options: OnGpu) =>
    withServices(options, async (services, signal) => {
      const draft = await draftFrom(services, options, signal);
      const progress = options.json === true ? () => undefined : showStep(say);
      const results = await services.partition.apply(draft, progress, signal);
      status = conclude(results, options, say);
    }),
  );

  onHost(common(program.command("undo").description("takes an operation back")))
    .requiredOption("--operation <id>", "as apply printed it")
    .action((options: OnHost & { readonly operation: string }) =>
      withServices(options, async (services, signal) => {
        const cluster = services.clusters.named(options.cluster);
        const host = await liveHost(cluster, options.host, signal);
        const results = await services.partition.undo(
          { clusterId: cluster.id, operations: [{ hostId: host.id, operationId: options.operation }] },
          options.json === true ? () => undefined : showStep(say),
          signal,
        );
        const inWords = cluster.kind === "demo" ? results.map(withDemoRemedy) : results;
        status = conclude(inWords, options, say);
      }),
    );

  try {
    await program.parseAsync([...argv], { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const data = toErrorData(error);
    if (data.code === "cancelled" && terminal.readerGone?.aborted === true) return readerGoneStatus;
    if (asJson) say(JSON.stringify({ error: data }, null, 2));
    terminal.error(`${errorText(data)}\n`);
    return 1;
  }
}

function common(command: Command): Command {
  return command
    .option("--json", "as JSON")
    .option("--data-directory <directory>", "where clusters and the last known state are kept");
}

function onHost(command: Command): Command {
  return command.requiredOption("--cluster <name>").requiredOption("--host <name>");
}

function onGpu(command: Command): Command {
  return onHost(command)
    .requiredOption("--gpu <gpu>", "index or UUID")
    .requiredOption(
      "--layout <layout>",
      "profiles with an optional memory slice: 3g.40gb@4,1g.10gb; empty for none; off to disable MIG mode",
      layoutWords,
    );
}

/** Waits until the whole cluster is as far as it comes. */
function settled(
  cluster: Cluster,
  done: (snapshot: ClusterSnapshot) => boolean,
  signal: AbortSignal,
): Promise<ClusterSnapshot> {
  const watch = new AbortController();
  return new Promise<ClusterSnapshot>((resolve, reject) => {
    const interrupted = (): void => reject(new AppError({ code: "cancelled", message: "Interrupted.", remedy: "" }));
    if (signal.aborted) return interrupted();
    signal.addEventListener("abort", interrupted);
    cluster.publisher.subscribe(() => {
      const snapshot = cluster.publisher.current();
      if (done(snapshot)) resolve(snapshot);
    }, watch.signal);
  }).finally(() => watch.abort());
}

/** Connects only that host. Throws why it does not become live. */
async function liveHost(cluster: Cluster, name: string, signal: AbortSignal): Promise<HostView> {
  const known = cluster.publisher.current().hosts.find((host) => host.id === name || host.name === name);
  const manager = cluster.host(known?.id ?? name);
  manager.connect();
  await settled(cluster, () => !["not-connected", "connecting", "loading"].includes(manager.view().state.kind), signal);
  const view = manager.view();
  if (view.state.kind === "unreachable" || view.state.kind === "refused") throw new AppError(view.state.error);
  return view;
}

async function draftFrom(services: Services, options: OnGpu, signal: AbortSignal): Promise<PartitionDraft> {
  const cluster = services.clusters.named(options.cluster);
  const host = await liveHost(cluster, options.host, signal);
  const gpu = host.inventory?.gpus.find((one) => one.uuid === options.gpu || String(one.index) === options.gpu);
  if (gpu === undefined) {
    throw new AppError({
      code: "not-found",
      message: `${host.name} has no GPU '${options.gpu}'.`,
      remedy: "Give its index or UUID, as nvidia-smi -L prints them.",
    });
  }
  const geometry = gpu.geometry === null ? undefined : host.inventory?.geometries[gpu.geometry];
  if (geometry === undefined) {
    throw new AppError({ code: "illegal-layout", message: `${gpu.name} cannot be divided.`, remedy: "" });
  }
  const layout = parseLayoutWords(options.layout, geometry);
  const instances = layout.instances.map(({ profileId, start }) => ({ profileId, start }));
  const basedOn = layoutVersion(layoutOf(gpu, geometry));
  const wanted = { gpuUuid: gpu.uuid, layout: { migEnabled: layout.migEnabled, instances }, basedOn };
  return { clusterId: cluster.id, hosts: [{ hostId: host.id, gpus: [wanted] }] };
}

function showStep(say: (text: string) => void): Parameters<Services["partition"]["apply"]>[1] {
  return (progress) => {
    if (progress.kind !== "step" || progress.progress.outcome.kind === "started") return;
    const { step, stepIndex, stepCount, outcome, rollingBack } = progress.progress;
    const way = rollingBack ? "rolling back " : "";
    say(`${progress.hostId}: ${way}${stepIndex + 1}/${stepCount} ${describeStep(step)}: ${outcome.kind}`);
  };
}

function planText(result: HostPlanResult): string {
  if (!result.ok) return `${result.hostId}: ${errorText(result.error)}`;
  return result.plan.gpus
    .flatMap((gpu) => [
      `${result.hostId} GPU ${gpu.gpuIndex} (${gpu.gpuName}): ${gpu.steps.length === 0 ? "nothing to do" : ""}`.trimEnd(),
      ...gpu.steps.flatMap((step, index) => [
        `  ${index + 1}. ${describeStep(step)}`,
        ...commandsOf(step, gpu.gpuUuid).map((command) => `     ${command.join(" ")}`),
      ]),
      ...gpu.kept.map((kept) => `  kept: GPU instance ${kept.id ?? "?"} at ${kept.start}`),
    ])
    .join("\n");
}

/** Every call starts a demo of its own, whose journal knows none of the operations before. */
function withDemoRemedy(result: HostApplyResult): HostApplyResult {
  if (result.ok || result.error.code !== "not-found") return result;
  const remedy =
    "The demo lives only as long as the console that started it, and every call of tessera starts a new one: undo in the window, or use a real cluster.";
  return { ...result, error: { ...result.error, remedy } };
}

function conclude(results: readonly HostApplyResult[], options: Common, say: (text: string) => void): number {
  if (options.json === true) say(JSON.stringify(results, null, 2));
  else
    for (const result of results) {
      const operation =
        result.ok && result.result.operationId !== null ? ` (operation ${result.result.operationId})` : "";
      say(`${result.hostId}: ${result.ok ? `${result.result.outcome}${operation}` : errorText(result.error)}`);
    }
  const good = (result: HostApplyResult): boolean =>
    result.ok && ["applied", "unchanged"].includes(result.result.outcome);
  return results.every(good) ? 0 : 1;
}

function failureOf(host: HostView): string | null {
  const { state } = host;
  return state.kind === "unreachable" || state.kind === "refused" ? errorText(state.error) : null;
}
