import { expect, test } from "vitest";
import { capturedSystem } from "../testing/captured-system.ts";
import { associationColumns } from "./associations-text.ts";
import { commandsFor } from "./commands.ts";
import { SlurmReader } from "./reader.ts";

const env = "env TZ=UTC SLURM_TIME_FORMAT=standard";
const assoc = `${env} sacctmgr -P show assoc format=${associationColumns}`;
const json = `${env} sacctmgr show assoc --json`;
const version = `${env} sinfo --version`;

test("text is enough where all of it can be read", async () => {
  const system = capturedSystem({ runs: { [assoc]: "Cluster|Account|User\nc|t1|\n" } });
  const { facts, unread } = await new SlurmReader(system).associations();
  expect([facts?.map(({ account }) => account), unread, system.calls]).toEqual([["t1"], [], [assoc]]);
});

test("JSON is asked for what text cannot say, where the release has it", async () => {
  const runs = {
    [assoc]: "Cluster|Account|User\nc|t1|\nc|a|b|\n",
    [json]:
      '{"associations": [{"cluster": "c", "account": "t1"}, {"cluster": "c", "account": "a|b"}], "meta": {"plugin": {"data_parser": "data_parser/v0.0.40"}}}',
  };
  const namesAt = async (release: string) => {
    const { facts, unread } = await new SlurmReader(
      capturedSystem({ runs: { ...runs, [version]: release } }),
    ).associations();
    return [facts?.map(({ account }) => account), unread.length];
  };
  expect(await namesAt("slurm 23.11.11")).toEqual([["t1", "a|b"], 0]);
  expect(await namesAt("slurm-wlm 22.05.8")).toEqual([["t1"], 1]);
});

test("text where JSON was asked for leaves the text's facts", async () => {
  const text = "Cluster|Account|User\nc|t1|\nc|a|b|\n";
  const system = capturedSystem({ runs: { [assoc]: text, [json]: text, [version]: "slurm 25.11.7" } });
  const { facts, unread } = await new SlurmReader(system).associations();
  expect([facts?.length, unread.map(({ raw }) => raw)]).toEqual([1, ["c|a|b|"]]);
});

test("a tool that fails gives no facts, and its words: never an empty list", async () => {
  const words = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)";
  const system = capturedSystem({ runs: { [`${env} scontrol show job -d`]: { stderr: `${words}\n`, exitStatus: 1 } } });
  const reader = new SlurmReader(system);
  expect(await reader.jobs()).toEqual({
    facts: null,
    unread: [{ source: "scontrol show job -d", field: "", reason: "exit status 1", raw: words }],
  });
  expect((await reader.nodes()).facts).toBeNull();
});

test("settings of both daemons, and of the file beside slurm.conf", async () => {
  const system = capturedSystem({
    runs: {
      [`${env} scontrol show config`]: "ClusterName = c\nPrivateData = jobs\nSLURM_CONF = /srv/slurm/slurm.conf\n",
      [`${env} sacctmgr show config`]: "PrivateData = none\n\nSlurmDBD configuration:\nPrivateData = users\n",
    },
    files: { "/srv/slurm/cgroup.conf": "ConstrainDevices=yes\n" },
  });
  const { facts, unread } = await new SlurmReader(system).settings();
  expect([facts?.cluster, facts?.privateData, facts?.dbdPrivateData, facts?.constrainDevices, unread]).toEqual([
    "c",
    ["jobs"],
    ["users"],
    true,
    [],
  ]);
});

test("slurmdbd does not answer: its settings are not known, the others are", async () => {
  const system = capturedSystem({
    runs: {
      [`${env} scontrol show config`]: "ClusterName = c\n",
      [`${env} sacctmgr show config`]: {
        stdout: "PrivateData = none\n",
        stderr: "sacctmgr: error: Sending PersistInit msg: Connection refused\n",
      },
    },
  });
  const { facts } = await new SlurmReader(system).settings();
  expect([facts?.cluster, facts?.dbdPrivateData, facts?.constrainDevices]).toEqual(["c", null, null]);
});

test("a change is run as it is, and its answer read", async () => {
  const [command] = commandsFor([{ kind: "add-qos", qos: "t1_own" }], "c");
  const system = capturedSystem({
    runs: { "sacctmgr -i add qos name=t1_own": { stdout: " Nothing new added.\n", exitStatus: 1 } },
  });
  if (command === undefined) throw new Error("no command");
  expect(await new SlurmReader(system).change(command)).toMatchObject({ outcome: "nothing-to-do", reason: "exists" });
});
