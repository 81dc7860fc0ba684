import { expect, test } from "vitest";
import { slurmdOf } from "./slurmd.ts";

const usual = ["/etc/slurm", "/etc/slurm-llnl", "/usr/local/etc/slurm", "/run/slurm/conf"];

test.each([
  [["/usr/sbin/slurmd", "-D"], null, "gpu7.example", { nodeName: "gpu7", configurationDirectories: usual }],
  [["slurmd", "-N", "g1"], null, "gpu7", { nodeName: "g1", configurationDirectories: usual }],
  [
    ["slurmd", "-Ng1", "-f/opt/s/slurm.conf"],
    null,
    "h",
    { nodeName: "g1", configurationDirectories: ["/opt/s", ...usual] },
  ],
  [["slurmd"], "/srv/slurm/a.conf", "h", { nodeName: "h", configurationDirectories: ["/srv/slurm", ...usual] }],
  [["slurmd", "-f", "a.conf"], null, "h", { nodeName: "h", configurationDirectories: usual }],
  [["slurmd", "--conf-server", "ctl"], null, "h", { nodeName: "h", configurationDirectories: ["/run/slurm/conf"] }],
  [[], null, "h", { nodeName: "h", configurationDirectories: usual }],
])("%j", (words, slurmConf, hostName, expected) => {
  expect(slurmdOf(words, slurmConf, hostName)).toEqual(expected);
});
