import { ProcessReader } from "../inventory/processes.ts";
import { gpuClients } from "../operating-system/gpu-clients.ts";
import type { System } from "../system.ts";
import type { GpuReading } from "./reading.ts";

/**
 * Who keeps a GPU from changing, a line each: `python3 (pid 4242), user alice, GPU instance 1`. The processes that the
 * driver lists, and those that have the GPU's device file open, which it does not list (monitoring agents, another
 * nvidia-smi). Best effort, for the evidence of an error: never throws.
 */
export async function holdersOf(system: System, gpu: GpuReading): Promise<readonly string[]> {
  try {
    const reader = new ProcessReader(system.files, async () => null, null);
    const words = async (pid: number, name: string | null, where: string) => {
      const owner = (await reader.read(pid))?.owner;
      const user = owner === undefined ? "user unknown" : `user ${owner.user ?? owner.uid}`;
      return `${name ?? "a process"} (pid ${pid}), ${user}, ${where}`;
    };
    const lines: string[] = [];
    for (const { pid, name, gpuInstanceId } of gpu.processes) {
      lines.push(await words(pid, name, gpuInstanceId === null ? "whole GPU" : `GPU instance ${gpuInstanceId}`));
    }
    const listed = new Set(gpu.processes.map(({ pid }) => pid));
    const device = `/dev/nvidia${gpu.minorNumber ?? gpu.index}`;
    for (const { pid, name, devices } of await gpuClients(system)) {
      if (!listed.has(pid) && devices.includes(device)) lines.push(await words(pid, name, `${device} open`));
    }
    return lines;
  } catch {
    return gpu.processes.map(({ pid, name }) => `${name ?? "a process"} (pid ${pid})`);
  }
}
