/**
 * Hosts that are being opened together. Each is asked for what its first push left out once the GPUs of all of them are
 * on the screen: with many hosts behind one bastion, or on one machine, the rest of the first would hold up the last.
 */
export class Opening {
  readonly #opening = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  begin(hostId: string): void {
    this.#opening.add(hostId);
  }

  /** The host's GPUs are there; `complete` is called once this holds for all hosts that began. */
  seen(hostId: string, complete: () => void): void {
    this.#waiting.set(hostId, complete);
    this.#end(hostId);
  }

  /** The host failed, or nobody wants it any more. */
  left(hostId: string): void {
    this.#waiting.delete(hostId);
    this.#end(hostId);
  }

  #end(hostId: string): void {
    this.#opening.delete(hostId);
    if (this.#opening.size > 0) return;
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const complete of all) complete();
  }
}
