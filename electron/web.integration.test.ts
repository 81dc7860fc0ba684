import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { ApiInput } from "../shared/api/contract.ts";
import type { ClusterSnapshot, HostView } from "../shared/api/snapshot.ts";
import { asWish, layoutOf, layoutVersion, legalStarts } from "../shared/mig/index.ts";
import type { GpuGeometry, Layout } from "../shared/mig/types.ts";
import type { Gpu } from "../shared/protocol/inventory.ts";
import { type HeldCluster, withSnapshotEvent } from "../shared/snapshot/follow.ts";
import { connectClient, cookieOf, type TestClient } from "./testing.ts";
import { startWeb, type Web } from "./web.ts";

const scratch = mkdtempSync(join(tmpdir(), "tessera-web-"));
const pageDirectory = join(scratch, "page");
mkdirSync(join(pageDirectory, "assets"), { recursive: true });
writeFileSync(join(pageDirectory, "index.html"), "<!doctype html><html><head></head><body>Tessera</body></html>");
writeFileSync(join(pageDirectory, "assets", "main-1a2b.js"), "1;");
writeFileSync(join(scratch, "secret.txt"), "outside");
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let directories = 0;
const freshDirectory = (): string => join(scratch, `data-${directories++}`);

describe("who may come in", () => {
  let web: Web;
  const said: string[] = [];
  beforeEach(async () => {
    said.length = 0;
    web = await startWeb({
      demo: false,
      dataDirectory: freshDirectory(),
      pageDirectory,
      say: (text) => said.push(text),
    });
  });
  afterEach(() => web.close());

  /** Status of a raw request: fetch would not let a test choose the Host header. */
  const status = (path: string, headers: Record<string, string>, method = "GET"): Promise<number> =>
    new Promise((resolve, reject) => {
      httpRequest({ host: "127.0.0.1", port: web.port, path, method, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      })
        .on("error", reject)
        .end();
    });

  test("nothing is shown without the cookie, and the link gives it once", async () => {
    const { url } = web;
    const { origin } = new URL(url);
    expect((await fetch(origin)).status).toBe(401);
    const first = await fetch(url, { redirect: "manual" });
    expect([first.status, first.headers.get("location")]).toEqual([303, "/"]);
    expect(first.headers.get("set-cookie")).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
    const cookie = first.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(await (await fetch(origin, { headers: { cookie } })).text()).toContain("Tessera");

    const again = await fetch(url, { redirect: "manual" });
    expect([again.status, again.headers.get("set-cookie")]).toEqual([403, null]);
    const fresh = /http:\S+/.exec(said.at(-1) ?? "")?.[0] ?? "";
    expect(await cookieOf(fresh)).not.toBe(cookie);
  });

  test("a look at the link that is no visit does not use it up", async () => {
    const path = new URL(web.url).pathname + new URL(web.url).search;
    const host = `127.0.0.1:${web.port}`;
    expect(await status(path, { host }, "HEAD")).toBe(400);
    expect(await status(path, { host, "sec-purpose": "prefetch;prerender" })).toBe(400);
    expect(await status(path, { host })).toBe(303);
  });

  test("another name than loopback's own is refused, whatever the cookie (DNS rebinding)", async () => {
    const cookie = await cookieOf(web.url);
    const port = web.port;
    expect(await status("/", { host: `127.0.0.1:${port}`, cookie })).toBe(200);
    expect(await status("/", { host: "localhost:9999", cookie })).toBe(200);
    for (const host of ["evil.example", `127.0.0.1.evil.example:${port}`, "127.0.0.1@evil.example"]) {
      expect([host, await status("/", { host, cookie })]).toEqual([host, 421]);
    }
    expect(await status("/", { host: `127.0.0.1:${port}`, cookie }, "POST")).toBe(405);
  });

  test("every answer carries the policy, and only files of the page are served", async () => {
    const cookie = await cookieOf(web.url);
    const { origin } = new URL(web.url);
    const page = await fetch(origin, { headers: { cookie } });
    const policy = page.headers.get("content-security-policy") ?? "";
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(await page.text()).toContain(`<meta property="csp-nonce" nonce="${nonce}">`);
    const other = await fetch(origin, { headers: { cookie } });
    expect(other.headers.get("content-security-policy")).not.toBe(policy);
    const script = await fetch(`${origin}/assets/main-1a2b.js`, { headers: { cookie } });
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    for (const path of ["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/%00", "/%zz", "/assets"]) {
      const host = `127.0.0.1:${web.port}`;
      expect([path, await status(path, { host, cookie })]).toEqual([path, 404]);
    }
  });

  test("the WebSocket wants the cookie and exactly the page's own origin", async () => {
    const cookie = await cookieOf(web.url);
    const { host, origin } = new URL(web.url);
    const opens = (path: string, headers: Record<string, string>): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = new WebSocket(`ws://${host}${path}`, { headers });
        socket.once("open", () => {
          socket.close();
          resolve(true);
        });
        socket.once("error", () => resolve(false));
      });
    expect(await opens("/api", { cookie, origin })).toBe(true);
    expect(await opens("/api", { origin })).toBe(false);
    expect(await opens("/api", { cookie })).toBe(false);
    expect(await opens("/api", { cookie, origin: "null" })).toBe(false);
    expect(await opens("/api", { cookie, origin: "http://evil.example" })).toBe(false);
    expect(await opens("/api", { cookie, origin: `http://localhost:${web.port}` })).toBe(false);
    expect(await opens("/other", { cookie, origin })).toBe(false);
    expect(await opens("/api", { cookie: `${cookie.slice(0, -1)}~`, origin })).toBe(false);
  });
});

