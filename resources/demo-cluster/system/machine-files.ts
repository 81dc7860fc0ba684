/** The files in which Linux would show the simulated machine: /proc, /sys and /etc, as far as anybody reads them. */
import type { SimulatedMachine } from "../driver/machine.ts";
import type { SimulatedProcess } from "../driver/state.ts";

const pageKb = 4;

/** The content of a file; null where the machine has none. */
export function machineFile(machine: SimulatedMachine, path: string): string | null {
  const { state } = machine;
  const process = /^\/proc\/(\d+)\/([a-z]+)$/.exec(path);
  if (process !== null) {
    const found = state.processes.find(({ pid }) => pid === Number(process[1]));
    return found === undefined ? null : processFile(machine, found, process[2] ?? "");
  }
  const node = /^\/sys\/devices\/system\/node\/node(\d+)\/(cpulist|meminfo)$/.exec(path);
  if (node !== null) {
    const found = state.numaNodes.find(({ id }) => id === Number(node[1]));
    if (found === undefined) return null;
    return node[2] === "cpulist"
      ? `${found.cpus}\n`
      : `Node ${found.id} MemTotal:       ${found.memoryMiB * 1024} kB\nNode ${found.id} MemFree:        ${found.memoryMiB * 512} kB\n`;
  }
  const nic = /^\/sys\/class\/infiniband\/([^/]+)\/device\/numa_node$/.exec(path);
  if (nic !== null) {
    const found = state.nics.find(({ name }) => name === nic[1]);
    return found === undefined ? null : `${found.numaNode}\n`;
  }
  const device = /^\/sys\/bus\/pci\/devices\/0000:([0-9a-f]{2}:00\.0)\/(numa_node|vendor|local_cpulist)$/.exec(path);
  if (device !== null) {
    const found = state.gpus.find(({ bus }) => bus.toLowerCase() === device[1]);
    if (found === undefined) return null;
    if (device[2] === "vendor") return "0x10de\n";
    if (device[2] === "numa_node") return `${found.numaNode}\n`;
    return `${state.numaNodes.find(({ id }) => id === found.numaNode)?.cpus ?? ""}\n`;
  }
  const claimed = /^\/proc\/driver\/nvidia\/gpus\/0000:([0-9a-f]{2}:00\.0)\/information$/.exec(path);
  if (claimed !== null) {
    const index = state.gpus.findIndex(({ bus }) => bus.toLowerCase() === claimed[1]);
    return index === -1 ? null : driverInformation(machine, index);
  }
  return plainFile(machine, path);
}

/** What the driver's own folder says of a GPU that it has claimed, a lost one included. */
function driverInformation(machine: SimulatedMachine, index: number): string {
  const gpu = machine.gpu(index);
  return (
    `Model: \t\t ${gpu.productName}\nIRQ:   \t\t ${200 + index}\nGPU UUID: \t ${gpu.uuid}\n` +
    `Video BIOS: \t ${machine.model(index).vbios}\nBus Type: \t PCIe\nDMA Size: \t 52 bits\n` +
    `DMA Mask: \t 0xfffffffffffff\nBus Location: \t 0000:${gpu.bus.toLowerCase()}\nDevice Minor: \t ${index}\n` +
    `GPU Firmware: \t ${machine.state.driverVersion}\nGPU Excluded:\t No\n`
  );
}

function plainFile(machine: SimulatedMachine, path: string): string | null {
  const { state } = machine;
  const cpuCount = cpuCountOf(machine);
  switch (path) {
    case "/proc/sys/kernel/random/boot_id":
      return `${state.bootId}\n`;
    case "/proc/sys/kernel/osrelease":
      return `${state.kernel}\n`;
    case "/proc/sys/kernel/hostname":
    case "/etc/hostname":
      return `${state.hostName}\n`;
    case "/proc/version":
      return `Linux version ${state.kernel} (debian-kernel@lists.debian.org) #1 SMP PREEMPT_DYNAMIC Debian\n`;
    case "/proc/meminfo":
      return `MemTotal:       ${state.memoryMiB * 1024} kB\nMemFree:        ${state.memoryMiB * 512} kB\nMemAvailable:   ${state.memoryMiB * 700} kB\n`;
    case "/proc/cpuinfo":
      return Array.from({ length: cpuCount }, (_, cpu) => `processor\t: ${cpu}\nmodel name\t: Simulated CPU\n\n`).join(
        "",
      );
    case "/proc/stat":
      return `cpu  0 0 0 0 0 0 0 0 0 0\n${Array.from({ length: cpuCount }, (_, cpu) => `cpu${cpu} 0 0 0 0 0 0 0 0 0 0\n`).join("")}btime ${Math.floor(state.bootedAtMs / 1000)}\n`;
    case "/proc/uptime": {
      const seconds = (machine.now().getTime() - state.bootedAtMs) / 1000;
      return `${seconds.toFixed(2)} ${(seconds * 60).toFixed(2)}\n`;
    }
    case "/proc/mounts":
      return "proc /proc proc rw 0 0\nsysfs /sys sysfs rw 0 0\n/dev/nvme0n1p2 / ext4 rw 0 0\n";
    case "/proc/driver/nvidia/version":
      return `NVRM version: NVIDIA UNIX x86_64 Kernel Module  ${state.driverVersion}  Release Build\n`;
    case "/sys/devices/system/node/online":
      return `0-${state.numaNodes.length - 1}\n`;
    case "/sys/devices/system/cpu/online":
      return `0-${cpuCount - 1}\n`;
    case "/etc/os-release":
      return 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n';
    case "/etc/passwd":
      return state.users
        .map(({ name, uid, gid }) => `${name}:x:${uid}:${gid}::${uid === 0 ? "/root" : `/home/${name}`}:/bin/bash\n`)
        .join("");
    case "/etc/group":
      return state.groups.map(({ name, gid, members }) => `${name}:x:${gid}:${members.join(",")}\n`).join("");
    default:
      return null;
  }
}

