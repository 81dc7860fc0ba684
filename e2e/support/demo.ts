/**
 * The console on a demo cluster that stands still, in the process of the test: what a host says and how it dies is
 * in the test's hands. Nothing of this is in the console itself.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, type Page } from "playwright/test";
import { startWeb, type Web } from "../../electron/web/console.ts";
import type { DemoHostControl } from "../../resources/demo-cluster/index.ts";
import type { HostView } from "../../shared/api/snapshot.ts";
import type { Gpu } from "../../shared/protocol/inventory.ts";
import { ConsolePage } from "../pages/console.ts";

export interface Place {
  readonly host: HostView;
  readonly gpu: Gpu;
}

export interface DemoConsole {
  readonly web: Web;
  hosts(): readonly HostView[];
  /** As the console last read it. */
  gpu(place: Place): Gpu;
  control(hostName: string): Promise<DemoHostControl>;
  /** A GPU that no other test has: tests do not stand on each other's layouts. */
  take(suits: (gpu: Gpu, host: HostView) => boolean): Place;
}

async function startDemoConsole(): Promise<DemoConsole> {
  const web = await startWeb({
    dataDirectory: mkdtempSync(join(tmpdir(), "tessera-demo-")),
    services: { demoOptions: { live: false, durationScale: 0.3 } },
  });
  const hosts = () => web.services.clusters.get("demo").publisher.current().hosts;
  const taken = new Set<string>();
  return {
    web,
    hosts,
    gpu: ({ gpu }) => {
      for (const host of hosts()) {
        const found = host.inventory?.gpus.find(({ uuid }) => uuid === gpu.uuid);
        if (found !== undefined) return found;
      }
      throw new Error(`${gpu.uuid} is gone`);
    },
    control: async (hostName) => {
      const demo = await web.services.demo?.running();
      if (demo === undefined) throw new Error("there is no demo");
      return demo.control(hostName);
    },
    take: (suits) => {
      for (const host of hosts()) {
        if (host.state.kind !== "live") continue;
        for (const gpu of host.inventory?.gpus ?? []) {
          if (gpu.state.kind !== "ok" || taken.has(gpu.uuid) || !suits(gpu, host)) continue;
          taken.add(gpu.uuid);
          return { host, gpu };
        }
      }
      throw new Error("the demo has no such GPU");
    },
  };
}

/** A card that is undivided, works, and nobody holds. */
export function isWhole(gpu: Gpu): boolean {
  return is80(gpu) && gpu.mig.current === "disabled" && gpu.holder === null && gpu.processes.length === 0;
}

export function is80(gpu: Gpu): boolean {
  return gpu.memory.totalMiB !== null && gpu.memory.totalMiB > 75_000 && gpu.memory.totalMiB < 90_000;
}

/** `3g.40gb at 4`, in order. */
export function layoutOf(gpu: Gpu): readonly string[] {
  return gpu.instances
    .map(({ profile, placement }) => `${profile} at ${placement.start}`)
    .toSorted((a, b) => Number(a.split(" at ")[1]) - Number(b.split(" at ")[1]));
}

export const test = base.extend<
  { console: ConsolePage; open: (page: Page) => Promise<ConsolePage> },
  { demo: DemoConsole }
>({
  demo: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what is used from here
    async ({}, use) => {
      const demo = await startDemoConsole();
      await use(demo);
      await demo.web.close();
    },
    { scope: "worker" },
  ],
  open: async ({ demo }, use) => {
    await use(async (page) => {
      // Settings are the console's, and the tests share one.
      await demo.web.services.handlers["settings.set"](
        { language: "en", theme: "system" },
        new AbortController().signal,
      );
      const console = new ConsolePage(page);
      await console.open(demo.web.url);
      await console.waitUntilLive();
      return console;
    });
  },
  console: async ({ page, open }, use) => {
    await use(await open(page));
  },
});

export { expect } from "playwright/test";
