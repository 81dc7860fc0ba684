import { join } from "node:path";
import { installDirectory } from "../system.ts";

/** Where an installation puts things, below `root` ("/" on a real host). */
export interface InstallPaths {
  readonly versions: string;
  /** Link to the version in use. */
  readonly current: string;
  /** Link on everybody's PATH. */
  readonly link: string;
  readonly sudoRule: string;
  readonly unit: string;
  readonly unitWanted: string;
  /** What runs `tessera-host timer`, and when; by cron where there is no systemd. */
  readonly timerService: string;
  readonly timer: string;
  readonly timerWanted: string;
  readonly cron: string;
}

export function installPaths(root: string): InstallPaths {
  return {
    versions: join(root, installDirectory, "versions"),
    current: join(root, installDirectory, "current"),
    link: join(root, "/usr/local/bin/tessera-host"),
    sudoRule: join(root, "/etc/sudoers.d/tessera"),
    unit: join(root, "/etc/systemd/system/tessera-restore.service"),
    unitWanted: join(root, "/etc/systemd/system/multi-user.target.wants/tessera-restore.service"),
    timerService: join(root, "/etc/systemd/system/tessera-timer.service"),
    timer: join(root, "/etc/systemd/system/tessera-timer.timer"),
    timerWanted: join(root, "/etc/systemd/system/timers.target.wants/tessera-timer.timer"),
    cron: join(root, "/etc/cron.d/tessera"),
  };
}

/** As they are named on the installed host, whatever `root` is. */
export const program = `${installDirectory}/current/tessera-host`;
/** First line of every file we write outside our own directory; only files that begin with it are removed again. */
export const marker = "# Written by tessera-host install";
