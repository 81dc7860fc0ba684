import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { api } from "../../shared/api/contract.ts";
import { AppError } from "../../shared/errors.ts";
import type { HostConnector } from "./clusters/connector.ts";
import { type Services, startServices } from "./main.ts";
import { Prompts } from "./prompts/prompts.ts";

let directory: string;
let services: Services;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-services-"));
});
afterEach(async () => {
  await services.close();
  rmSync(directory, { recursive: true, force: true });
});

const start = (connector: HostConnector, demo = false): Services => {
  services = startServices({ version: "0", desktop: false, demo, dataDirectory: directory, connector });
  return services;
};

const noHosts: HostConnector = {
  connect: () => Promise.reject(new AppError({ code: "ssh-unreachable", message: "no", remedy: "" })),
};

test("every name of the contract has a handler, and there is no other", () => {
  expect(Object.keys(start(noHosts).handlers).sort()).toEqual(Object.keys(api).sort());
});

test("without a keyring the console says that secrets are kept in memory", async () => {
  expect(await start(noHosts).handlers["app.info"]({}, new AbortController().signal)).toMatchObject({
    secrets: "memory",
    demo: false,
    desktop: false,
  });
});

test("a store that cannot be used is said, and the console works on in memory", async () => {
  const occupied = join(directory, "occupied");
  writeFileSync(occupied, "");
  services = startServices({ version: "0", desktop: false, demo: false, dataDirectory: occupied, connector: noHosts });
  const { id } = services.clusters.add({ name: "lab", hosts: ["h"], racks: { kind: "none" } });
  expect(services.clusters.list()).toMatchObject([{ id, name: "lab" }]);
  expect(await services.handlers["app.info"]({}, new AbortController().signal)).toMatchObject({
    storeTrouble: { code: "permission", message: expect.stringContaining("in memory") },
  });
});

test("starting connects to nothing, the demo included", () => {
  const connect = vi.fn(noHosts.connect);
  const { clusters, demo } = start({ connect }, true);
  expect(clusters.list()).toMatchObject([{ id: "demo", kind: "demo", connected: false }]);
  expect(demo).not.toBe(null);
  expect(connect).not.toHaveBeenCalled();
});

test("the demo cluster cannot be changed or removed", async () => {
  const { clusters } = start(noHosts, true);
  await expect(clusters.remove("demo")).rejects.toMatchObject({ code: "forbidden" });
  await expect(clusters.update("demo", clusters.get("demo").draft)).rejects.toMatchObject({ code: "forbidden" });
});

test("a password that was typed is in no file and in no event of the troubleshooting page", async () => {
  const secret = "correct-horse-battery-staple";
  const signal = new AbortController().signal;
  const started = start({
    connect: async ({ clusterId, destination }) => {
      const answer = await started.prompts.ask(
        { kind: "password", clusterId, host: destination, user: "root", attempt: 1 },
        signal,
      );
      expect(answer).toMatchObject({ kind: "secrets", values: [secret] });
      throw new AppError({ code: "ssh-auth", message: "Permission denied (password).", remedy: "" });
    },
  });
  started.prompts.subscribe((event) => {
    if (event.kind !== "asked") return;
    started.prompts.answer(event.prompt.id, { kind: "secrets", values: [secret], remember: true });
  }, signal);
  const { id } = started.clusters.add({ name: "lab", hosts: ["h"], racks: { kind: "none" } });
  started.clusters.get(id).connect();
  await vi.waitFor(() => expect(started.clusters.get(id).host("h").view().state.kind).toBe("refused"));
  const events: unknown[] = [];
  started.trouble.subscribe((batch) => events.push(...batch), signal);
  await started.close();
  const files = readdirSync(directory).map((name) => readFileSync(join(directory, name)).toString("latin1"));
  expect(files.length).toBeGreaterThan(0);
  expect([...files, JSON.stringify(events)].filter((text) => text.includes(secret))).toEqual([]);
});

test("a question waits for as long as it takes, and one host's holds up no other's", async () => {
  const prompts = new Prompts();
  const signal = new AbortController().signal;
  const question = { kind: "password", clusterId: "c", user: "u", attempt: 1 } as const;
  const slow = prompts.ask({ ...question, host: "slow" }, signal);
  const quick = prompts.ask({ ...question, host: "quick" }, signal);
  prompts.subscribe((event) => {
    if (event.kind === "asked" && event.prompt.host === "quick") prompts.answer(event.prompt.id, { kind: "cancel" });
  }, signal);
  expect(await quick).toEqual({ kind: "cancel" });
  expect(await Promise.race([slow, Promise.resolve("still open")])).toBe("still open");
  start(noHosts);
});