/** `0-63,64-127` is 128. */
export function cpuCountOf(machine: SimulatedMachine): number {
  return machine.state.numaNodes
    .flatMap(({ cpus }) => cpus.split(","))
    .reduce((count, range) => {
      const [first = "0", last = first] = range.split("-");
      return count + Number(last) - Number(first) + 1;
    }, 0);
}

function shortName(process: SimulatedProcess): string {
  return (process.command[0]?.split("/").at(-1) ?? "").slice(0, 15);
}

/** Supplementary groups, as initgroups(3) sets them from /etc/group. */
function groupsOf(machine: SimulatedMachine, process: SimulatedProcess): number[] {
  const user = machine.state.users.find(({ uid }) => uid === process.uid);
  if (user === undefined) return [];
  const further = machine.state.groups.filter(({ members }) => members.includes(user.name)).map(({ gid }) => gid);
  return [user.gid, ...further];
}

function processFile(machine: SimulatedMachine, process: SimulatedProcess, name: string): string | null {
  const { pid, uid } = process;
  const gid = machine.state.users.find((user) => user.uid === uid)?.gid ?? uid;
  const kb = 2_000_000;
  switch (name) {
    case "comm":
      return `${shortName(process)}\n`;
    case "cmdline":
      return `${process.command.join("\0")}\0`;
    case "cgroup":
      return process.cgroup ?? "0::/user.slice\n";
    case "environ":
      return (process.environment ?? []).map((pair) => `${pair}\0`).join("");
    case "loginuid":
      return String(uid);
    case "status":
      return (
        `Name:\t${shortName(process)}\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t${pid}\nPid:\t${pid}\nPPid:\t1\n` +
        `Uid:\t${uid}\t${uid}\t${uid}\t${uid}\nGid:\t${gid}\t${gid}\t${gid}\t${gid}\nGroups:\t${groupsOf(
          machine,
          process,
        )
          .map((id) => `${id} `)
          .join("")}\nVmRSS:\t${kb} kB\nThreads:\t8\n`
      );
    case "statm":
      return `${kb / pageKb} ${kb / pageKb} 0 0 0 0 0\n`;
    case "stat": {
      // Field 22: start in clock ticks (hundredths of a second) after the boot.
      const ticks = Math.max(0, Math.round((process.startedAtMs - machine.state.bootedAtMs) / 10));
      const before = `${pid} (${shortName(process)}) S 1 ${pid} ${pid} 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 8 0 ${ticks}`;
      return `${before} ${kb * 1024} ${kb / pageKb}${" 0".repeat(28)}\n`;
    }
    default:
      return null;
  }
}

const processEntries = ["cgroup", "cmdline", "comm", "environ", "loginuid", "stat", "statm", "status"];

/** The names in a directory; null where the machine has none such. */
export function machineDirectory(machine: SimulatedMachine, path: string): string[] | null {
  const { state } = machine;
  const process = /^\/proc\/(\d+)$/.exec(path);
  if (process !== null) return state.processes.some(({ pid }) => pid === Number(process[1])) ? processEntries : null;
  switch (path) {
    case "/proc":
      return [
        ...state.processes.map(({ pid }) => String(pid)),
        ...["cpuinfo", "driver", "meminfo", "mounts", "stat", "sys", "uptime", "version"],
      ];
    case "/sys/devices/system/node":
      return [...state.numaNodes.map(({ id }) => `node${id}`), "online"];
    case "/sys/class/infiniband":
      return state.nics.map(({ name }) => name);
    case "/sys/bus/pci/devices":
      return state.gpus.map(({ bus }) => `0000:${bus.toLowerCase()}`);
    case "/proc/driver/nvidia/gpus":
      return state.gpus.map(({ bus }) => `0000:${bus.toLowerCase()}`);
    default:
      return null;
  }
}

/** Who owns a path of /proc: a process's directory belongs to its user. */
export function ownerOf(machine: SimulatedMachine, path: string): { uid: number; gid: number; changedAtMs: number } {
  const pid = /^\/proc\/(\d+)(\/|$)/.exec(path)?.[1];
  const process = machine.state.processes.find((candidate) => candidate.pid === Number(pid));
  if (process === undefined) return { uid: 0, gid: 0, changedAtMs: machine.state.bootedAtMs };
  const gid = machine.state.users.find(({ uid }) => uid === process.uid)?.gid ?? process.uid;
  return { uid: process.uid, gid, changedAtMs: process.startedAtMs };
}
