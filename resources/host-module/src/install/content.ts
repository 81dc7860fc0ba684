import { installDirectory } from "../system.ts";
import { marker, program } from "./paths.ts";

/**
 * Starts the bundle with the runtime that came with it. The variables that would make Node or the loader run other
 * code are dropped: sudo drops them too, unless a host's own configuration keeps them.
 */
export function launcher(version: string): string {
  const directory = `${installDirectory}/versions/${version}`;
  return `#!/bin/sh
unset NODE_OPTIONS NODE_PATH NODE_V8_COVERAGE NODE_COMPILE_CACHE LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT
exec ${directory}/node ${directory}/tessera-host.cjs "$@"
`;
}

/**
 * The sudo rule: what the console needs, and nothing that reads or writes a file of the caller's choice as root
 * (`bundle`, `inventory --from`, `install` stay with those who are root anyway).
 */
export function sudoRule(group: string): string {
  const commands = [
    "serve",
    "doctor",
    "doctor --json",
    "mig *",
    "me",
    "me --json",
    "tenants",
    "tenants --json",
    "audit *",
    "call *",
  ].map((command) => `${program} ${command}`);
  return `${marker} --sudo-group ${group}
Defaults!${program} env_reset, !setenv
%${group} ALL=(root) NOPASSWD: ${commands.join(", ")}
`;
}

/** Runs once at boot, before the programs that hand GPUs out. */
export function restoreUnit(): string {
  return `${marker} --restore-on-boot
[Unit]
Description=Bring back the MIG layouts saved by Tessera
ConditionPathExists=/var/lib/tessera/layouts
After=local-fs.target systemd-modules-load.service nvidia-persistenced.service
Before=slurmd.service docker.service containerd.service kubelet.service nvidia-dcgm.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=${program} mig restore
TimeoutStartSec=15min

[Install]
WantedBy=multi-user.target
`;
}

/** Ends grants and begins periods anew where they are due; nothing at all on a host without a ledger. */
export function timerService(): string {
  return `${marker}
[Unit]
Description=Grants and quota periods of Tessera that are due
ConditionPathExists=/var/lib/tessera/ledger.sqlite
After=local-fs.target slurmdbd.service slurmctld.service

[Service]
Type=oneshot
ExecStart=${program} timer
TimeoutStartSec=15min
`;
}

/** Each minute. A host that was off does at its start what became due meanwhile. */
export function timerUnit(): string {
  return `${marker}
[Unit]
Description=Grants and quota periods of Tessera, each minute

[Timer]
OnBootSec=30s
OnCalendar=minutely
AccuracySec=5s
Persistent=true

[Install]
WantedBy=timers.target
`;
}

/** The same for hosts without systemd. Output would become mail each minute; what went wrong stands in the audit. */
export function timerCron(): string {
  return `${marker}
* * * * * root [ -e /var/lib/tessera/ledger.sqlite ] && ${program} timer >/dev/null 2>&1
`;
}
