/**
 * Asks a host's Slurm, through `System`. Text comes first, also where there is JSON: an association is 100 bytes of text
 * and 2.5 KB of JSON, a job 1.4 KB and 18 KB (26.05), and 20,000 people are read often. Where the text leaves something
 * unread (an account called `a|b`, a job's name that looks like another key) and the release has JSON, JSON is asked.
 */
import type { RunResult, System } from "../system.ts";
import { readAnswer, type SlurmAnswer } from "./answers.ts";
import { type AssociationManager, readAssociationManager } from "./assoc-mgr.ts";
import type { Association, Qos, SlurmAccount, SlurmUser } from "./associations.ts";
import { readAccountsJson, readAssociationsJson, readUsersJson } from "./associations-json.ts";
import { associationColumns, readAccounts, readAssociations, readQos, readUsers } from "./associations-text.ts";
import type { SlurmCommand } from "./commands.ts";
import { readConfig, readConfigFile, type SlurmSettings, settingsOf } from "./config.ts";
import { readJobs, readJobsJson, type SlurmJob } from "./jobs.ts";
import { readNodes, readNodesJson, type SlurmNode } from "./nodes.ts";
import { readPartitions, type SlurmPartition } from "./partitions.ts";
import { linesOf, type ReadOptions, type SlurmFacts, type Unread } from "./reading.ts";
import {
  readTransactions,
  readTresIds,
  type SlurmTransaction,
  type TransactionDays,
  transactionConditions,
} from "./transactions.ts";
import { capabilities, type JsonCommand, readVersion, type SlurmCapabilities, type SlurmVersion } from "./version.ts";

/** slurmctld answers within its MessageTimeout, ten seconds, and tools try again. */
const readTimeoutMs = 60_000;
/** A change that is over this is killed, and its outcome is unknown. */
const changeTimeoutMs = 120_000;
const maxOutputBytes = 256 * 1024 * 1024;

/** Times without a zone are then UTC, and formats of the caller's environment have no say. */
const environment = ["env", "TZ=UTC", "SLURM_TIME_FORMAT=standard"];

type Reader<Facts> = (output: Uint8Array, options: ReadOptions) => SlurmFacts<Facts>;

/** Null facts where the tool failed; `unread` then has its words. */
type Answer<Facts> = Promise<SlurmFacts<Facts | null>>;

export class SlurmReader {
  private readonly system: System;
  private readonly signal: AbortSignal | undefined;
  private known: SlurmCapabilities | undefined;

  constructor(system: System, signal?: AbortSignal) {
    this.system = system;
    this.signal = signal;
  }

  /** The release of the tools on this host; null facts where there is no Slurm. */
  async version(): Answer<SlurmVersion> {
    return this.read("sinfo --version", (output, options) => readVersion(output, options));
  }

  async capabilities(): Promise<SlurmCapabilities> {
    this.known ??= capabilities((await this.version()).facts);
    return this.known;
  }

  associations(): Answer<readonly Association[]> {
    return this.readEither(
      `sacctmgr -P show assoc format=${associationColumns}`,
      readAssociations,
      "sacctmgr show assoc",
      readAssociationsJson,
    );
  }

  accounts(): Answer<readonly SlurmAccount[]> {
    return this.readEither(
      "sacctmgr -P show account withcoord",
      readAccounts,
      "sacctmgr show account",
      (output, options) => readAccountsJson(output, { ...options, withCoordinators: true }),
      "withcoord",
    );
  }

  users(): Answer<readonly SlurmUser[]> {
    return this.readEither("sacctmgr -P show user", readUsers, "sacctmgr show user", readUsersJson);
  }

  /** Text only: up to 24.05 the JSON leaves limits out. */
  qos(): Answer<readonly Qos[]> {
    return this.read("sacctmgr -P show qos", readQos);
  }

  partitions(): Answer<readonly SlurmPartition[]> {
    return this.read("scontrol show partition", readPartitions);
  }

  /** Live limits and use. */
  associationManager(): Answer<AssociationManager> {
    return this.read("scontrol show assoc_mgr flags=assoc,qos", readAssociationManager);
  }

  jobs(): Answer<readonly SlurmJob[]> {
    return this.readEither("scontrol show job -d", readJobs, "squeue", readJobsJson);
  }

