/**
 * Puts the services together. The same for the desktop window (in a utility process), the browser and the command
 * line; what differs comes in as options. Nothing here connects to anything until a handler is asked to.
 */
import { join } from "node:path";
import type { DemoClusterOptions } from "../../resources/demo-cluster/index.ts";
import type { AppInfo, ClusterInfo } from "../../shared/api/contract.ts";
import type { AppErrorData } from "../../shared/errors.ts";
import type { Handlers } from "./api/handlers.ts";
import { builtDirectory } from "./built-directory.ts";
import { Clusters } from "./clusters/clusters.ts";
import type { HostConnector } from "./clusters/connector.ts";
import { parseClusterFile } from "./clusters/parse-file.ts";
import { Control } from "./control/control.ts";
import { controlHandlers } from "./control/handlers.ts";
import { type Demo, demoCluster } from "./demo.ts";
import { Partition } from "./partition/partition.ts";
import { Prompts } from "./prompts/prompts.ts";
import { openSecrets, type SecretSeal } from "./secrets/secrets.ts";
import { sshServices } from "./ssh-services.ts";
import { defaultDataDirectory } from "./store/data-directory.ts";
import { openStore } from "./store/store.ts";
import { TroubleLog } from "./troubleshooting/events.ts";

export interface ServicesOptions {
  readonly version: string;
  readonly desktop: boolean;
  /** Whether the simulated cluster is offered. It is started when it is first connected. */
  readonly demo: boolean;
  readonly dataDirectory?: string;
  /** Where what is carried to hosts stands: dist/ by default, the resources folder of a package. */
  readonly resourcesDirectory?: string;
  /** The desktop's keyring; null where there is none. */
  readonly seal?: SecretSeal | null;
  /** How many simulated hosts, and how lively; for tests. */
  readonly demoOptions?: DemoClusterOptions;
  /** Instead of SSH, for tests. */
  readonly connector?: HostConnector;
}

export interface Services {
  readonly handlers: Handlers;
  readonly clusters: Clusters;
  readonly partition: Partition;
  readonly prompts: Prompts;
  readonly trouble: TroubleLog;
  readonly demo: Demo | null;
  /** Why what is added now is gone when the console ends; null when all is kept. */
  storeTrouble(): AppErrorData | null;
  /** Ends connections, keeps what is to be kept, stops the demo. */
  close(): Promise<void>;
}

export function startServices(options: ServicesOptions): Services {
  const directory = options.dataDirectory ?? defaultDataDirectory();
  const trouble = new TroubleLog();
  const store = openStore(directory, (error) => trouble.add({ level: "error", what: "Local store", error }));
  const prompts = new Prompts();
  const secrets = openSecrets(options.seal ?? null, join(directory, "secrets.json"));
  const ssh = sshServices({
    prompts,
    secrets,
    trouble,
    version: options.version,
    resourcesDirectory: options.resourcesDirectory ?? builtDirectory(),
  });
  const demo = options.demo ? demoCluster(ssh, trouble, options.demoOptions) : null;
  const clusters = new Clusters(
    store,
    options.connector ?? ssh.connector,
    trouble,
    demo === null ? [] : [demo.cluster],
  );
  const partition = new Partition(clusters, trouble);
  const control = new Control(clusters, trouble);
  const info = (): AppInfo => ({
    version: options.version,
    platform: process.platform,
    desktop: options.desktop,
    secrets: secrets.kind,
    demo: demo !== null,
    storeTrouble: store.trouble,
  });

  const handlers: Handlers = {
    "app.info": info,
    "settings.get": () => store.settings(),
    "settings.set": (settings) => {
      store.putSettings(settings);
      return settings;
    },

    "clusters.list": () => clusters.list(),
    "clusters.add": (draft) => clusters.add(draft),
    "clusters.get": ({ clusterId }) => clusters.get(clusterId).draft,
    "clusters.update": ({ clusterId, draft }) => clusters.update(clusterId, draft),
    "clusters.remove": async ({ clusterId }) => {
      await clusters.remove(clusterId);
      return null;
    },
    "clusters.connect": ({ clusterId }) => {
      clusters.get(clusterId).connect();
      return null;
    },
    "clusters.disconnect": async ({ clusterId }) => {
      await clusters.get(clusterId).disconnect();
      return null;
    },
    "clusters.retry": ({ clusterId, hostId }) => {
      clusters.get(clusterId).host(hostId).retry();
      return null;
    },
    "clusters.sshAliases": () => ssh.aliases(),
    "clusters.parseFile": ({ name, content }) => parseClusterFile(name, content),

    snapshot: ({ clusterId }, emit, signal) => clusters.get(clusterId).publisher.subscribe(emit, signal),
    prompts: (_input, emit, signal) => prompts.subscribe(emit, signal),
    "prompts.answer": ({ promptId, answer }) => {
      prompts.answer(promptId, answer);
      return null;
    },

    "partition.plan": (draft, signal) => partition.plan(draft, signal),
    "partition.apply": (draft, progress, signal) => partition.apply(draft, progress, signal),
    "partition.undo": (input, progress, signal) => partition.undo(input, progress, signal),
    "partition.recover": (input, progress, signal) => partition.recover(input, progress, signal),
    "partition.restore": (input, progress, signal) => partition.restore(input, progress, signal),
    "partition.save": ({ clusterId, hostId }, signal) => partition.save(clusterId, hostId, signal),
    "partition.status": ({ clusterId, hostId }, signal) => partition.status(clusterId, hostId, signal),
    "host.doctor": ({ clusterId, hostId }, signal) =>
      clusters.get(clusterId).host(hostId).link().request("doctor", {}, signal),

    ...controlHandlers(control),

    "troubleshooting.events": (_input, emit, signal) => trouble.subscribe(emit, signal),
  };

  return {
    handlers,
    clusters,
    partition,
    prompts,
    trouble,
    demo,
    storeTrouble: () => store.trouble,
    close: async () => {
      await clusters.close();
      ssh.close();
      await demo?.close();
      store.close();
    },
  };
}

/** The cluster that a start option names. Throws `not-found`. */
export function clusterNamed(services: Services, name: string): ClusterInfo {
  return services.clusters.named(name).info();
}
