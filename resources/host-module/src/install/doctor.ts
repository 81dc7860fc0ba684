import { toErrorData } from "../../../../shared/errors.ts";
import type { DoctorFinding } from "../../../../shared/protocol/contract.ts";
import { readManagers } from "../inventory/processes.ts";
import { readJournals } from "../mig/journal.ts";
import { bootIdOf, savedLayouts } from "../mig/saved-layouts.ts";
import { failureOf } from "../nvidia-smi/failure.ts";
import { parseMigModes } from "../nvidia-smi/mig-mode.ts";
import { runNvidiaSmi } from "../nvidia-smi/run.ts";
import { gpuClients } from "../operating-system/gpu-clients.ts";
import { type System, stateDirectory } from "../system.ts";
import { program } from "./paths.ts";

/** What the module needs of this host, what of it is missing, and how to fix it. Never throws for what it finds. */
export async function doctor(system: System): Promise<readonly DoctorFinding[]> {
  const checks: readonly ((system: System) => Promise<readonly DoctorFinding[]>)[] = [
    driver,
    privileges,
    lockTool,
    space,
    clients,
    journals,
    layouts,
  ];
  const findings: DoctorFinding[] = [];
  for (const check of checks) {
    try {
      findings.push(...(await check(system)));
    } catch (error) {
      const { message, remedy } = toErrorData(error);
      findings.push({ check: check.name, level: "problem", message, remedy });
    }
  }
  return findings;
}

function ok(check: string, message: string): DoctorFinding {
  return { check, level: "ok", message, remedy: "" };
}

async function driver(system: System): Promise<readonly DoctorFinding[]> {
  const fields = "--query-gpu=index,uuid,mig.mode.current,mig.mode.pending";
  const result = await runNvidiaSmi(system, [fields, "--format=csv"]);
  const failure = failureOf(result, system.hostName);
  if (failure !== null) {
    return [{ check: "driver", level: "problem", message: failure.message, remedy: failure.remedy }];
  }
  const gpus = parseMigModes(result.stdout).facts;
  if (gpus.length === 0) {
    return [
      {
        check: "driver",
        level: "problem",
        message: "The driver answers and lists no GPU.",
        remedy: "Check that the GPUs are seated (lspci) and that this user may open /dev/nvidia*.",
      },
    ];
  }
  const capable = gpus.filter(({ current }) => current === "enabled" || current === "disabled");
  const pending = gpus.filter(({ current, pending }) => pending !== null && pending !== current);
  return [
    ok("driver", `nvidia-smi answers and lists ${gpus.length} GPUs.`),
    capable.length === 0
      ? { check: "MIG", level: "warning", message: "No GPU of this host can be divided.", remedy: "" }
      : ok("MIG", `${capable.length} of ${gpus.length} GPUs can be divided.`),
    ...pending.map(
      ({ gpuIndex, current, pending }): DoctorFinding => ({
        check: "MIG",
        level: "warning",
        message: `MIG mode of GPU ${gpuIndex} is ${current} and ${pending} pending.`,
        remedy: "Stop what holds the GPU and reset it (nvidia-smi --gpu-reset), or reboot.",
      }),
    ),
  ];
}

async function privileges(system: System): Promise<readonly DoctorFinding[]> {
  if (system.root) return [ok("privileges", "Runs as root: it may change the driver's state.")];
  const allowed = await system.run(["sudo", "-n", "-l", program, "serve"], { timeoutMs: 10_000 });
  if (allowed.exitStatus === 0) return [ok("privileges", "The sudo rule lets this user run tessera-host as root.")];
  return [
    {
      check: "privileges",
      level: "problem",
      message: "This user is not root and has no sudo rule for tessera-host: it can look, and change nothing.",
      remedy: "As root: tessera-host install --sudo-group GROUP, with this user in GROUP.",
    },
  ];
}

async function lockTool(system: System): Promise<readonly DoctorFinding[]> {
  const result = await system.run(["flock", "--version"], { timeoutMs: 10_000 });
  if (result.exitStatus === 0) return [ok("lock", "flock is there.")];
  return [
    {
      check: "lock",
      level: "problem",
      message: "There is no flock on this host; without a lock nothing is changed.",
      remedy: "Install util-linux.",
    },
  ];
}

