/**
 * Jobs: `scontrol show job -d` (with or without `-o`), `squeue --json` and `scontrol show jobs --json`. The text tells one
 * TRES line up to 23.02: what a waiting job asks for, or what a job holds; later ones, and all JSON, tell both.
 */
import { type Gres, readGres } from "./gres.ts";
import { at, finiteIn, list, numberIn, readJson, string, strings, timeIn } from "./json.ts";
import { Reading, type ReadOptions, type SlurmFacts } from "./reading.ts";
import { readRecords, type ScontrolRecord } from "./records.ts";
import { addTres, readRequest, readTres, type TresCounts } from "./tres.ts";

export interface SlurmJob {
  readonly id: number;
  /** Of an array: its id, and the tasks that this entry stands for, `3` or `5-9%2`. */
  readonly arrayJobId: number | null;
  readonly arrayTasks: string | null;
  readonly name: string | null;
  /** Null where the text was ambiguous: then the job belongs to nobody that we could name. */
  readonly user: string | null;
  readonly userId: number | null;
  readonly account: string | null;
  readonly qos: string | null;
  readonly partition: string | null;
  readonly associationId: number | null;
  /** Upper case: `PENDING`, `RUNNING`. */
  readonly state: string | null;
  /** Words beside the state: `COMPLETING`, `CONFIGURING`. */
  readonly flags: readonly string[];
  /** `AssocGrpGRES`; null for `None`. */
  readonly reason: string | null;
  /** Null where this version's text does not say it of a job that has started. */
  readonly requestedTres: TresCounts | null;
  /** What it holds or held; empty while it waits. */
  readonly allocatedTres: TresCounts;
  /** What was written behind `--gres`, `--gpus`, ..., by what it is counted for. */
  readonly asked: {
    readonly perNode: TresCounts;
    readonly perJob: TresCounts;
    readonly perTask: TresCounts;
    readonly perSocket: TresCounts;
  };
  /** Devices held, node by node in the order of `nodes`; empty without `-d`. */
  readonly gresDetail: readonly { readonly nodes: string | null; readonly gres: readonly Gres[] }[];
  /** As Slurm writes it, `g[3-4]`. */
  readonly nodes: string | null;
  readonly nodeCount: number | null;
  readonly timeLimitMinutes: number | "unlimited" | null;
  readonly priority: number | null;
  readonly reservation: string | null;
  /** Seconds since the epoch. */
  readonly submittedAt: number | null;
  readonly startedAt: number | null;
  readonly endsAt: number | null;
  readonly restarts: number | null;
}

/** The text. Times are those of `options.utcOffsetMinutes`. */
export function readJobs(output: Uint8Array | string, options: ReadOptions = {}): SlurmFacts<readonly SlurmJob[]> {
  const reading = new Reading(options.source ?? "scontrol show job -d");
  const facts = readRecords(output, "JobId", reading).flatMap((record) => {
    const id = reading.count("jobs.JobId", record.get("JobId"));
    return id === null ? [] : [jobOf(record, id, reading, options.utcOffsetMinutes ?? 0)];
  });
  return { facts, unread: reading.unread };
}

function jobOf(record: ScontrolRecord, id: number, reading: Reading, utcOffsetMinutes: number): SlurmJob {
  const field = `jobs[${id}]`;
  const text = (key: string) => reading.text(record.get(key));
  const count = (key: string) => reading.count(`${field}.${key}`, record.get(key));
  const time = (key: string) => reading.time(`${field}.${key}`, record.get(key), utcOffsetMinutes);
  const tres = (key: string) => readTres(record.get(key), `${field}.${key}`, reading);
  const asked = (key: string) => readRequest(record.get(key), `${field}.${key}`, reading);
  const user = /^(.*)\((\d+)\)$/.exec(record.get("UserId") ?? "");
  const [state = null, ...flags] = (text("JobState") ?? "").split("+").filter((word) => word !== "");
  const isWaiting = state === "PENDING";
  return {
    id,
    arrayJobId: count("ArrayJobId"),
    arrayTasks: text("ArrayTaskId"),
    name: text("JobName"),
    user: user?.[1] ?? null,
    userId: user === null ? null : Number(user[2]),
    account: text("Account"),
    qos: text("QOS"),
    partition: text("Partition"),
    associationId: null,
    state,
    flags,
    reason: text("Reason"),
    requestedTres: record.has("ReqTRES") ? tres("ReqTRES") : isWaiting ? tres("TRES") : null,
    allocatedTres: record.has("AllocTRES") ? tres("AllocTRES") : isWaiting ? {} : tres("TRES"),
    asked: {
      perNode: asked("TresPerNode"),
      perJob: asked("TresPerJob"),
      perTask: asked("TresPerTask"),
      perSocket: asked("TresPerSocket"),
    },
    gresDetail: detailOf(record, field, reading),
    nodes: text("NodeList"),
    nodeCount: reading.count(`${field}.NumNodes`, record.get("NumNodes")?.split("-")[0]),
    timeLimitMinutes: reading.minutes(`${field}.TimeLimit`, record.get("TimeLimit")),
    priority: count("Priority"),
    reservation: text("Reservation"),
    submittedAt: time("SubmitTime"),
    startedAt: time("StartTime"),
    endsAt: time("EndTime"),
    restarts: count("Restarts"),
  };
}

