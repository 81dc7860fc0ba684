/** A lab in which every limit holds, and limits as an administrator sets them through tessera-host. */
import type { HostAnswer } from "../../shared/protocol/contract.ts";
import { readLimits } from "../../shared/quota/index.ts";
import { GovernedLab } from "./governed-lab.ts";

/** A script that lets every job pass, for the guard to take the place of. */
const passingScript =
  "function slurm_job_submit() return slurm.SUCCESS end\nfunction slurm_job_modify() return slurm.SUCCESS end\nreturn slurm.SUCCESS\n";

/** Everything that can be limited is enforced: nothing fades, and job_submit.lua counts parts of cards. */
export async function enforcingLab(): Promise<GovernedLab> {
  const lab = await GovernedLab.start({ jobSubmit: passingScript, slurmConf: ["PriorityDecayHalfLife=18250-0"] });
  try {
    await lab.slurm.expect(["/opt/tessera/current/tessera-host", "slurm", "guard", "install", "--take-over"]);
    return lab;
  } catch (error) {
    await lab[Symbol.asyncDispose]();
    throw error;
  }
}

/** `limits` by subject, as people write them (`{ cards: "1/2" }`), all in one call; the outcomes in their order. */
export async function setLimits(
  lab: GovernedLab,
  limits: Readonly<Record<string, unknown>>,
): Promise<HostAnswer<"quota.set">["outcomes"]> {
  const { nodes } = await lab.as("ops").request("quota.get", {});
  const edits = Object.entries(limits).map(([subject, wanted]) => ({
    subject,
    limits: readLimits(wanted),
    basedOn: nodes.find(({ id }) => id === subject)?.version ?? -1,
  }));
  const { outcomes } = await lab.as("ops").task("quota.set", { edits }, () => undefined);
  return outcomes;
}
