/** The texts of the lab's slurm.conf, gres.conf, slurmdbd.conf and my.cnf. */
import { type CountedGres, type GresSlot, gresLines, nodeGres, padType } from "./gres.ts";

export const clusterName = "lab";
export const controlName = "control";

export interface NodeConfiguration {
  readonly name: string;
  readonly address: string;
  readonly cpus: number;
  readonly memoryMiB: number;
  readonly slots: readonly GresSlot[];
  readonly counted: CountedGres;
}

export interface ClusterConfiguration {
  readonly controlAddress: string;
  readonly nodes: readonly NodeConfiguration[];
  /** More lines of slurm.conf; they replace those that set the same. */
  readonly lines?: readonly string[];
}

/** What limits depend on is set as a governed cluster has it; the rest makes small clusters quick. */
export function slurmConf({ controlAddress, nodes, lines = [] }: ClusterConfiguration): string {
  const types = [...new Set(nodes.flatMap((node) => node.slots.map((slot) => slot.type)))].filter((t) => t !== padType);
  const tres = ["gres/gpu", ...types.sort().map((type) => `gres/gpu:${type}`), "gres/vram", "gres/cardshare"];
  const settings = [
    `ClusterName=${clusterName}`,
    `SlurmctldHost=${controlName}(${controlAddress})`,
    "SlurmUser=slurm",
    "AuthType=auth/munge",
    "StateSaveLocation=/var/spool/slurmctld",
    "SlurmdSpoolDir=/var/spool/slurmd",
    "SlurmctldPidFile=/run/slurmctld.pid",
    "SlurmdPidFile=/run/slurmd.pid",
    // There is no systemd here, and what cgroup controllers there are belong to this machine: jobs are followed by
    // their parents in /proc and are not fenced in. Limits and scheduling need neither.
    "ProctrackType=proctrack/linuxproc",
    "TaskPlugin=task/none",
    "JobAcctGatherType=jobacct_gather/linux",
    "GresTypes=gpu,vram,cardshare",
    "SelectType=select/cons_tres",
    "SelectTypeParameters=CR_Core_Memory",
    "AccountingStorageType=accounting_storage/slurmdbd",
    `AccountingStorageHost=${controlName}`,
    `AccountingStorageTRES=${tres.join(",")}`,
    "AccountingStorageEnforce=associations,limits,qos,safe",
    "PriorityType=priority/multifactor",
    "PriorityWeightFairshare=1000",
    "PrivateData=jobs,usage,users,accounts,reservations",
    "PreemptType=preempt/qos",
    "PreemptMode=REQUEUE",
    "ResvOverRun=UNLIMITED",
    "JobRequeue=1",
    "JobCompType=jobcomp/none",
    "MailProg=/bin/true",
    // The hosts pretend to be large: slurmd believes slurm.conf, not the machine.
    "SlurmdParameters=config_overrides",
    "SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1",
    "ReturnToService=2",
    "SlurmctldTimeout=30",
    "SlurmdTimeout=30",
    "InactiveLimit=0",
    "KillWait=2",
    "SlurmctldDebug=info",
    "SlurmdDebug=info",
  ];
  const replaced = new Set(lines.map(keyOf));
  return text([
    ...settings.filter((line) => !replaced.has(keyOf(line))),
    ...lines,
    ...nodes.map(
      ({ name, address, cpus, memoryMiB, slots, counted }) =>
        `NodeName=${name} NodeAddr=${address} CPUs=${cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket=${cpus} ` +
        `ThreadsPerCore=1 RealMemory=${memoryMiB} Gres=${nodeGres(slots, counted)} State=UNKNOWN`,
    ),
    `PartitionName=gpu Nodes=${nodes.map(({ name }) => name).join(",")} Default=YES MaxTime=INFINITE State=UP DefMemPerCPU=100`,
  ]);
}

export function gresConf(nodes: readonly NodeConfiguration[]): string {
  return text([
    "AutoDetect=off",
    ...nodes.flatMap(({ name, slots, counted }) => [
      ...gresLines(name, slots),
      `NodeName=${name} Name=vram Count=${counted.vramGiB} Flags=CountOnly`,
      `NodeName=${name} Name=cardshare Count=${counted.cardShares} Flags=CountOnly`,
    ]),
  ]);
}

/** slurmdbd runs as `slurm` and reaches MariaDB over its socket, as that user: no password anywhere. */
export function slurmdbdConf(): string {
  return text([
    "AuthType=auth/munge",
    `DbdHost=${controlName}`,
    "SlurmUser=slurm",
    "StorageType=accounting_storage/mysql",
    "StorageHost=localhost",
    "StorageUser=slurm",
    `StorageLoc=${databaseName}`,
    "PidFile=/run/slurmdbd.pid",
    // slurm.conf's covers slurmctld only.
    "PrivateData=jobs,usage,users,accounts,reservations",
    "DebugLevel=info",
  ]);
}

export const databaseName = "slurm_acct_db";
export const databaseSocket = "/run/mysqld/mysqld.sock";

/** Small, and nothing is flushed: the lab's files stand in memory, and a crash of this machine ends the lab. */
export function mariadbConf(): string {
  return text([
    "[mariadbd]",
    "datadir=/var/lib/mysql",
    `socket=${databaseSocket}`,
    "pid-file=/run/mysqld/mysqld.pid",
    "init-file=/etc/mysql/lab.sql",
    "user=root",
    "skip-networking",
    "skip-log-bin",
    "performance_schema=off",
    "innodb_buffer_pool_size=32M",
    "innodb_log_file_size=8M",
    "innodb_flush_method=nosync",
    "innodb_flush_log_at_trx_commit=0",
    "innodb_doublewrite=0",
    "innodb_lock_wait_timeout=900",
  ]);
}

/** MariaDB runs it at every start. */
export function databaseSql(): string {
  return text([
    `CREATE DATABASE IF NOT EXISTS ${databaseName};`,
    "CREATE USER IF NOT EXISTS slurm@localhost IDENTIFIED VIA unix_socket;",
    `GRANT ALL ON ${databaseName}.* TO slurm@localhost;`,
  ]);
}

function keyOf(line: string): string {
  return (line.split("=")[0] ?? line).trim().toLowerCase();
}

function text(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}