/** The journal needs kilobytes; below this somebody else will fill what is left. */
const leastFreeMiB = 64;

async function space(system: System): Promise<readonly DoctorFinding[]> {
  const ask = (path: string) => system.run(["df", "-P", "-k", path], { timeoutMs: 10_000 });
  const own = await ask(stateDirectory);
  const path = own.exitStatus === 0 ? stateDirectory : "/var/lib";
  const result = own.exitStatus === 0 ? own : await ask(path);
  const line = new TextDecoder().decode(result.stdout).trim().split("\n").at(-1) ?? "";
  const free = Number(line.trim().split(/\s+/)[3]);
  if (result.exitStatus !== 0 || !Number.isFinite(free)) {
    return [{ check: "space", level: "warning", message: `Free space under ${path} is unknown.`, remedy: "" }];
  }
  const freeMiB = Math.floor(free / 1024);
  if (freeMiB >= leastFreeMiB) return [ok("space", `${freeMiB} MiB are free under ${path}.`)];
  return [
    {
      check: "space",
      level: "problem",
      message: `Only ${freeMiB} MiB are free under ${path}; a change stops when its journal cannot be written.`,
      remedy: "Free space on that file system.",
    },
  ];
}

/** Those that change MIG by themselves and may undo what was made here. */
const rivals = new Set([
  "nvidia-mig-manager",
  "nvidia-device-plugin",
  "dra-driver-nvidia-gpu",
  "hami-device-plugin",
  "nvidia-vgpu-device-manager",
]);

async function clients(system: System): Promise<readonly DoctorFinding[]> {
  const managers = await readManagers(system.files);
  const named = new Map<string, number[]>();
  for (const { name, pid } of managers) named.set(name, [...(named.get(name) ?? []), pid]);
  const findings = [...named].map(([name, pids]): DoctorFinding => {
    const who = `${name} (pid ${pids.join(", ")})`;
    return rivals.has(name)
      ? {
          check: "managers",
          level: "warning",
          message: `${who} divides GPUs by itself and may undo what is made here.`,
          remedy: "Let only one of the two manage MIG on this host.",
        }
      : {
          check: "clients",
          level: "warning",
          message: `${who} may hold the GPUs, and MIG mode cannot change while it does.`,
          remedy: `Stop it while MIG mode changes; instances can be made and destroyed beside it.`,
        };
  });
  const known = new Set(managers.map(({ pid }) => pid));
  const holders = (await gpuClients(system)).filter(({ pid }) => !known.has(pid));
  return [
    ...findings,
    ...holders.map(
      ({ pid, name, devices }): DoctorFinding => ({
        check: "clients",
        level: "warning",
        message: `${name} (pid ${pid}) has ${devices.join(", ")} open.`,
        remedy: "MIG mode of these GPUs can change when it has ended.",
      }),
    ),
    ...(findings.length + holders.length === 0 ? [ok("clients", "Nothing that is known to hold GPUs runs.")] : []),
  ];
}

async function journals(system: System): Promise<readonly DoctorFinding[]> {
  const open = (await readJournals(system)).filter((journal) => journal.open);
  if (open.length === 0) return [ok("journal", "No operation stands open.")];
  return open.map(({ id }) => ({
    check: "journal",
    level: "problem",
    message: `Operation ${id} did not come to its end.`,
    remedy: `tessera-host mig recover ${id} --way finish, or --way roll-back.`,
  }));
}

async function layouts(system: System): Promise<readonly DoctorFinding[]> {
  const saved = await savedLayouts(system);
  const bootId = await bootIdOf(system);
  const earlier = saved.filter((layout) => layout.bootId !== bootId);
  if (earlier.length === 0) return [ok("layouts", `${saved.length} layouts are saved for the next boot.`)];
  return [
    {
      check: "layouts",
      level: "warning",
      message: `The host has rebooted since ${earlier.length} of ${saved.length} layouts were saved.`,
      remedy: "tessera-host mig status says whether they stand; tessera-host mig restore brings them back.",
    },
  ];
}