describe("starting and stopping", () => {
  test("a port in use is said, with what to do", async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, "127.0.0.1", () => {
        const address = other.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
    await expect(startWeb({ demo: false, port, dataDirectory: freshDirectory(), pageDirectory })).rejects.toMatchObject(
      {
        code: "bad-request",
        message: `Port ${port} on 127.0.0.1 is in use.`,
        remedy: expect.stringContaining("--port"),
      },
    );
    await new Promise((resolve) => other.close(resolve));
  });

  test.each(["SIGINT", "SIGTERM"] as const)("%s ends the program cleanly", async (signal) => {
    const program = spawn(process.execPath, [
      join(import.meta.dirname, "web.ts"),
      "--no-demo",
      "--data-directory",
      freshDirectory(),
    ]);
    let printed = "";
    program.stdout.on("data", (chunk) => {
      printed += String(chunk);
      if (printed.includes("?token=")) program.kill(signal);
    });
    const exit = await new Promise((resolve) => program.once("exit", (code, by) => resolve([code, by])));
    expect(exit).toEqual([0, null]);
  });

  test("wrong options end with a sentence and status 2, unknown clusters with status 1", async () => {
    const run = (words: readonly string[]): Promise<[number | null, string]> =>
      new Promise((resolve) => {
        const program = spawn(process.execPath, [
          join(import.meta.dirname, "web.ts"),
          "--data-directory",
          freshDirectory(),
          ...words,
        ]);
        let printed = "";
        program.stderr.on("data", (chunk) => {
          printed += String(chunk);
        });
        program.once("exit", (code) => resolve([code, printed]));
      });
    expect(await run(["--port", "70000"])).toEqual([2, expect.stringContaining("'70000' is not a port number.")]);
    expect(await run(["--no-demo", "--cluster", "x"])).toEqual([
      1,
      expect.stringContaining("There is no cluster 'x'."),
    ]);
  });
});

