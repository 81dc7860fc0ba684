/** Brings clusters to hosts over SSH: the transport, the deployment of tessera-host, and questions on the way. */
import type { SshAlias } from "../../shared/api/contract.ts";
import { AppError } from "../../shared/errors.ts";
import type { HostConnector } from "./clusters/connector.ts";
import type { Prompts } from "./prompts/prompts.ts";
import type { SecretStore } from "./secrets/secrets.ts";

export interface SshServices {
  readonly connector: HostConnector;
  aliases(): Promise<readonly SshAlias[]>;
  close(): void;
}

export interface SshServicesOptions {
  readonly prompts: Prompts;
  readonly secrets: SecretStore;
  readonly version: string;
}

export function sshServices(_options: SshServicesOptions): SshServices {
  return {
    connector: {
      connect: async () => {
        throw new AppError({ code: "ssh-unsupported", message: "SSH is not wired up yet.", remedy: "" });
      },
    },
    aliases: async () => [],
    close: () => undefined,
  };
}
