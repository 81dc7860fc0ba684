/** The processes on one GPU, as `nvidia-smi -q` lists them: flat in the text, nested in the XML. */
import { type Fact, fact, group } from "./fact.ts";
import type { SimulatedMachine } from "./machine.ts";

export function processFacts(machine: SimulatedMachine, index: number): Fact[] {
  const processes = machine.processesOf(index);
  const id = (value: number | null | undefined): string => (value === null || value === undefined ? "N/A" : `${value}`);
  const xml = group(
    null,
    "processes",
    processes.map((process) =>
      group(null, "process_info", [
        fact(null, "gpu_instance_id", id(process.gpu?.gpuInstanceId)),
        fact(null, "compute_instance_id", id(process.gpu?.computeInstanceId)),
        fact(null, "pid", process.pid),
        fact(null, "type", "C"),
        fact(null, "process_name", process.command[0] ?? ""),
        fact(null, "used_memory", `${process.gpu?.usedMemoryMiB ?? 0} MiB`),
      ]),
    ),
  );
  if (processes.length === 0) return [{ ...fact("Processes", null, "None"), display: "PIDS" }, xml];
  const text = group(
    "Processes",
    null,
    processes.flatMap((process) => [
      fact("GPU instance ID", null, id(process.gpu?.gpuInstanceId)),
      fact("Compute instance ID", null, id(process.gpu?.computeInstanceId)),
      fact("Process ID", null, process.pid),
      fact("    Type", null, "C"),
      fact("    Name", null, process.command[0] ?? ""),
      fact("    Used GPU Memory", null, `${process.gpu?.usedMemoryMiB ?? 0} MiB`),
    ]),
    "PIDS",
  );
  return [text, xml];
}
