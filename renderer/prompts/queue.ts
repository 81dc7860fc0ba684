/** Questions of hosts, first come first served. Each holds up its own host only. */
import type { Prompt, PromptEvent } from "../../shared/api/contract.ts";

export function withPrompt(queue: readonly Prompt[], event: PromptEvent): readonly Prompt[] {
  if (event.kind === "gone") {
    return queue.some(({ id }) => id === event.promptId) ? queue.filter(({ id }) => id !== event.promptId) : queue;
  }
  const known = queue.findIndex(({ id }) => id === event.prompt.id);
  return known === -1 ? [...queue, event.prompt] : queue.with(known, event.prompt);
}
