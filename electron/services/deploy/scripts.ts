/**
 * The shell scripts that run on hosts. Each is one argument of `sh -c`, one line, without backslash, exclamation mark
 * and single quote, so that every login shell hands it on unchanged (see ssh/quote.ts). They are for POSIX sh (dash,
 * busybox). What stands in them is ours alone: versions, checksums and file names; never a host's or a person's word.
 */

/** Begins the line after which standard output belongs to `tessera-host serve`. */
export const serveMarker = "tessera-host:serve";
/** Begins the line that says that the host has no tessera-host of this build, and what the host is. */
export const absentMarker = "tessera-host:absent";

const installed = "/opt/tessera";
const sums = "SHA256SUMS";

/** Anything that would make Node or the loader run other code. */
const cleanEnvironment = "unset NODE_OPTIONS NODE_PATH NODE_COMPILE_CACHE LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT";

export interface Wanted {
  readonly version: string;
  /** Directory name of this build. */
  readonly id: string;
  readonly bundleSha256: string;
}

/**
 * One command that looks and becomes the server: on a host that has this build the first answer costs one channel.
 *
 * Root (`-O /` asks for the owner of the root directory, without starting a program) runs this build. Others run the
 * program that the sudo rule names, where an administrator installed it, and without a rule this build unprivileged.
 * `sudo -n` never asks for a password; when it refuses, the next line takes over, and the hello says who it is.
 */
export function serveScript(wanted: Wanted): string {
  // V8's compiled code is kept beside the bundle, under the same owner: a tenth of a start, from the second one on.
  // Without helper threads of V8: starting and waking them costs more than they bring to a program as small.
  const serve = (directory: string) =>
    `export NODE_COMPILE_CACHE=${directory}/compile-cache; exec ${directory}/node --single-threaded ${directory}/tessera-host.cjs serve`;
  const found = `echo ${serveMarker}`;
  const byVersion = `${installed}/versions/${wanted.version}`;
  return oneLine(
    `${cleanEnvironment}; cd /; r=; d=;`,
    "[ -O / ] && r=1;",
    `if [ -f ${installed}/versions/${wanted.id}/${sums} ]; then d=${installed}/versions/${wanted.id};`,
    `elif [ -f ${byVersion}/tessera-host.cjs ]; then`,
    `case "$(sha256sum ${byVersion}/tessera-host.cjs)" in ${wanted.bundleSha256}*) d=${byVersion};; esac;`,
    "fi;",
    `if [ -z "$d" ]; then h="$HOME/.cache/tessera/${wanted.id}-$(uname -m)"; [ -f "$h/${sums}" ] && d="$h"; fi;`,
    `if [ -z "$r" ] && [ -x ${installed}/current/tessera-host ]; then`,
    `${found}; f=1; sudo -n ${installed}/current/tessera-host serve && exit 0; fi;`,
    `if [ -n "$d" ]; then [ -n "$f" ] || ${found}; ${serve('"$d"')}; fi;`,
    `[ -n "$f" ] && exit 1;`,
    `echo ${absentMarker}; uname -s; uname -m; echo "$HOME"; id -u;`,
    "for p in sha256sum gzip mktemp; do command -v $p >/dev/null 2>&1 || echo $p; done",
  );
}

/** Where a build goes: below the root-owned directory, or in the home directory of who logged in. */
export function baseDirectory(root: boolean): string {
  return root ? `${installed}/versions` : "$HOME/.cache/tessera";
}

/** The directory of a build. Home directories are often shared between hosts of different architectures. */
export function buildDirectory(root: boolean, id: string, machine: string): string {
  return root ? id : `${id}-${machine}`;
}

/**
 * Makes a temporary directory and prints `made PATH`, or `there` where the build has appeared meanwhile. Where another build has the same runtime, it is linked from there
 * and a second line `linked` says so. Leftovers of uploads that nobody finished within a day are cleared.
 */
export function beginScript(base: string, directory: string, runtimeSha256: string): string {
  return oneLine(
    `umask 022; b="${base}"; mkdir -p "$b" || exit 1;`,
    `if [ -f "$b/${directory}/${sums}" ]; then echo there; exit 0; fi;`,
    `find "$b" -maxdepth 1 -name ".upload-*" -mmin +1440 -exec rm -rf {} + 2>/dev/null;`,
    `t=$(mktemp -d "$b/.upload-XXXXXXXX") || exit 1; echo "made $t";`,
    `for n in "$b"/*/node; do [ -f "$n" ] || continue;`,
    `case "$(sha256sum "$n")" in ${runtimeSha256}*) ln "$n" "$t/node" && echo linked; exit 0;; esac; done; exit 0`,
  );
}

/** Takes the gzip stream of the runtime. A stream that breaks off leaves nothing. */
export function runtimeScript(base: string, temporary: string): string {
  return oneLine(
    `umask 022; t="${base}/${temporary}"; cd "$t" || exit 1;`,
    `gzip -dc > node && chmod 755 node || { cd /; rm -rf "$t"; exit 1; }`,
  );
}

export interface FinishRequest {
  readonly base: string;
  /** Name of the temporary directory. */
  readonly temporary: string;
  readonly directory: string;
  readonly bundleSha256: string;
  readonly runtimeSha256: string;
}

/**
 * Takes the bundle, checks both files, tries the runtime, and gives the directory its name: whoever sees the name sees
 * the whole. When another console was faster, its directory stays.
 */
export function finishScript(request: FinishRequest): string {
  const give = (status: number) => `{ cd /; rm -rf "$t"; exit ${status}; }`;
  return oneLine(
    `umask 022; b="${request.base}"; t="$b/${request.temporary}"; d="$b/${request.directory}"; cd "$t" || exit 1;`,
    `cat > tessera-host.cjs || ${give(1)};`,
    `{ echo "${request.runtimeSha256}  node"; echo "${request.bundleSha256}  tessera-host.cjs"; } > ${sums} || ${give(1)};`,
    `sha256sum -c ${sums} >/dev/null || ${give(checksumStatus)};`,
    `${cleanEnvironment}; ./node --version >/dev/null || ${give(runtimeStatus)};`,
    `chmod 755 . && chmod 644 tessera-host.cjs ${sums} && sync;`,
    `cd /; mv -T "$t" "$d" 2>/dev/null && exit 0;`,
    `rm -rf "$t"; [ -f "$d/${sums}" ]`,
  );
}

export function abandonScript(base: string, temporary: string): string {
  return `rm -rf "${base}/${temporary}"`;
}

export const checksumStatus = 65;
export const runtimeStatus = 66;

function oneLine(...parts: readonly string[]): string {
  return parts.join(" ");
}
