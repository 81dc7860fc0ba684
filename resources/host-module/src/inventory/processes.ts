/** Who runs the processes on the GPUs, since when, and which managers are at work: from `/proc`, passwd and group. */
import type { ReadableFiles } from "./host-files.ts";
import { readText } from "./host-files.ts";

export interface UserFacts {
  readonly uid: number;
  /** Null for a user that neither file nor directory service names. */
  readonly user: string | null;
  /** Name of the primary group. */
  readonly group: string | null;
  /** Names of the supplementary groups. */
  readonly groups: readonly string[];
}

export interface ProcessFacts {
  readonly owner: UserFacts;
  /** ISO 8601. */
  readonly startedAt: string | null;
}

/** Looks up one entry, `getent passwd 1000`, where the files do not have it (LDAP, SSSD). Null where there is none. */
export type Directory = (database: "passwd" | "group", key: string) => Promise<string | null>;

/** `USER_HZ` of Linux on every architecture that has NVIDIA's driver. */
const ticksPerSecond = 100;

/** Keeps passwd and group for the time of one reading. */
export class ProcessReader {
  private readonly files: ReadableFiles;
  private readonly directory: Directory;
  private readonly bootedAtSeconds: number | null;
  private readonly entries = new Map<string, Promise<readonly string[] | null>>();

  constructor(files: ReadableFiles, directory: Directory, bootedAtSeconds: number | null) {
    this.files = files;
    this.directory = directory;
    this.bootedAtSeconds = bootedAtSeconds;
  }

  /** Null where the process is gone, belongs to another PID namespace, or `/proc` hides it (`hidepid`). */
  async read(pid: number): Promise<ProcessFacts | null> {
    const status = await readText(this.files, `/proc/${pid}/status`);
    const uid = /^Uid:\s*(\d+)/m.exec(status ?? "")?.[1];
    if (status === null || uid === undefined) return null;
    const passwd = await this.entry("passwd", uid);
    // The login's own primary group; that of the process may have been changed by newgrp or a container.
    const primary = passwd?.[3] ?? /^Gid:\s*(\d+)/m.exec(status)?.[1] ?? null;
    const groupIds = (/^Groups:[ \t]*(.*)$/m.exec(status)?.[1] ?? "").split(/\s+/).filter((id) => id !== "");
    const groups: string[] = [];
    for (const id of groupIds) {
      const name = id === primary ? undefined : (await this.entry("group", id))?.[0];
      if (name !== undefined) groups.push(name);
    }
    return {
      owner: {
        uid: Number(uid),
        user: passwd?.[0] ?? null,
        group: primary === null ? null : ((await this.entry("group", primary))?.[0] ?? null),
        groups,
      },
      startedAt: await this.startOf(pid),
    };
  }

  private async startOf(pid: number): Promise<string | null> {
    const stat = await readText(this.files, `/proc/${pid}/stat`);
    // The name in parentheses may hold spaces and parentheses; field 22 is the 20th after it.
    const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields?.[19]);
    if (this.bootedAtSeconds === null || !Number.isFinite(ticks)) return null;
    return new Date((this.bootedAtSeconds + Math.floor(ticks / ticksPerSecond)) * 1000).toISOString();
  }

  private entry(database: "passwd" | "group", id: string): Promise<readonly string[] | null> {
    const key = `${database}:${id}`;
    const known = this.entries.get(key);
    if (known !== undefined) return known;
    const found = this.find(database, id);
    this.entries.set(key, found);
    return found;
  }

  private async find(database: "passwd" | "group", id: string): Promise<readonly string[] | null> {
    const file = await this.file(database);
    const line = file.find((fields) => fields[2] === id);
    if (line !== undefined) return line;
    const answer = await this.directory(database, id);
    const fields = answer?.split("\n")[0]?.split(":");
    return fields?.[2] === id ? fields : null;
  }

  private file(database: "passwd" | "group"): Promise<readonly (readonly string[])[]> {
    const key = `${database}:file`;
    const known = this.tables.get(key);
    if (known !== undefined) return known;
    const read = readText(this.files, `/etc/${database}`).then((text) =>
      (text ?? "").split("\n").map((line) => line.split(":")),
    );
    this.tables.set(key, read);
    return read;
  }

  private readonly tables = new Map<string, Promise<readonly (readonly string[])[]>>();
}

/** By the first 15 characters of the program's name, which is all that `/proc/PID/comm` holds. */
const managers: readonly (readonly [string, string])[] = [
  ["nvidia-mig-mana", "nvidia-mig-manager"],
  ["mig-manager", "nvidia-mig-manager"],
  ["nv-hostengine", "nv-hostengine (DCGM)"],
  ["dcgm-exporter", "dcgm-exporter"],
  ["nvidia-persiste", "nvidia-persistenced"],
  ["nvidia-device-p", "nvidia-device-plugin"],
  ["gpu-kubelet-plu", "dra-driver-nvidia-gpu"],
  ["nvidia-dra-plug", "dra-driver-nvidia-gpu"],
  ["gpu-feature-dis", "gpu-feature-discovery"],
  ["nvidia-cuda-mps", "nvidia-cuda-mps"],
  ["nv-fabricmanage", "nv-fabricmanager"],
  ["hami-device-plu", "hami-device-plugin"],
  ["nvidia-vgpu-mgr", "nvidia-vgpu-mgr"],
  ["vgpu-device-man", "nvidia-vgpu-device-manager"],
  ["nvidia_gpu_expo", "nvidia_gpu_exporter"],
  ["nvitop", "nvitop"],
  ["nvtop", "nvtop"],
  ["all-smi", "all-smi"],
  ["telegraf", "telegraf"],
  ["slurmd", "slurmd"],
];

/** The full name of a manager by what `/proc/PID/comm` says; null for any other program. */
export function managerNameOf(comm: string | null): string | null {
  return managers.find(([short]) => comm === short)?.[1] ?? null;
}

/** Programs that hold GPUs or change MIG by themselves, ascending by name and process number. */
export async function readManagers(
  files: ReadableFiles,
): Promise<readonly { readonly name: string; readonly pid: number }[]> {
  const found: { name: string; pid: number }[] = [];
  for (const entry of (await files.list("/proc")) ?? []) {
    if (!/^\d+$/.test(entry)) continue;
    const comm = await readText(files, `/proc/${entry}/comm`);
    const name = managerNameOf(comm);
    if (name !== null) found.push({ name, pid: Number(entry) });
  }
  return found.sort((a, b) => a.name.localeCompare(b.name) || a.pid - b.pid);
}
