/** The files of a simulated host: those that show its machine, and a store in memory for what the host module writes. */

import { AppError } from "../../../shared/errors.ts";
import type { FileStatus, Files } from "../../host-module/src/system.ts";
import type { SimulatedMachine } from "../driver/machine.ts";
import { machineDirectory, machineFile, ownerOf } from "./machine-files.ts";

interface StoredFile {
  content: Uint8Array;
  changedAtMs: number;
}

/**
 * One store for a host, shared by every connection to it: what one wrote the next finds, as on a disk. It survives a
 * reboot of the machine; locks do not.
 */
export class MemoryFiles implements Files {
  readonly #machine: SimulatedMachine;
  readonly #stored = new Map<string, StoredFile>();
  readonly #directories = new Map<string, number>([["/", 0]]);
  readonly #locks = new Map<string, string>();
  /** Bytes that may still be written; null is no limit. A write past it fails with `disk-full` and changes nothing. */
  freeBytes: number | null = null;

  constructor(machine: SimulatedMachine) {
    this.#machine = machine;
  }

  async read(path: string): Promise<Uint8Array | null> {
    const stored = this.#stored.get(path);
    if (stored !== undefined) return stored.content;
    const text = machineFile(this.#machine, path);
    return text === null ? null : new TextEncoder().encode(text);
  }

  async list(path: string): Promise<readonly string[] | null> {
    const names = new Set(machineDirectory(this.#machine, path));
    const within = path === "/" ? "/" : `${path}/`;
    for (const key of [...this.#stored.keys(), ...this.#directories.keys()]) {
      if (key !== path && key.startsWith(within)) names.add(key.slice(within.length).split("/")[0] ?? "");
    }
    const known = names.size > 0 || this.#directories.has(path) || machineDirectory(this.#machine, path) !== null;
    return known ? [...names].toSorted() : null;
  }

  async status(path: string): Promise<FileStatus | null> {
    const stored = this.#stored.get(path);
    if (stored !== undefined) {
      return { uid: 0, gid: 0, sizeBytes: stored.content.length, changedAtMs: stored.changedAtMs, kind: "file" };
    }
    const text = machineFile(this.#machine, path);
    if (text !== null) return { ...ownerOf(this.#machine, path), sizeBytes: text.length, kind: "file" };
    if ((await this.list(path)) === null) return null;
    return { ...ownerOf(this.#machine, path), sizeBytes: 4096, kind: "directory" };
  }

  async readLink(path: string): Promise<string | null> {
    const pid = /^\/proc\/(\d+)\/exe$/.exec(path)?.[1];
    const process = this.#machine.state.processes.find((candidate) => candidate.pid === Number(pid));
    return process?.command[0] ?? null;
  }

  async makeDirectory(path: string): Promise<void> {
    const parts = path.split("/").filter((part) => part !== "");
    for (const at of parts.keys()) {
      const directory = `/${parts.slice(0, at + 1).join("/")}`;
      if (!this.#directories.has(directory)) this.#directories.set(directory, this.#machine.now().getTime());
    }
  }

  async replace(path: string, content: Uint8Array): Promise<void> {
    this.#write(path, content.length, Uint8Array.from(content));
  }

  async append(path: string, content: Uint8Array): Promise<void> {
    const before = this.#stored.get(path)?.content ?? new Uint8Array();
    const whole = new Uint8Array(before.length + content.length);
    whole.set(before);
    whole.set(content, before.length);
    this.#write(path, content.length, whole);
  }

  #write(path: string, bytes: number, content: Uint8Array): void {
    if (this.freeBytes !== null) {
      if (bytes > this.freeBytes) {
        throw new AppError({
          code: "disk-full",
          message: `No space is left to write ${path}.`,
          remedy: "Free space on the file system and try again.",
          evidence: { host: this.#machine.state.hostName, details: "ENOSPC" },
        });
      }
      this.freeBytes -= bytes;
    }
    this.#stored.set(path, { content, changedAtMs: this.#machine.now().getTime() });
  }

  async remove(path: string): Promise<void> {
    this.#stored.delete(path);
  }

  async lock(path: string, holder: string): Promise<AsyncDisposable> {
    const other = this.#locks.get(path);
    if (other !== undefined) {
      throw new AppError({
        code: "locked",
        message: `Another operation holds ${path}: ${other}.`,
        remedy: "Wait until it has ended, then try again.",
        evidence: { host: this.#machine.state.hostName, details: other },
      });
    }
    this.#locks.set(path, holder);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#locks.delete(path);
      },
    };
  }

  async isLocked(path: string): Promise<boolean> {
    return this.#locks.has(path);
  }

  /** What a crash or a reboot does to every lock. */
  releaseLocks(): void {
    this.#locks.clear();
  }
}
