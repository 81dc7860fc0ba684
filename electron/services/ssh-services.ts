/** Brings clusters to hosts over SSH: the transport, the deployment of tessera-host, and questions on the way. */
import type { SshAlias } from "../../shared/api/contract.ts";
import type { ConnectTarget, HostConnector } from "./clusters/connector.ts";
import { HostArtifacts } from "./deploy/artifacts.ts";
import { HostConnections } from "./deploy/connect-host.ts";
import type { Prompts } from "./prompts/prompts.ts";
import type { SecretStore } from "./secrets/secrets.ts";
import { SshConfigResolver } from "./ssh/config/resolve.ts";
import type { SshTarget } from "./ssh/interfaces.ts";
import { Ssh2Transport } from "./ssh/transport.ts";
import type { TroubleLog } from "./troubleshooting/events.ts";

export interface SshServices {
  /** Hosts by what the operator wrote. */
  readonly connector: HostConnector;
  /** The same, for hosts whose address is known otherwise. */
  connectorTo(targetOf: (target: ConnectTarget) => Promise<SshTarget>): HostConnector;
  aliases(): Promise<readonly SshAlias[]>;
  close(): void;
}

export interface SshServicesOptions {
  readonly prompts: Prompts;
  readonly secrets: SecretStore;
  readonly trouble: TroubleLog;
  readonly version: string;
  /** Where `host-module/` and `runtimes/` stand. */
  readonly resourcesDirectory: string;
}

export function sshServices({
  prompts,
  secrets,
  trouble,
  version,
  resourcesDirectory,
}: SshServicesOptions): SshServices {
  const resolver = new SshConfigResolver();
  const transport = new Ssh2Transport({ secrets, resolver });
  const connections = new HostConnections(transport, new HostArtifacts(resourcesDirectory, version));

  const connectorTo = (targetOf: (target: ConnectTarget) => Promise<SshTarget>): HostConnector => ({
    connect: async (target, phase, signal) => {
      let uploadBegan: number | null = null;
      const session = await connections.connectHost(await targetOf(target), {
        signal,
        onPhase: phase,
        onUpload: () => {
          uploadBegan ??= performance.now();
        },
        // The question says the host that it is about, which behind a bastion is the bastion.
        prompter: { ask: (question, until) => prompts.ask({ ...question, clusterId: target.clusterId }, until) },
        ...(target.keepaliveSeconds === undefined ? {} : { keepaliveSeconds: target.keepaliveSeconds }),
      });
      if (uploadBegan !== null) {
        const durationMs = performance.now() - uploadBegan;
        trouble.add({ level: "info", host: target.hostId, what: "Installing tessera-host", durationMs });
      }
      return session;
    },
  });

  return {
    connector: connectorTo(async ({ destination }) => ({ kind: "name", name: destination })),
    connectorTo,
    aliases: () => resolver.aliases(),
    close: () => transport.close(),
  };
}
