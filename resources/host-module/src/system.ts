/**
 * The border between tessera-host and the machine it runs on. Everything the module asks of the operating
 * system goes through here, so that the same module runs on a real host, over captured output, and on a
 * simulated host.
 */

import type { Engine } from "./engine/engine.ts";
import type { Ledger } from "./ledger/ledger.ts";

export interface RunOptions {
  /** The process group is killed (SIGKILL) when it is over. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Stops reading (and kills) past this many bytes of standard output. Default 32 MiB. */
  readonly maxOutputBytes?: number;
}

export interface RunResult {
  readonly argv: readonly string[];
  /** Bytes: output may be cut, or not be UTF-8. */
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** Null when it was killed: never success. 127 when there is no such program. */
  readonly exitStatus: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
}

export interface FileStatus {
  readonly uid: number;
  readonly gid: number;
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly changedAtMs: number;
  readonly kind: "file" | "directory" | "link" | "other";
}

/** Files by absolute path. Reading answers null where there is nothing to read or no permission. */
export interface Files {
  read(path: string): Promise<Uint8Array | null>;
  list(path: string): Promise<readonly string[] | null>;
  status(path: string): Promise<FileStatus | null>;
  readLink(path: string): Promise<string | null>;
  makeDirectory(path: string, mode: number): Promise<void>;
  /** Replaces the file atomically: temporary file, fsync, rename, fsync of the directory. Throws AppError `disk-full` or `permission`. */
  replace(path: string, content: Uint8Array, mode: number): Promise<void>;
  /** Appends and fsyncs before it returns; a partial write is cut off again before it throws. */
  append(path: string, content: Uint8Array, mode: number): Promise<void>;
  remove(path: string): Promise<void>;
  /**
   * An exclusive lock that dies with its holder, however that ends. Throws AppError `locked`
   * with the holder's words when somebody else has it.
   */
  lock(path: string, holder: string): Promise<AsyncDisposable>;
  /** Whether somebody holds that lock now. Takes nothing: who comes for the lock meanwhile gets it. */
  isLocked(path: string): Promise<boolean>;
}

export interface Caller {
  readonly uid: number;
  readonly user: string | null;
}

/**
 * The SSH login that the caller came by, as far as the operating system tells it, for the audit.
 *
 * `address` and `loginUid` can be trusted: the one is read from the kernel's table of connections, by the socket that
 * the root-owned sshd above this process holds; the other is set once at login (pam_loginuid) and needs a capability to
 * change. `keyFingerprint` is what the session shows: sshd writes the file it comes from (`ExposeAuthInfo yes` in
 * sshd_config, off by default), but gives it to the user, who can write into it, and its name stands in the memory of the
 * user's own shell. It tells an honest person's keys apart and proves nothing against one who wants to mislead; the line
 * `Accepted publickey` of sshd in the system's log does.
 *
 * A caller who left the login's tree of processes (tmux, nohup, a cron job) has no sshd above: address and key are null.
 */
export interface Login {
  /** IPv4 or IPv6, without the port. Behind a jump host it is the jump host's. */
  readonly address: string | null;
  /** `SHA256:...` as ssh-keygen prints it. */
  readonly keyFingerprint: string | null;
  /** The uid that logged in, before any `su`; null where pam_loginuid does not run. */
  readonly loginUid: number | null;
}

export interface System {
  /** Runs a program by argument vector, never through a shell, with `LC_ALL=C`. Does not throw for a bad exit. */
  run(argv: readonly string[], options: RunOptions): Promise<RunResult>;
  readonly files: Files;
  now(): Date;
  readonly hostName: string;
  /** As `uname -m` says it. */
  readonly architecture: string;
  /** Whether this process is root. */
  readonly root: boolean;
  /** Who called: `SUDO_UID` where sudo set it, else the process's own user; never an argument. */
  readonly caller: Caller;
  /** Where the ledger of a control host stands, whether or not it is there; null where none can be. */
  readonly ledgerPath: string | null;
  /** What keeps limits instead of the engine that the ledger names: on simulated hosts, whose work is simulated too. */
  readonly engine?: (ledger: Ledger) => Promise<Engine>;
  /** Absent where nobody logs in: captured and simulated hosts. */
  readonly login?: Login;
}

/** Root-owned, journal and saved layouts. */
export const stateDirectory = "/var/lib/tessera";
/** Versions side by side, and `current`. */
export const installDirectory = "/opt/tessera";