/** `Nodes=g[3-4] CPU_IDs=0-3 Mem=65536 GRES=gpu:a100:8(IDX:0-7)`, one line for nodes that hold the same. */
function detailOf(record: ScontrolRecord, field: string, reading: Reading): SlurmJob["gresDetail"] {
  const nodes = record.get("Nodes")?.split("\n") ?? [];
  return (record.get("GRES")?.split("\n") ?? []).flatMap((words, place) => {
    const gres = readGres(words, `${field}.GRES`, reading);
    return gres.length === 0 ? [] : [{ nodes: nodes[place] ?? null, gres }];
  });
}

/** The JSON, of every parser; null facts where this is none. */
export function readJobsJson(
  output: Uint8Array | string,
  options: ReadOptions = {},
): SlurmFacts<readonly SlurmJob[] | null> {
  const reading = new Reading(options.source ?? "squeue --json");
  const json = readJson(output, reading);
  if (json === null) return { facts: null, unread: reading.unread };
  const facts = list(json.root.jobs).flatMap((value) => {
    const id = finiteIn(at(value, "job_id"));
    if (id !== null) return [jobOfJson(value, id, reading)];
    reading.reject("jobs", "an entry without job_id", JSON.stringify(value));
    return [];
  });
  return { facts, unread: reading.unread };
}

function jobOfJson(value: unknown, id: number, reading: Reading): SlurmJob {
  const field = `jobs[${id}]`;
  const text = (key: string) => {
    const words = string(at(value, key));
    return words === "None" && key === "state_reason" ? null : words;
  };
  const number = (key: string) => finiteIn(at(value, key));
  const asked = (key: string) => readRequest(text(key), `${field}.${key}`, reading);
  const [state = null, ...flags] = strings(at(value, "job_state")).map((word) => word.toUpperCase());
  const isWaiting = state === "PENDING";
  const requested = readTres(text("tres_req_str"), `${field}.tres_req_str`, reading);
  return {
    id,
    arrayJobId: number("array_job_id") || null,
    arrayTasks: text("array_task_string") ?? arrayTask(value),
    name: text("name"),
    // sacct's JSON has empty names in `association` from 25.05 on; these two are right in all of them.
    user: text("user_name") ?? text("user"),
    userId: number("user_id"),
    account: text("account"),
    qos: text("qos"),
    partition: text("partition"),
    associationId: number("association_id") || null,
    state,
    flags,
    reason: text("state_reason"),
    requestedTres: requested,
    allocatedTres: isWaiting ? {} : readTres(text("tres_alloc_str"), `${field}.tres_alloc_str`, reading),
    asked: {
      perNode: asked("tres_per_node"),
      perJob: asked("tres_per_job"),
      perTask: asked("tres_per_task"),
      perSocket: asked("tres_per_socket"),
    },
    gresDetail: strings(at(value, "gres_detail")).length === 0 ? [] : detailOfJson(value, field, reading),
    nodes: text("nodes"),
    nodeCount: number("node_count"),
    timeLimitMinutes: numberIn(at(value, "time_limit")),
    priority: number("priority"),
    reservation: text("resv_name"),
    submittedAt: timeIn(at(value, "submit_time")),
    startedAt: timeIn(at(value, "start_time")),
    endsAt: timeIn(at(value, "end_time")),
    restarts: number("restart_cnt"),
  };
}

function arrayTask(value: unknown): string | null {
  const task = finiteIn(at(value, "array_task_id"));
  return task === null || (finiteIn(at(value, "array_job_id")) ?? 0) === 0 ? null : String(task);
}

/** `gres_detail` is one text a node, stable in every parser; the nodes stand in their own list. */
function detailOfJson(value: unknown, field: string, reading: Reading): SlurmJob["gresDetail"] {
  return list(at(value, "gres_detail")).flatMap((words) => {
    const gres = readGres(typeof words === "string" ? words : "", `${field}.gres_detail`, reading);
    return gres.length === 0 ? [] : [{ nodes: null, gres }];
  });
}

/** What a waiting job would hold: Slurm's own sum, or what was asked for one node where there is none. */
export function askedTres(job: SlurmJob): TresCounts {
  if (job.requestedTres !== null && Object.keys(job.requestedTres).length > 0) return job.requestedTres;
  return addTres(job.asked.perNode, job.asked.perJob);
}
