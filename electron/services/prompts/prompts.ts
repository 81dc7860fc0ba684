/**
 * Questions from SSH to a person and back. Every console that listens sees every open question, including those
 * asked before it came; the first answer counts. With nobody listening the question waits.
 */
import { randomUUID } from "node:crypto";
import type { Prompt, PromptAnswer, PromptEvent } from "../../../shared/api/contract.ts";
import { AppError } from "../../../shared/errors.ts";

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
export type Question = DistributiveOmit<Prompt, "id">;

interface Open {
  readonly prompt: Prompt;
  readonly settle: (answer: PromptAnswer) => void;
}

export class Prompts {
  readonly #open = new Map<string, Open>();
  readonly #listeners = new Set<(event: PromptEvent) => void>();

  /** Resolves with the person's answer; `cancel` when the asker no longer needs it. */
  ask(question: Question, signal: AbortSignal): Promise<PromptAnswer> {
    if (signal.aborted) return Promise.resolve({ kind: "cancel" });
    const prompt: Prompt = { ...question, id: randomUUID() };
    return new Promise((resolve) => {
      const settle = (answer: PromptAnswer): void => {
        if (!this.#open.delete(prompt.id)) return;
        signal.removeEventListener("abort", abort);
        this.#tell({ kind: "gone", promptId: prompt.id });
        resolve(answer);
      };
      const abort = (): void => settle({ kind: "cancel" });
      signal.addEventListener("abort", abort, { once: true });
      this.#open.set(prompt.id, { prompt, settle });
      this.#tell({ kind: "asked", prompt });
    });
  }

  answer(promptId: string, answer: PromptAnswer): void {
    const open = this.#open.get(promptId);
    if (open === undefined) {
      throw new AppError({
        code: "not-found",
        message: "That question is no longer open: it was answered elsewhere, or is no longer needed.",
        remedy: "",
      });
    }
    const fits = answer.kind === "cancel" || (answer.kind === "accept-host-key") === isAboutKey(open.prompt);
    if (!fits) {
      throw new AppError({
        code: "bad-request",
        message: `A question of kind '${open.prompt.kind}' cannot be answered with '${answer.kind}'.`,
        remedy: "",
      });
    }
    open.settle(answer);
  }

  subscribe(listener: (event: PromptEvent) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    for (const { prompt } of this.#open.values()) listener({ kind: "asked", prompt });
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener), { once: true });
  }

  #tell(event: PromptEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

function isAboutKey(prompt: Prompt): boolean {
  return prompt.kind === "host-key-unknown" || prompt.kind === "host-key-changed";
}
