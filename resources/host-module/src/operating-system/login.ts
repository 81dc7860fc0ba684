import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import type { Login } from "../system.ts";
import { crypto } from "./builtin.ts";

/** What 32 bits of "never set" look like in loginuid and sessionid. */
const unset = 0xffff_ffff;
const deepestAncestry = 64;
const unknownLogin: Login = { address: null, keyFingerprint: null, loginUid: null };

/**
 * The SSH login this process runs under, as far as the operating system tells it; see `Login` for what is worth how
 * much. Nothing is taken from our own environment: under sudo it is the caller's, and everything in it could be made up.
 *
 * Only root may look into sshd; without root nothing but the login uid is known. Reads only /proc, and the one file that
 * sshd names. Never throws.
 */
export function readLogin(root: boolean, proc = "/proc", pid: number = process.pid): Login {
  const loginUid = readLoginUid(`${proc}/${pid}/loginuid`);
  if (!root) return { ...unknownLogin, loginUid };
  const ancestors = ancestorsOf(proc, pid);
  const sshd = ancestors.findIndex((ancestor) => isRootSshd(proc, ancestor));
  const server = ancestors[sshd];
  if (server === undefined) return { ...unknownLogin, loginUid };
  return {
    address: peerAddress(proc, server),
    keyFingerprint: keyFingerprint(proc, ancestors.slice(0, sshd).toReversed()),
    loginUid,
  };
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return null;
  }
}

function readLoginUid(path: string): number | null {
  const text = readText(path)?.trim() ?? "";
  if (!/^\d{1,10}$/.test(text)) return null;
  const uid = Number(text);
  return uid === unset ? null : uid;
}

/** This process first, then its parent and so on up. */
function ancestorsOf(proc: string, pid: number): readonly number[] {
  const chain: number[] = [];
  let next = pid;
  while (next > 1 && chain.length < deepestAncestry && !chain.includes(next)) {
    chain.push(next);
    // The name in parentheses may hold anything; the parent is the second field after it.
    const stat = readText(`${proc}/${next}/stat`) ?? "";
    next = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? 0);
  }
  return chain;
}

/** All four user ids of a process; a name is not enough, anybody can call a program sshd. */
function isRootSshd(proc: string, pid: number): boolean {
  return uidsOf(proc, pid).every((uid) => uid === 0) && ["sshd", "sshd-session"].includes(programOf(proc, pid));
}

function uidsOf(proc: string, pid: number): readonly number[] {
  const line = /^Uid:\t(\d+)\t(\d+)\t(\d+)\t(\d+)$/m.exec(readText(`${proc}/${pid}/status`) ?? "");
  return line === null ? [-1] : line.slice(1).map(Number);
}

/** An upgrade of OpenSSH leaves the running one with a deleted file. */
function programOf(proc: string, pid: number): string {
  try {
    return basename(readlinkSync(`${proc}/${pid}/exe`).replace(/ \(deleted\)$/, ""));
  } catch {
    return "";
  }
}

/**
 * The other end of the connection that sshd holds: its lowest descriptor that is an established TCP socket (forwarded
 * ports come later and get higher ones), looked up in the kernel's table.
 */
function peerAddress(proc: string, pid: number): string | null {
  const peers = new Map<string, string>();
  for (const table of ["tcp", "tcp6"]) {
    for (const line of (readText(`${proc}/${pid}/net/${table}`) ?? "").split("\n").slice(1)) {
      const [, , remote, state, , , , , , inode] = line.trim().split(/\s+/);
      const address = remote === undefined ? null : addressOf(remote.split(":")[0] ?? "");
      if (state === "01" && inode !== undefined && address !== null) peers.set(`socket:[${inode}]`, address);
    }
  }
  for (const descriptor of descriptorsOf(proc, pid)) {
    const peer = peers.get(descriptor);
    if (peer !== undefined) return peer;
  }
  return null;
}

function descriptorsOf(proc: string, pid: number): readonly string[] {
  try {
    const directory = `${proc}/${pid}/fd`;
    const numbers = readdirSync(directory).toSorted((a, b) => Number(a) - Number(b));
    return numbers.map((number) => readlinkSync(`${directory}/${number}`));
  } catch {
    return [];
  }
}

/** `0100007F` is 127.0.0.1: words of 32 bits, each in the machine's order, which is little-endian wherever we run. */
function addressOf(hex: string): string | null {
  if (!/^([0-9A-F]{8}|[0-9A-F]{32})$/.test(hex)) return null;
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, "hex")].toReversed());
  const mapped = bytes.length === 16 && bytes.slice(0, 12).join() === "0,0,0,0,0,0,0,0,0,0,255,255";
  if (bytes.length === 4 || mapped) return bytes.slice(-4).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0));
  // The shortest form, by the rules that URLs have for it.
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(":")}]`).hostname.slice(1, -1);
}

/** From the file that sshd writes with `ExposeAuthInfo yes`; `below` are the processes under sshd, the nearest first. */
function keyFingerprint(proc: string, below: readonly number[]): string | null {
  for (const pid of below) {
    const environment = (readText(`${proc}/${pid}/environ`) ?? "").split("\0");
    const path = environment.find((entry) => entry.startsWith("SSH_USER_AUTH="))?.slice("SSH_USER_AUTH=".length);
    if (path === undefined) continue;
    return fingerprintOf(readAuthInfo(path, uidsOf(proc, pid)[0] ?? -1) ?? "");
  }
  return null;
}

const largestAuthInfoBytes = 65_536;

/** The path is the session's word: only a plain file of the very person, under the name that sshd gives such a file. */
function readAuthInfo(path: string, owner: number): string | null {
  if (!/^\/tmp\/sshauth\.[A-Za-z0-9]{15}$/.test(path)) return null;
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const status = fstatSync(file);
      if (!status.isFile() || status.uid !== owner || status.size > largestAuthInfoBytes) return null;
      return readFileSync(file, "latin1");
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/** As `ssh-keygen -l` prints it. A certificate's own hash is not what OpenSSH calls its fingerprint: null for those. */
function fingerprintOf(authInfo: string): string | null {
  const key = /^publickey ([a-z0-9@.-]+) ([A-Za-z0-9+/]+=*)$/m.exec(authInfo);
  if (key?.[2] === undefined || key[1]?.includes("-cert-") !== false) return null;
  const digest = crypto().createHash("sha256").update(Buffer.from(key[2], "base64")).digest("base64");
  return `SHA256:${digest.replace(/=+$/, "")}`;
}