describe("the demo cluster through the WebSocket", () => {
  let web: Web;
  let client: TestClient;
  const said: string[] = [];
  beforeAll(async () => {
    web = await startWeb({
      dataDirectory: freshDirectory(),
      pageDirectory,
      say: (text) => said.push(text),
      services: { demoOptions: { hostCount: 8, live: false, durationScale: 0 } },
    });
    client = await connectClient(web.url);
  });
  afterAll(async () => {
    client?.close();
    await web?.close();
  });

  test("connects, plans a 3g.40gb, applies it, and undoes it", async () => {
    const [cluster] = await client.request("clusters.list", {});
    expect(cluster).toMatchObject({ id: "demo", kind: "demo" });
    await client.request("clusters.connect", { clusterId: "demo" });
    const view = watchSnapshot(client);
    const { host, gpu, geometry, kept, start } = await view.until((snapshot) => roomFor(snapshot, "3g.40gb"));
    const profile = geometry.profiles.find((candidate) => candidate.name === "3g.40gb");
    const before = layoutOf(gpu, geometry);
    const draftFor = (layout: Layout): ApiInput<"partition.plan"> => {
      const gpus = [{ gpuUuid: gpu.uuid, layout, basedOn: layoutVersion(before) }];
      // As JSON carries it: the contract's schema is the judge of it, not this test's types.
      return JSON.parse(JSON.stringify({ clusterId: "demo", hosts: [{ hostId: host.id, gpus }] }));
    };
    const wire = draftFor({
      migEnabled: true,
      instances: [...kept.instances, { profileId: profile?.id ?? -1, start }],
    });

    const [planned] = await client.request("partition.plan", wire);
    const plannedSteps = planned?.ok ? (planned.plan.gpus[0]?.steps ?? []) : [];
    expect(plannedSteps.at(-1)).toMatchObject({ kind: "create-instance", profile: "3g.40gb", placement: { start } });

    const steps: string[] = [];
    const [applied] = await client.task("partition.apply", wire, (progress) => {
      if (progress.kind === "step" && progress.progress.outcome.kind === "done")
        steps.push(progress.progress.step.kind);
    });
    expect(applied).toMatchObject({ hostId: host.id, ok: true, result: { outcome: "applied" } });
    expect(steps).toEqual(plannedSteps.map((step) => step.kind));
    await view.until((snapshot) => hasInstance(snapshot, host.id, gpu.uuid, "3g.40gb", start));

    const outdated = draftFor(kept);
    const [stale] = await client.task("partition.apply", outdated);
    expect(stale).toMatchObject({ ok: false, error: { code: "stale-plan" } });

    const operationId = applied?.ok ? (applied.result.operationId ?? "") : "";
    const [undone] = await client.task("partition.undo", {
      clusterId: "demo",
      operations: [{ hostId: host.id, operationId }],
    });
    expect(undone).toMatchObject({ hostId: host.id, ok: true, result: { outcome: "applied" } });
    await view.until((snapshot) => (hasInstance(snapshot, host.id, gpu.uuid, "3g.40gb", start) ? null : true));
    view.close();
  });

  test("the terminal shows the address and the summary once", () => {
    expect(said[0]).toContain(`http://127.0.0.1:${web.port}/?token=`);
    const summaries = said.filter((text) => text.startsWith("Cluster demo:"));
    expect(summaries).toHaveLength(1);
    expect(summaries[0]).toMatch(/HOST +STATE +GPU MODEL +GPUS +MIG ON +INSTANCES +FREE +WHOLE CARDS FREE/);
  });

  test("a host that is not there has its own error and leaves the others their plans", async () => {
    const view = watchSnapshot(client);
    const { host, gpu, geometry } = await view.until((snapshot) => roomFor(snapshot, "3g.40gb"));
    view.close();
    const layout = JSON.parse(JSON.stringify(asWish(layoutOf(gpu, geometry))));
    const results = await client.request("partition.plan", {
      clusterId: "demo",
      hosts: [
        { hostId: "nowhere", gpus: [{ gpuUuid: gpu.uuid, layout }] },
        { hostId: host.id, gpus: [{ gpuUuid: gpu.uuid, layout }] },
      ],
    });
    expect(results).toMatchObject([
      { hostId: "nowhere", ok: false, error: { code: "not-found" } },
      { hostId: host.id, ok: true, plan: { gpus: [{ steps: [] }] } },
    ]);
  });
});

interface SnapshotWatch {
  /** The first value that is not null, of this snapshot or a later one. */
  until<T>(look: (snapshot: ClusterSnapshot) => T | null): Promise<T>;
  close(): void;
}

function watchSnapshot(client: TestClient): SnapshotWatch {
  let held: HeldCluster | null = null;
  let snapshot: ClusterSnapshot | null = null;
  const waiting = new Set<() => void>();
  const close = client.subscribe("snapshot", { clusterId: "demo" }, (event) => {
    held = withSnapshotEvent(held, event);
    snapshot = { ...held, hosts: [...held.hosts.values()] };
    for (const look of waiting) look();
  });
  return {
    until: (look) =>
      new Promise((resolve) => {
        const tryNow = (): void => {
          const found = snapshot === null ? null : look(snapshot);
          if (found === null) return;
          waiting.delete(tryNow);
          resolve(found);
        };
        waiting.add(tryNow);
        tryNow();
      }),
    close,
  };
}

interface Room {
  readonly host: HostView;
  readonly gpu: Gpu;
  readonly geometry: GpuGeometry;
  /** The instances that are in use. */
  readonly kept: Layout;
  readonly start: number;
}

/** A divided GPU of a live host that takes one of that profile beside what is in use. */
function roomFor(snapshot: ClusterSnapshot, profileName: string): Room | null {
  for (const host of snapshot.hosts) {
    if (host.state.kind !== "live" || host.inventory === null || host.openOperationId !== null) continue;
    for (const gpu of host.inventory.gpus) {
      const geometry = gpu.geometry === null ? undefined : host.inventory.geometries[gpu.geometry];
      const profile = geometry?.profiles.find((candidate) => candidate.name === profileName);
      if (geometry === undefined || profile === undefined || gpu.mig.current !== "enabled") continue;
      const current = layoutOf(gpu, geometry);
      // What nobody uses may go.
      const kept = asWish({ ...current, instances: current.instances.filter((one) => one.inUse === true) });
      const [start] = legalStarts(geometry, kept, profile.id);
      if (start !== undefined) return { host, gpu, geometry, kept, start };
    }
  }
  return null;
}

function hasInstance(snapshot: ClusterSnapshot, hostId: string, gpuUuid: string, profile: string, start: number) {
  const host = snapshot.hosts.find((candidate) => candidate.id === hostId);
  const gpu = host?.inventory?.gpus.find((candidate) => candidate.uuid === gpuUuid);
  return gpu?.instances.some((one) => one.profile === profile && one.placement.start === start) === true ? true : null;
}
