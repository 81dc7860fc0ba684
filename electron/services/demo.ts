/** The built-in cluster of simulated hosts: started when it is first connected, reached over SSH as any other. */
import type { BuiltInCluster } from "./clusters/clusters.ts";
import type { SshServices } from "./ssh-services.ts";
import type { TroubleLog } from "./troubleshooting/events.ts";

export interface Demo {
  readonly cluster: BuiltInCluster;
  close(): Promise<void>;
}

export function demoCluster(ssh: SshServices, _trouble: TroubleLog): Demo {
  return {
    cluster: {
      id: "demo",
      draft: { name: "demo", hosts: ["demo-01"], racks: { kind: "none" } },
      connector: ssh.connector,
    },
    close: async () => undefined,
  };
}
