/** The demo cluster: simulated hosts inside the app, reached over SSH as real ones are. Only the hardware is simulated. */
import { AppError } from "../../shared/errors.ts";
import { putRoles } from "../host-module/src/access/copy.ts";
import type { Caller } from "../host-module/src/system.ts";
import type { Fault } from "./bin/faults.ts";
import { type ClusterSummary, describeCluster, summaryOf } from "./cluster/describe.ts";
import { demoEngine } from "./cluster/engine.ts";
import { governDemo } from "./cluster/governance.ts";
import { HostServer } from "./cluster/host-server.ts";
import { newKeyPair } from "./cluster/keys.ts";
import { ClusterLife } from "./cluster/life.ts";
import { users } from "./cluster/people.ts";
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
  /** As whom one logs in, a user of the cluster; default its operator, who administers it. */
  readonly caller?: string;
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
const operator = { uid: 1000, user };
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
  const governance = governDemo(seed, operator, new Date());
  const machines = cluster.hosts.map(({ machine }) => machine);
  const governed = { ledgerPath: governance.ledgerPath, engine: demoEngine(machines, governance) };
  const caller = callerNamed(options.caller ?? operator.user);
  const servers = cluster.hosts.map(
    (host, index) =>
      new HostServer(host, {
        user,
        authorizedKey: login.publicKey,
        caller,
        ...(index === 0 ? { governed } : {}),
        delayMs: (argv, durationMs) => (isChange(argv) ? durationMs * scale : 0),
      }),
  );
  // As an administrator's console would have sent them.
  await Promise.all(servers.slice(1).map((server) => putRoles(server.system(), governance.roles)));
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
      governance[Symbol.dispose]();
    },
  };
}

/** Throws AppError `bad-request` for a name that is none of the users'. */
function callerNamed(name: string): Caller {
  const found = users.find((each) => each.name === name);
  if (found === undefined) {
    throw new AppError({
      code: "bad-request",
      message: `The demo cluster has no user ${JSON.stringify(name)}.`,
      remedy: `It has ${users.map((each) => each.name).join(", ")}.`,
    });
  }
  return { uid: found.uid, user: found.name };
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
