/** A person who answers from a list, and remembers what was asked. For tests. */
import type { PromptAnswer } from "../../../shared/api/contract.ts";
import type { Prompter, Question } from "./interfaces.ts";

export class ScriptedPrompter implements Prompter {
  readonly asked: Question[] = [];
  readonly #answer: (question: Question) => PromptAnswer | Promise<PromptAnswer>;

  constructor(answer: (question: Question) => PromptAnswer | Promise<PromptAnswer>) {
    this.#answer = answer;
  }

  async ask(question: Question): Promise<PromptAnswer> {
    this.asked.push(question);
    return await this.#answer(question);
  }

  kinds(): string[] {
    return this.asked.map((question) => question.kind);
  }
}

export function secrets(...values: string[]): PromptAnswer {
  return { kind: "secrets", values, remember: false };
}
