/** The built-in cluster of simulated hosts: started when it is first connected, reached over SSH as any other. */
import type { BuiltInCluster } from "./clusters/clusters.ts";
import type { SshServices } from "./ssh-services.ts";
import { FakeHost, fakeConnector } from "./testing/fake-hosts.ts";
import { wish } from "./testing/fake-inventory.ts";
import type { TroubleLog } from "./troubleshooting/events.ts";

export interface Demo {
  readonly cluster: BuiltInCluster;
  close(): Promise<void>;
}

export function demoCluster(_ssh: SshServices, _trouble: TroubleLog): Demo {
  const hosts = ["r1-gpu01", "r1-gpu02", "r2-gpu01", "r2-gpu02"].map(
    (name) =>
      new FakeHost(name, [
        wish("3g.40gb@4", "1g.10gb@0"),
        wish("2g.20gb@0"),
        wish(),
        { migEnabled: false, instances: [] },
      ]),
  );
  return {
    cluster: {
      id: "demo",
      draft: { name: "demo", hosts: hosts.map((host) => host.name), racks: { kind: "pattern", pattern: "^(r\\d+)-" } },
      connector: fakeConnector(hosts),
    },
    close: async () => undefined,
  };
}
