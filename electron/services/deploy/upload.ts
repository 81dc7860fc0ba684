/** Puts a build on a host: whole and checked, or not at all. Everything goes over exec, since SFTP may be off. */
import { Readable, Transform } from "node:stream";
import { AppError, type Evidence } from "../../../shared/errors.ts";
import type { ExecResult, SshConnection } from "../ssh/interfaces.ts";
import type { Architecture, Bundle, HostArtifacts } from "./artifacts.ts";
import {
  abandonScript,
  baseDirectory,
  beginScript,
  buildDirectory,
  checksumStatus,
  finishScript,
  runtimeScript,
  runtimeStatus,
} from "./scripts.ts";

/** What a host without this build said about itself. */
export interface AbsentHost {
  readonly system: string;
  /** As `uname -m` says it. */
  readonly machine: string;
  readonly home: string;
  readonly root: boolean;
  readonly missingTools: readonly string[];
}

export interface UploadProgress {
  readonly sentBytes: number;
  readonly totalBytes: number;
}

const commandTimeoutMs = 60_000;
const uploadTimeoutMs = 15 * 60_000;

export async function upload(
  connection: SshConnection,
  host: AbsentHost,
  artifacts: HostArtifacts,
  bundle: Bundle,
  options: { readonly signal: AbortSignal; readonly onProgress?: (progress: UploadProgress) => void },
): Promise<void> {
  const runtime = await artifacts.runtime(architectureOf(connection, host));
  if (host.missingTools.length > 0) {
    throw failure(
      connection,
      `${connection.name} lacks ${host.missingTools.join(" and ")}, which putting tessera-host there needs.`,
      "Install coreutils and gzip on the host, or install tessera-host there by hand.",
    );
  }
  const { signal } = options;
  const base = baseDirectory(host.root);
  const directory = buildDirectory(host.root, bundle.id, host.machine);
  const begun = await script(connection, beginScript(base, directory, runtime.sha256), { signal });
  const lines = begun.stdout.toString("utf8").trimEnd().split("\n");
  if (lines.at(-1) === "there") return;
  const linked = lines.at(-1) === "linked";
  const temporary = lines.map((line) => /^made .*\/(\.upload-[A-Za-z0-9]+)$/.exec(line)?.[1]).find(Boolean);
  if (temporary === undefined) {
    throw failure(connection, `${connection.name} did not make a directory for tessera-host.`, "Try again.", begun);
  }
  try {
    const totalBytes = (linked ? 0 : runtime.compressedBytes) + bundle.content.length;
    let sentBytes = 0;
    const count = (bytes: number) => {
      sentBytes += bytes;
      options.onProgress?.({ sentBytes, totalBytes });
    };
    if (!linked) {
      const stdin = runtime.open().pipe(counting(count));
      await script(connection, runtimeScript(base, temporary), { signal, stdin, timeoutMs: uploadTimeoutMs });
    }
    const finish = finishScript({
      base,
      temporary,
      directory,
      bundleSha256: bundle.sha256,
      runtimeSha256: runtime.sha256,
    });
    const stdin = Readable.from([bundle.content]).pipe(counting(count));
    await script(connection, finish, { signal, stdin, timeoutMs: uploadTimeoutMs });
  } catch (error) {
    // The scripts clean up after themselves; this is for an upload that was given up from here.
    if (!connection.closed) {
      await connection
        .exec(["sh", "-c", abandonScript(base, temporary)], { timeoutMs: commandTimeoutMs })
        .catch(() => undefined);
    }
    throw error;
  }
}

function architectureOf(connection: SshConnection, host: AbsentHost): Architecture {
  if (host.system === "Linux" && (host.machine === "x86_64" || host.machine === "amd64")) return "x64";
  if (host.system === "Linux" && (host.machine === "aarch64" || host.machine === "arm64")) return "arm64";
  throw failure(
    connection,
    `${connection.name} is ${host.system} on ${host.machine}; tessera-host runs on Linux on x86_64 and aarch64.`,
    "Remove this host from the cluster.",
  );
}

function counting(count: (bytes: number) => void): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      count(chunk.length);
      done(null, chunk);
    },
  });
}

async function script(
  connection: SshConnection,
  text: string,
  options: { readonly signal: AbortSignal; readonly stdin?: Readable; readonly timeoutMs?: number },
): Promise<ExecResult> {
  const result = await connection.exec(["sh", "-c", text], {
    timeoutMs: options.timeoutMs ?? commandTimeoutMs,
    signal: options.signal,
    ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
  });
  if (result.exitStatus === 0) return result;
  const stderr = result.stderr.toString("utf8");
  if (/no space left|disk quota exceeded/i.test(stderr)) {
    throw failure(
      connection,
      `${connection.name} has no room for tessera-host (about 130 MB).`,
      "Free some space in the home directory or in /opt.",
      result,
      "disk-full",
    );
  }
  if (result.exitStatus === checksumStatus) {
    throw failure(connection, `What arrived on ${connection.name} is not what was sent.`, "Try again.", result);
  }
  if (result.exitStatus === runtimeStatus) {
    throw failure(
      connection,
      `The Node runtime does not start on ${connection.name}.`,
      /permission denied/i.test(stderr)
        ? "The directory is mounted noexec: log in as root, or install tessera-host by hand."
        : "It needs glibc 2.28 or newer.",
      result,
    );
  }
  throw failure(
    connection,
    `tessera-host could not be put on ${connection.name}.`,
    "See what the host says, and check that the directory is writable.",
    result,
  );
}

function failure(
  connection: SshConnection,
  message: string,
  remedy: string,
  result?: ExecResult,
  code: "deploy-failed" | "disk-full" = "deploy-failed",
): AppError {
  const evidence: Evidence = {
    host: connection.name,
    ...(result === undefined
      ? {}
      : { exitStatus: result.exitStatus, stderr: result.stderr.toString("utf8").slice(-2_000) }),
  };
  return new AppError({ code, message, remedy, evidence });
}
