/**
 * Whose a lab's directory is. A killed lab leaves nothing but that: its processes, mounts and links went with it. The
 * next start removes it.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const mark = "owner";

/** `12345 678900`: a process id may be given again, the tick at which it began may not. */
export function markOwned(directory: string): void {
  writeFileSync(join(directory, mark), `${process.pid} ${startOf(process.pid)}\n`);
}

/** Removes the directories of labs whose process is gone, and returns their paths. */
export function clearLeftovers(parent = tmpdir()): readonly string[] {
  const gone = readdirSync(parent)
    .filter((name) => name.startsWith("tessera-lab-"))
    .map((name) => join(parent, name))
    .filter((directory) => existsSync(join(directory, mark)) && !ownerLives(directory));
  for (const directory of gone) rmSync(directory, { recursive: true, force: true });
  return gone;
}

function ownerLives(directory: string): boolean {
  const [pid, started] = readFileSync(join(directory, mark), "utf8").trim().split(" ");
  return started !== undefined && startOf(Number(pid)) === started;
}

/** Clock ticks between the machine's boot and the process's start (proc(5), field 22); null when there is none. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command's name stands in brackets and may hold anything.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
