/** Which engine a host has, and opening it. */
import type { EngineKind } from "../../../../shared/protocol/control.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { System } from "../system.ts";
import type { Engine } from "./engine.ts";

/** Slurm where its accounting answers, else the embedded engine. */
export async function detectEngine(system: System): Promise<EngineKind> {
  const result = await system.run(["sacctmgr", "-nP", "show", "cluster", "format=cluster"], { timeoutMs: 20_000 });
  const answered = result.exitStatus === 0 && new TextDecoder().decode(result.stdout).trim() !== "";
  return answered ? "slurm" : "local";
}

export async function openEngine(kind: EngineKind, system: System, ledger: Ledger): Promise<Engine> {
  if (system.engine !== undefined) return system.engine(ledger);
  if (kind === "slurm") return (await import("./slurm/slurm-engine.ts")).slurmEngine(system);
  return (await import("./local/local-engine.ts")).localEngine(ledger, system);
}
