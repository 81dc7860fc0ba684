/** Programs that run on a GPU without a lease: whoever leased it from under them would share it with them. */
import { AppError } from "../../../../shared/errors.ts";
import type { GpuProcess, HostInventory } from "../../../../shared/protocol/inventory.ts";

export interface WantedPlace {
  readonly gpuUuid: string;
  /** Null: the whole GPU. */
  readonly gpuInstanceId: number | null;
}

export interface TakingPerson {
  readonly user: string | null;
  readonly administrator: boolean;
}

/**
 * Throws AppError `in-use` where somebody else's program runs there. Only an administrator is told whose it is, and may
 * take the place all the same by `confirmed`.
 */
export function refuseBesideOthers(
  inventory: HostInventory,
  place: WantedPlace,
  { user, administrator }: TakingPerson,
  confirmed: boolean,
): void {
  const others = programsAt(inventory, place).filter((program) => program.user === null || program.user !== user);
  if (others.length === 0 || (administrator && confirmed)) return;
  const where = place.gpuInstanceId === null ? "this GPU" : `GPU instance ${place.gpuInstanceId}`;
  const programs = others.length === 1 ? "A program of somebody else runs" : "Programs of somebody else run";
  throw new AppError({
    code: "in-use",
    message: `${programs} on ${where} without a lease. Nothing was taken.`,
    remedy: administrator
      ? "Have it ended, take another place, or confirm that it is taken all the same (besidePrograms)."
      : "Have it ended, or take another place. A platform administrator sees whose it is.",
    ...(administrator ? { evidence: { details: others.map(wordsOf).join("\n") } } : {}),
  });
}

/** What a desktop draws takes nothing from anybody. A program whose instance is not told may be in any. */
function programsAt({ gpus }: HostInventory, { gpuUuid, gpuInstanceId }: WantedPlace): readonly GpuProcess[] {
  const processes = gpus.find(({ uuid }) => uuid === gpuUuid)?.processes ?? [];
  return processes.filter(
    (process) =>
      process.kind !== "graphics" &&
      (gpuInstanceId === null || process.gpuInstanceId === null || process.gpuInstanceId === gpuInstanceId),
  );
}

function wordsOf({ name, pid, user }: GpuProcess): string {
  return `${name === "" ? "a program" : name} (pid ${pid}), user ${user ?? "unknown"}`;
}
