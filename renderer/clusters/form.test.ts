import { expect, test } from "vitest";
import { emptyForm, formOf, readForm } from "./form.ts";

const form = { ...emptyForm, name: " lab ", hosts: "gpu[1-2]" };

test("a form that says enough is a draft", () => {
  expect(readForm(form, ["other"])).toEqual({
    ok: true,
    draft: { name: "lab", hosts: ["gpu1", "gpu2"], racks: { kind: "none" } },
  });
});

test.each([
  [{ name: "" }, { field: "name" }],
  [{ name: "taken" }, { field: "name-taken", name: "taken" }],
  [{ hosts: "# nobody" }, { field: "no-hosts" }],
  [{ hosts: "gpu1:70000" }, { field: "hosts", problem: "port", part: "gpu1:70000" }],
  [{ racks: { kind: "pattern", pattern: "(" } as const }, { field: "pattern" }],
  [{ racks: { kind: "pattern", pattern: "r".repeat(201) } as const }, { field: "pattern" }],
  [{ refreshSeconds: "0" }, { field: "refresh" }],
  [{ keepaliveSeconds: "often" }, { field: "keepalive" }],
])("%j is told of at its field", (part, problem) => {
  expect(readForm({ ...form, ...part }, ["taken"])).toEqual({ ok: false, problem });
});

test("saving a cluster keeps its control host for as long as it is one of the hosts", () => {
  const draft = { name: "lab", hosts: ["gpu1", "gpu2"], racks: { kind: "none" as const }, controlHost: "gpu2" };
  expect(readForm(formOf(draft))).toEqual({ ok: true, draft });
  const { controlHost: _gone, ...without } = { ...draft, hosts: ["gpu1"] };
  expect(readForm({ ...formOf(draft), hosts: "gpu1" })).toEqual({ ok: true, draft: without });
});
