/** Lets at most `limit` holders in at once, in the order they came. */
export class Semaphore {
  #limit: number;
  #held = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Takes effect as holders leave. */
  lowerTo(limit: number): void {
    this.#limit = Math.max(1, Math.min(this.#limit, limit));
  }

  /** Resolves to the function that gives the place back; calling it twice does no harm. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#held < this.#limit) {
      this.#held++;
    } else {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      const giveUp = () => {
        const index = this.#waiting.indexOf(resolve);
        if (index < 0) return;
        this.#waiting.splice(index, 1);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      await promise.finally(() => signal?.removeEventListener("abort", giveUp));
    }
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#held--;
      while (this.#held < this.#limit) {
        const next = this.#waiting.shift();
        if (next === undefined) break;
        this.#held++;
        next();
      }
    };
  }
}
