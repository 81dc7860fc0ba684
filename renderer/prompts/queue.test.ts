import { describe, expect, test } from "vitest";
import type { Prompt } from "../../shared/api/contract.ts";
import { withPrompt } from "./queue.ts";

function prompt(id: string, attempt = 1): Prompt {
  return { id, clusterId: "c", host: `gpu-${id}`, kind: "password", user: "ops", attempt };
}

describe("the queue of questions", () => {
  test("keeps the order in which hosts asked, and forgets what was answered elsewhere", () => {
    const asked = ["1", "2", "3"].reduce<readonly Prompt[]>(
      (queue, id) => withPrompt(queue, { kind: "asked", prompt: prompt(id) }),
      [],
    );
    expect(withPrompt(asked, { kind: "gone", promptId: "2" })).toEqual([prompt("1"), prompt("3")]);
    expect(withPrompt(asked, { kind: "gone", promptId: "9" })).toBe(asked);
  });

  test("replaces a question that is asked again in its place", () => {
    const queue = [prompt("1"), prompt("2")];
    expect(withPrompt(queue, { kind: "asked", prompt: prompt("1", 2) })).toEqual([prompt("1", 2), prompt("2")]);
  });
});
