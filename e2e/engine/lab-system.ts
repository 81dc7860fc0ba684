import type { RunOptions, RunResult, System } from "../../resources/host-module/src/system.ts";
import type { SlurmLab } from "../lab/slurm.ts";

const encoder = new TextEncoder();

/** The lab's control host as a system; its programs end with a status of their own. */
export function systemOf(lab: SlurmLab): System {
  const absent = () => Promise.resolve(null);
  const never = () => Promise.reject(new Error("the engine writes no files"));
  return {
    run: async (argv, options: RunOptions): Promise<RunResult> => {
      const started = performance.now();
      const { status, stdout, stderr } = await lab.run(argv, { timeoutMs: options.timeoutMs });
      return {
        argv,
        stdout: encoder.encode(stdout),
        stderr: encoder.encode(stderr),
        exitStatus: status,
        signal: status === null ? "SIGKILL" : null,
        timedOut: status === null,
        durationMs: performance.now() - started,
      };
    },
    files: {
      ...{ read: absent, list: absent, status: absent, readLink: absent },
      ...{ makeDirectory: never, replace: never, append: never, remove: never, lock: never, isLocked: never },
    },
    now: () => new Date(),
    hostName: "control",
    architecture: "x86_64",
    root: true,
    caller: { uid: 0, user: "root" },
    ledgerPath: null,
  };
}
