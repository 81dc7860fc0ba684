/**
 * The browser console over hosts that are only data: `node electron/services/testing/console.ts [HOSTS] [PORT]`.
 * For working on pages and measuring them at a size that no machine can simulate in full.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Layout } from "../../../shared/mig/types.ts";
import { startWeb } from "../../web/console.ts";
import { FakeHost, fakeConnector } from "./fake-hosts.ts";
import { wish } from "./fake-inventory.ts";

const layouts: readonly Layout[] = [
  wish("3g.40gb@4", "1g.10gb@0"),
  wish(...[0, 1, 2, 3, 4, 5, 6].map((start) => `1g.10gb@${start}`)),
  wish("2g.20gb@0"),
  wish(),
  { migEnabled: false, instances: [] },
  wish("7g.80gb@0"),
  wish("4g.40gb@0", "3g.40gb@4"),
  wish("1g.10gb@0", "2g.20gb@2", "1g.10gb@4", "1g.10gb@6"),
];

const hostCount = Number(process.argv[2] ?? 24);
const hosts = Array.from(
  { length: hostCount },
  (_, index) =>
    new FakeHost(
      `r${String(Math.floor(index / 8) + 1).padStart(3, "0")}-gpu${(index % 8) + 1}`,
      layouts.map((_layout, gpu) => layouts[(gpu + index) % layouts.length] ?? wish()),
    ),
);
const web = await startWeb({
  port: Number(process.argv[3] ?? 0),
  demo: false,
  dataDirectory: mkdtempSync(join(tmpdir(), "tessera-fake-")),
  say: (text) => process.stdout.write(`${text}\n`),
  services: { connector: fakeConnector(hosts) },
});
const racks = { kind: "pattern", pattern: "^(r\\d+)-" } as const;
const { id } = web.services.clusters.add({ name: "fake", hosts: hosts.map((host) => host.name), racks });
web.services.clusters.get(id).connect();
