/** The demo cluster: simulated hosts inside the app, reached over SSH as real ones are. Only the hardware is simulated. */
import type { Fault } from "./bin/faults.ts";
import { type ClusterSummary, describeCluster, summaryOf } from "./cluster/describe.ts";
import { HostServer } from "./cluster/host-server.ts";
import { newKeyPair } from "./cluster/keys.ts";
import { ClusterLife } from "./cluster/life.ts";
import type { SimulatedMachine } from "./driver/machine.ts";

export type { ClusterSummary, DescribedCluster, DescribedHost } from "./cluster/describe.ts";
export { describeCluster, summaryOf } from "./cluster/describe.ts";
export { inventoryOf } from "./cluster/inventory.ts";

export interface DemoClusterOptions {
  /** Default 24. */
  readonly hostCount?: number;
  /** The same seed gives the same cluster. */
  readonly seed?: number;
  /** Loads drift, work comes and goes, one host goes away now and then. Default true; tests want false. */
  readonly live?: boolean;
  /** Multiplies the time that changes take. Default 1; 0 is at once. Reading never waits. */
  readonly durationScale?: number;
}

export interface DemoHost {
  readonly name: string;
  readonly rack: string;
  readonly address: string;
  readonly port: number;
  readonly user: string;
  /** `ssh-ed25519 AAAA...` */
  readonly hostKey: string;
}

/** What can go wrong with one host, on request. */
export interface DemoHostControl {
  readonly machine: SimulatedMachine;
  /** Ends the connections without a goodbye; the host can be reached again at once. */
  cut(): void;
  /** SIGKILL for tessera-host on this host, as by an impatient administrator: what it had begun stays half done. */
  kill(): void;
  /** Refuses every connection until set to true again. */
  reachable(reachable: boolean): void;
  /** Says nothing any more, and keeps the connections. */
  hang(hanging: boolean): void;
  /** The next `nvidia-smi` whose arguments match fails; the driver's words are for you to choose. */
  failNext(match: string, exitStatus?: number, stdout?: string): void;
  /** Everything that `Fault` can say; replaces what was asked before. */
  setFaults(faults: readonly Fault[]): void;
  /** No byte more than this can be written; null is no limit. */
  freeBytes(bytes: number | null): void;
  /** Layouts are gone, the boot id is new; the host is away for so long. */
  reboot(awayMs?: number): Promise<void>;
  /** Nothing starts or ends by itself on this host from now on. */
  holdStill(): void;
}

export interface DemoCluster {
  readonly name: string;
  readonly hosts: readonly DemoHost[];
  /** Logs in on every host; made at the start, known to nobody else, never written anywhere. */
  readonly privateKey: string;
  /** As things stand now. */
  summary(): ClusterSummary;
  /** Throws RangeError for a name that is none of the hosts'. */
  control(name: string): DemoHostControl;
  close(): Promise<void>;
}

const user = "ops";
export const defaultDemoSeed = 6;

/** What the demo cluster holds at its start, for a terminal, without starting it. */
export function demoSummary(hostCount = 24, seed = defaultDemoSeed): ClusterSummary {
  return summaryOf(describeCluster(hostCount, seed));
}

export async function startDemoCluster(options: DemoClusterOptions = {}): Promise<DemoCluster> {
  const seed = options.seed ?? defaultDemoSeed;
  const cluster = describeCluster(options.hostCount ?? 24, seed);
  const login = newKeyPair();
  const scale = options.durationScale ?? 1;
  const servers = cluster.hosts.map(
    (host) =>
      new HostServer(host, {
        user,
        authorizedKey: login.publicKey,
        caller: { uid: 1000, user },
        delayMs: (argv, durationMs) => (isChange(argv) ? durationMs * scale : 0),
      }),
  );
  await Promise.all(servers.map((server) => server.listen()));
  const life = new ClusterLife(servers, seed);
  if (options.live ?? true) life.start();
  return {
    name: cluster.name,
    hosts: servers.map((server) => ({
      name: server.described.name,
      rack: server.described.rack,
      address: "127.0.0.1",
      port: server.port,
      user,
      hostKey: server.hostKey,
    })),
    privateKey: login.privateKey,
    summary: () => summaryOf(cluster),
    control: (name) => {
      const server = servers.find((candidate) => candidate.described.name === name);
      if (server === undefined) throw new RangeError(`the demo cluster has no host ${name}`);
      return controlOf(server, life);
    },
    close: async () => {
      life.stop();
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

function isChange(argv: readonly string[]): boolean {
  return argv.some((word) => /^(-cgi|-cci|-dgi|-dci|-mig|-r|--gpu-reset|-pm)$/.test(word));
}

function controlOf(server: HostServer, life: ClusterLife): DemoHostControl {
  const { machine, name } = server.described;
  return {
    machine,
    cut: () => server.cut(),
    kill: () => server.kill(),
    reachable: (reachable) => {
      server.refusing = !reachable;
    },
    hang: (hanging) => {
      server.hanging = hanging;
    },
    failNext: (match, exitStatus = 255, stdout = "Unknown Error\n") =>
      server.faults.set([{ match, occurrence: 1, action: { kind: "fail", exitStatus, stdout } }]),
    setFaults: (faults) => server.faults.set(faults),
    freeBytes: (bytes) => {
      server.files.freeBytes = bytes;
    },
    reboot: async (awayMs = 1_000) => {
      server.refusing = true;
      server.kill();
      machine.reboot();
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      server.refusing = false;
    },
    holdStill: () => life.holdStill(name),
  };
}
