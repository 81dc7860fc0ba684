/** What Slurm counts for us that is no device: parts of cards, and GiB of GPU memory. */
export { gpuMemoryGres } from "../../slurm/doctor.ts";

/** The counted resource that stands for parts of cards; job_submit.lua adds it to every job that asks for GPUs. */
export const cardShareGres = "cardshare";

/** Units of one card: the least in which every share of a card of 7 compute and 8 memory slices is whole. */
export const cardShareUnits = 56;
