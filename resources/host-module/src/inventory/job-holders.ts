/**
 * Who holds what by a Slurm job, from its allocation on, also where nothing of it runs yet. Each host asks about its own
 * node, so that what is told goes the way of all holders, and is cut for each caller as they are.
 */
import type { System } from "../system.ts";
import type { HolderSource } from "./holders.ts";

/** Nothing of Slurm is loaded where no slurmd runs. */
export function jobHolders(system: System): HolderSource {
  let source: HolderSource | null = null;
  return {
    async claims(context) {
      const slurmd = context.managers.some(({ name }) => name === "slurmd");
      if (!slurmd) return [];
      source ??= (await import("../slurm/node-holders.ts")).nodeHolders(system);
      return source.claims(context);
    },
  };
}
