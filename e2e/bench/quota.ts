/**
 * Quotas of 200 tenants, 2,000 projects and 20,000 people: opening the tree and the impact of an edit in a real Chromium, one
 * limit and a batch of 500 through a real Slurm. Takes about ten minutes, most of them for 500 bare calls of sacctmgr.
 */
import type { Metric } from "./metric.ts";
import { browserMetrics } from "./quota-browser.ts";
import { slurmMetrics } from "./quota-slurm.ts";

export async function run(): Promise<readonly Metric[]> {
  return [...(await browserMetrics()), ...(await slurmMetrics())];
}
