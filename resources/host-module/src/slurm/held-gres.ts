/** Which GPUs of a node a job holds, by Slurm's numbers. */
import type { Holder } from "../../../../shared/protocol/inventory.ts";
import { stateOfJob, timeOf } from "../engine/slurm/jobs.ts";
import { expandHostlist } from "./hostlist.ts";
import type { SlurmJob } from "./jobs.ts";

export interface HeldGpu {
  readonly jobId: number;
  readonly index: number;
  readonly holder: Holder;
}

/**
 * What the job holds on that node, from the moment of its allocation on. Empty where its text does not agree with the sum
 * that Slurm allocated: some of it is then written by the user.
 */
export function heldGpus(job: SlurmJob, node: string): readonly HeldGpu[] {
  if (stateOfJob(job) !== "running") return [];
  const all = expandHostlist(job.nodes ?? "") ?? [];
  const isNodeByNode = all.length === job.gresDetail.length;
  let total = 0;
  const here: number[] = [];
  for (const [place, { nodes, gres }] of job.gresDetail.entries()) {
    const names = nodes === null ? (isNodeByNode ? [all[place] ?? ""] : []) : (expandHostlist(nodes) ?? []);
    for (const { name, index } of gres) {
      if (name !== "gpu" || index === null) continue;
      total += names.length * index.length;
      if (names.includes(node)) here.push(...index);
    }
  }
  const allocated = job.allocatedTres["gres/gpu"];
  if (!all.includes(node) || (allocated !== undefined && allocated !== total)) return [];
  const holder: Holder = {
    tenant: null,
    project: job.account,
    user: job.user,
    by: "job",
    allocation: String(job.id),
    since: timeOf(job.startedAt),
  };
  return here.map((index) => ({ jobId: job.id, index, holder }));
}
