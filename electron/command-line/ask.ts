/** Answers SSH's questions at a terminal; without one every question is declined, which refuses the host. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Prompt, PromptAnswer } from "../../shared/api/contract.ts";
import type { Prompts } from "../services/prompts/prompts.ts";

export function answerAtTerminal(prompts: Prompts, signal: AbortSignal): void {
  // One at a time: two hosts may ask at once, a person has one keyboard.
  let turn: Promise<void> = Promise.resolve();
  prompts.subscribe((event) => {
    if (event.kind === "gone") return;
    turn = turn
      .then(async () => {
        const answer = await answerTo(event.prompt, signal);
        prompts.answer(event.prompt.id, answer);
      })
      // Answered elsewhere, or no longer needed.
      .catch(() => undefined);
  }, signal);
}

async function answerTo(prompt: Prompt, signal: AbortSignal): Promise<PromptAnswer> {
  if (!process.stdin.isTTY) return { kind: "cancel" };
  switch (prompt.kind) {
    case "host-key-unknown": {
      process.stderr.write(
        `${prompt.host} shows a ${prompt.keyType} key that is not in ${prompt.knownHostsFile}:\n  ${prompt.fingerprint}\n`,
      );
      const yes = await readLine("Trust it and remember it (yes/no)? ", true, signal);
      return yes === "yes" ? { kind: "accept-host-key", remember: true } : { kind: "cancel" };
    }
    case "host-key-changed":
      process.stderr.write(
        `The key of ${prompt.host} is not the one in ${prompt.knownHostsFile}, line ${prompt.line}: refused. Now ${prompt.fingerprint}.\n`,
      );
      return { kind: "cancel" };
    case "password":
      return secret(await readLine(`Password of ${prompt.user} on ${prompt.host}: `, false, signal));
    case "passphrase":
      return secret(await readLine(`Passphrase of ${prompt.keyFile}: `, false, signal));
    case "keyboard-interactive": {
      if (prompt.instructions !== "") process.stderr.write(`${prompt.instructions}\n`);
      const values: string[] = [];
      for (const { text, echo } of prompt.questions)
        values.push(await readLine(`(${prompt.host}) ${text}`, echo, signal));
      return { kind: "secrets", values, remember: false };
    }
  }
}

function secret(value: string): PromptAnswer {
  return { kind: "secrets", values: [value], remember: false };
}

async function readLine(question: string, echo: boolean, signal: AbortSignal): Promise<string> {
  process.stderr.write(question);
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: echo ? process.stderr : silence, terminal: true });
  try {
    return await reader.question("", { signal });
  } finally {
    reader.close();
    if (!echo) process.stderr.write("\n");
  }
}
