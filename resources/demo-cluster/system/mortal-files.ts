/** Files as one process sees them: when it is dead, nothing it asked for ever comes to an end. */
import type { FileStatus, Files } from "../../host-module/src/system.ts";

export class MortalFiles implements Files {
  readonly #files: Files;
  readonly #alive: () => boolean;

  constructor(files: Files, alive: () => boolean) {
    this.#files = files;
    this.#alive = alive;
  }

  read(path: string): Promise<Uint8Array | null> {
    return this.#ask(() => this.#files.read(path));
  }
  list(path: string): Promise<readonly string[] | null> {
    return this.#ask(() => this.#files.list(path));
  }
  status(path: string): Promise<FileStatus | null> {
    return this.#ask(() => this.#files.status(path));
  }
  readLink(path: string): Promise<string | null> {
    return this.#ask(() => this.#files.readLink(path));
  }
  makeDirectory(path: string, mode: number): Promise<void> {
    return this.#ask(() => this.#files.makeDirectory(path, mode));
  }
  replace(path: string, content: Uint8Array, mode: number): Promise<void> {
    return this.#ask(() => this.#files.replace(path, content, mode));
  }
  append(path: string, content: Uint8Array, mode: number): Promise<void> {
    return this.#ask(() => this.#files.append(path, content, mode));
  }
  remove(path: string): Promise<void> {
    return this.#ask(() => this.#files.remove(path));
  }
  lock(path: string, holder: string): Promise<AsyncDisposable> {
    return this.#ask(() => this.#files.lock(path, holder));
  }
  isLocked(path: string): Promise<boolean> {
    return this.#ask(() => this.#files.isLocked(path));
  }

  #ask<T>(question: () => Promise<T>): Promise<T> {
    return this.#alive() ? question() : never();
  }
}

/** What a dead process waits for. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}