  /** One job: an answer as small on a large cluster as on a small one. */
  job(id: number): Answer<readonly SlurmJob[]> {
    return this.read(`scontrol show job -d ${id}`, readJobs);
  }

  /** One node. Null facts for what is no node's name. */
  async node(name: string): Answer<readonly SlurmNode[]> {
    if (/^[A-Za-z0-9][\w.-]*$/.test(name)) return this.read(`scontrol show node -d ${name}`, readNodes);
    const source = "scontrol show node -d";
    return { facts: null, unread: [{ source, field: "", reason: "not a node's name", raw: name.slice(0, 200) }] };
  }

  nodes(): Answer<readonly SlurmNode[]> {
    return this.readEither("scontrol show node -d", readNodes, "scontrol show node", readNodesJson);
  }

  /** What was changed by anybody from the first day (`2026-12-01`, UTC) to the last; an end that is not given is open. */
  async transactions(days: TransactionDays): Answer<readonly SlurmTransaction[]> {
    const ids = await this.read("sacctmgr -P show tres", readTresIds);
    const command = ["sacctmgr -P show transactions", ...transactionConditions(days)].join(" ");
    return this.read(command, (output, options) =>
      readTransactions(output, ids.facts === null ? options : { ...options, tresIds: ids.facts }),
    );
  }

  /** slurmctld's configuration, slurmdbd's by sacctmgr, and cgroup.conf from the folder where slurm.conf stands. */
  async settings(): Answer<SlurmSettings> {
    const control = await this.read("scontrol show config", readConfig);
    if (control.facts === null) return { facts: null, unread: control.unread };
    const database = await this.read("sacctmgr show config", readConfig);
    const folder = control.facts.slurm.get("slurm_conf")?.replace(/\/[^/]*$/, "") ?? "/etc/slurm";
    const file = control.facts.cgroup === null ? await this.system.files.read(`${folder}/cgroup.conf`) : null;
    const cgroup = file === null ? null : readConfigFile(file, { source: `${folder}/cgroup.conf` });
    const settings = settingsOf({
      slurm: control.facts.slurm,
      cgroup: control.facts.cgroup ?? cgroup?.facts ?? null,
      slurmdbd: database.facts?.slurmdbd ?? null,
    });
    const unread = [...control.unread, ...database.unread, ...(cgroup?.unread ?? []), ...settings.unread];
    return { facts: settings.facts, unread };
  }

  /** Makes a change of `commandsFor`. Never throws for what sacctmgr answers; `unknown` is to be read back. */
  async change(command: SlurmCommand): Promise<SlurmAnswer> {
    const result = await this.system.run(command.argv, {
      timeoutMs: changeTimeoutMs,
      ...(this.signal === undefined ? {} : { signal: this.signal }),
    });
    return readAnswer(command.kind, result, command.names);
  }

  private async readEither<Facts>(
    command: string,
    readText: Reader<Facts>,
    jsonCommand: JsonCommand,
    readJson: Reader<Facts | null>,
    ...words: readonly string[]
  ): Answer<Facts> {
    const text = await this.read(command, readText);
    if (text.facts === null || text.unread.length === 0) return text;
    if (!(await this.capabilities()).json[jsonCommand]) return text;
    const json = await this.read([jsonCommand, ...words, "--json"].join(" "), readJson);
    return json.facts !== null && json.unread.length < text.unread.length ? json : text;
  }

  /** The words of a command are ours, one argument each. */
  private async read<Facts>(command: string, reader: Reader<Facts>): Answer<Facts> {
    const result = await this.system.run([...environment, ...command.split(" ")], {
      timeoutMs: readTimeoutMs,
      maxOutputBytes,
      ...(this.signal === undefined ? {} : { signal: this.signal }),
    });
    const failure = failureOf(result, command);
    const { facts, unread } = reader(result.stdout, { source: command });
    return failure === null ? { facts, unread } : { facts: null, unread: [failure] };
  }
}

function failureOf(result: RunResult, source: string): Unread | null {
  if (result.exitStatus === 0) return null;
  const words = linesOf(result.stderr).find((line) => line.trim() !== "") ?? linesOf(result.stdout)[0] ?? "";
  const reason = result.timedOut
    ? "no answer within the time limit"
    : result.exitStatus === null
      ? "killed"
      : `exit status ${result.exitStatus}`;
  return { source, field: "", reason, raw: words.trim().slice(0, 200) };
}
