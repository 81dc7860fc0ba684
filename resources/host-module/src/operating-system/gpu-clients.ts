import type { System } from "../system.ts";

export interface GpuClient {
  readonly pid: number;
  readonly name: string;
  /** `/dev/nvidia0` and its like. */
  readonly devices: readonly string[];
}

/**
 * Processes that have a GPU's device file open, whether or not they compute on it: what "In use by another client" means and
 * nvidia-smi does not list (monitoring agents, containers' runtimes). Source: /proc/PID/fd, of all users only for root.
 */
export async function gpuClients(system: System): Promise<readonly GpuClient[]> {
  const { files } = system;
  const clients: GpuClient[] = [];
  for (const entry of (await files.list("/proc")) ?? []) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue;
    const devices = new Set<string>();
    for (const fd of (await files.list(`/proc/${entry}/fd`)) ?? []) {
      const target = await files.readLink(`/proc/${entry}/fd/${fd}`);
      if (target !== null && /^\/dev\/nvidia\d+$/.test(target)) devices.add(target);
    }
    if (devices.size === 0) continue;
    const comm = await files.read(`/proc/${entry}/comm`);
    const name = comm === null ? "a process" : new TextDecoder().decode(comm).trim();
    clients.push({ pid: Number(entry), name, devices: [...devices].toSorted() });
  }
  return clients;
}
