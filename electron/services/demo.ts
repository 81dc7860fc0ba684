/** The built-in cluster of simulated hosts: started when it is first connected, reached over SSH as any other. */
import {
  type DemoCluster,
  type DemoClusterOptions,
  defaultDemoSeed,
  describeCluster,
  startDemoCluster,
} from "../../resources/demo-cluster/index.ts";
import type { ClusterDraft } from "../../shared/api/contract.ts";
import { AppError } from "../../shared/errors.ts";
import type { BuiltInCluster } from "./clusters/clusters.ts";
import type { SshServices } from "./ssh-services.ts";
import type { TroubleLog } from "./troubleshooting/events.ts";

export interface Demo {
  readonly cluster: BuiltInCluster;
  /** Starts it where that has not happened; for tests that break a host on purpose. */
  running(): Promise<DemoCluster>;
  close(): Promise<void>;
}

const defaultHostCount = 24;

export function demoCluster(ssh: SshServices, trouble: TroubleLog, options: DemoClusterOptions = {}): Demo {
  const hostCount = options.hostCount ?? defaultHostCount;
  const seed = options.seed ?? defaultDemoSeed;
  let started: Promise<DemoCluster> | null = null;
  const running = (): Promise<DemoCluster> => {
    started ??= trouble.timed("Starting the demo cluster", null, () =>
      startDemoCluster({ ...options, hostCount, seed }),
    );
    return started;
  };
  const connector = ssh.connectorTo(async ({ destination }) => {
    const demo = await running();
    const host = demo.hosts.find((candidate) => candidate.name === destination);
    if (host === undefined) {
      throw new AppError({ code: "not-found", message: `The demo cluster has no host ${destination}.`, remedy: "" });
    }
    const { name, address, port, user, hostKey } = host;
    return { kind: "direct", settings: { name, address, port, user, privateKey: demo.privateKey, hostKey } };
  });
  return {
    cluster: { id: "demo", draft: draftOf(hostCount, seed), connector },
    running,
    close: async () => {
      const demo = await started?.catch(() => null);
      await demo?.close();
    },
  };
}

function draftOf(hostCount: number, seed: number): ClusterDraft {
  const { hosts } = describeCluster(hostCount, seed);
  return {
    name: "demo",
    hosts: hosts.map((host) => host.name),
    racks: { kind: "map", racks: Object.fromEntries(hosts.map((host) => [host.name, host.rack])) },
  };
}
