import { describe, expect, test } from "vitest";
import type { PromptAnswer, PromptEvent } from "../../../shared/api/contract.ts";
import { Prompts, type Question } from "./prompts.ts";

const password: Question = { kind: "password", clusterId: "c", host: "h", user: "root", attempt: 1 };
const unknownKey: Question = {
  kind: "host-key-unknown",
  clusterId: "c",
  host: "h",
  keyType: "ssh-ed25519",
  fingerprint: "SHA256:x",
  knownHostsFile: "~/.ssh/known_hosts",
};
const never = new AbortController().signal;

function listen(prompts: Prompts): PromptEvent[] {
  const events: PromptEvent[] = [];
  prompts.subscribe((event) => events.push(event), never);
  return events;
}

function askedId(events: readonly PromptEvent[]): string {
  const event = events.find((one) => one.kind === "asked");
  return event?.kind === "asked" ? event.prompt.id : "";
}

describe("a question", () => {
  test("reaches every console, those that come later too; the first answer counts", async () => {
    const prompts = new Prompts();
    const early = listen(prompts);
    const answer = prompts.ask(password, never);
    const late = listen(prompts);
    expect(late).toEqual(early);
    const promptId = askedId(late);
    prompts.answer(promptId, { kind: "secrets", values: ["s"], remember: false });
    expect(await answer).toEqual({ kind: "secrets", values: ["s"], remember: false });
    expect(early.at(-1)).toEqual({ kind: "gone", promptId });
    expect(() => prompts.answer(promptId, { kind: "cancel" })).toThrow(expect.objectContaining({ code: "not-found" }));
  });

  test("is gone, and cancelled, when the asker no longer needs it", async () => {
    const prompts = new Prompts();
    const events = listen(prompts);
    const asker = new AbortController();
    const answer = prompts.ask(password, asker.signal);
    asker.abort();
    expect(await answer).toEqual({ kind: "cancel" });
    expect(events.map((event) => event.kind)).toEqual(["asked", "gone"]);
    expect(listen(prompts)).toEqual([]);
  });

  test("is not asked when the asker has gone before", async () => {
    const prompts = new Prompts();
    const events = listen(prompts);
    expect(await prompts.ask(password, AbortSignal.abort())).toEqual({ kind: "cancel" });
    expect(events).toEqual([]);
  });

  test("takes only an answer of its own kind, and stays open after another", async () => {
    const prompts = new Prompts();
    const events = listen(prompts);
    const answer = prompts.ask(unknownKey, never);
    const wrong: PromptAnswer = { kind: "secrets", values: ["yes"], remember: true };
    expect(() => prompts.answer(askedId(events), wrong)).toThrow(expect.objectContaining({ code: "bad-request" }));
    prompts.answer(askedId(events), { kind: "accept-host-key", remember: true });
    expect(await answer).toEqual({ kind: "accept-host-key", remember: true });
  });
});
