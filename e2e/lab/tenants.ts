/** Tenants with projects and people in the lab's Slurm, as accounts below each other, by ids that are no display names. */
import type { SlurmLab } from "./slurm.ts";

export interface LabTenant {
  /** Slurm's account, `t1a7`. */
  readonly id: string;
  /** `gres/gpu=2,cpu=8`; none when absent. */
  readonly limit?: string;
  /** People by project, which is Slurm's account below the tenant's, `t1a7_p01`. */
  readonly projects: Readonly<Record<string, readonly string[]>>;
}

export async function makeTenant(lab: SlurmLab, { id, limit, projects }: LabTenant): Promise<void> {
  await lab.sacctmgr("add", "account", id, `Organization=${id}`, ...(limit === undefined ? [] : [`GrpTRES=${limit}`]));
  for (const [project, people] of Object.entries(projects)) {
    await lab.sacctmgr("add", "account", project, `parent=${id}`, `Organization=${id}`);
    for (const person of people) await lab.sacctmgr("add", "user", person, `account=${project}`);
  }
}
