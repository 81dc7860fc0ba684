/** What goes wrong while people work: somebody was faster, a host dies in mid-change. */
import type { Gpu } from "../../shared/protocol/inventory.ts";
import { expect, is80, layoutOf, test } from "../support/demo.ts";

/** Divided, and nobody holds anything of it. */
function isIdle(gpu: Gpu): boolean {
  return is80(gpu) && gpu.mig.current === "enabled" && gpu.instances.every(({ holder }) => holder === null);
}

test("of two consoles, the later is told what changed, and plans again", async ({ console, demo, browser, open }) => {
  // With no 1g.10gb before: one that stood and that the other console removed would not come back by replanning.
  const place = demo.take(
    (gpu) =>
      isIdle(gpu) &&
      gpu.instances.every(({ profile }) => profile !== "1g.10gb") &&
      gpu.instances.some(({ profile }) => profile !== "3g.40gb"),
  );
  await console.selectGpu(place.host.name, place.gpu.index);
  await console.inspector.preset("7x1g.10gb").click();
  await expect(console.plan.root.getByText("checked by the host")).toBeVisible();

  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const other = await open(await context.newPage());
  await other.selectGpu(place.host.name, place.gpu.index);
  await other.inspector.preset("2x3g.40gb").click();
  await other.plan.apply();
  await other.plan.expectApplied();
  await context.close();

  await expect(console.plan.alert).toContainText("1 GPU changed since this draft was begun");
  await expect(console.plan.alert).toContainText("now 2 × 3g.40gb");
  await console.plan.button("Replan on the newest layout").click();
  await console.plan.apply();
  await console.plan.expectApplied();
  const seven = [0, 1, 2, 3, 4, 5, 6].map((start) => `1g.10gb at ${start}`);
  await expect.poll(() => layoutOf(demo.gpu(place))).toEqual(seven);
});

test("a driver that fails in mid-plan: the host is put back, and says why", async ({ console, demo }) => {
  const place = demo.take((gpu) => isIdle(gpu) && gpu.instances.length > 1);
  const before = layoutOf(place.gpu);
  const control = await demo.control(place.host.name);
  await console.selectGpu(place.host.name, place.gpu.index);
  await console.inspector.preset("2x3g.40gb").click();
  await expect(console.plan.root.getByText("checked by the host")).toBeVisible();
  control.setFaults([
    {
      match: "mig -cgi",
      occurrence: 1,
      action: { kind: "fail", exitStatus: 23, stdout: "Failed to create GPU instances: Insufficient Resources\n" },
    },
  ]);
  await console.plan.apply();
  await expect(console.plan.title).toHaveText("Rolled back: everything is as before");
  await expect(console.plan.root).toContainText("Insufficient Resources");
  await expect.poll(() => layoutOf(demo.gpu(place))).toEqual(before);
});

test("a host that dies during apply: its journal waits, and finishing completes it", async ({ console, demo }) => {
  const place = demo.take((gpu) => isIdle(gpu) && gpu.instances.length > 2);
  const control = await demo.control(place.host.name);
  await console.selectGpu(place.host.name, place.gpu.index);
  await console.inspector.preset("2x3g.40gb").click();
  await expect(console.plan.root.getByText("checked by the host")).toBeVisible();
  // SIGKILL for tessera-host while the driver is at work on the first new instance.
  control.setFaults([{ match: "mig -cgi", occurrence: 1, action: { kind: "kill-parent", when: "during" } }]);
  await console.plan.apply();
  await expect(console.plan.root.getByRole("button", { name: "Finish" })).toBeVisible({ timeout: 60_000 });
  await console.plan.root.getByRole("button", { name: "Finish" }).click();
  await expect.poll(() => layoutOf(demo.gpu(place)), { timeout: 60_000 }).toEqual(["3g.40gb at 0", "3g.40gb at 4"]);
});
