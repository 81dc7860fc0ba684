/**
 * Resources that Slurm counts for us: it has no limit on parts of a card and none on GPU memory. Both are CountOnly GRES,
 * which job_submit.lua adds to each job by the types of the GPUs that it asks for.
 */
export { gpuMemoryGres } from "../../slurm/doctor.ts";

/** Slurm counts whole numbers: in 56ths every share of a card with 7 compute and 8 memory slices is one. */
export const cardShareUnits = 56;
export const cardShareGres = "cardshare";
