/** The main job: instances are moved into a new layout without a mouse drag. */
import { expect, is80, test } from "../support/demo.ts";

test("'Move to' lists the places, and moves", async ({ console, demo }) => {
  const place = demo.take(
    (gpu) => is80(gpu) && gpu.instances.some((i) => i.holder === null && i.profile === "1g.10gb"),
  );
  const { inspector, plan, page } = { ...console, page: console.page };
  await console.selectGpu(place.host.name, place.gpu.index);
  await inspector
    .drafted(/^1g\.10gb at \d, empty/)
    .first()
    .click();
  await inspector.menuItem("Move to…").click();
  const dialog = page.getByRole("dialog", { name: "Move 1g.10gb to" });
  await expect(dialog).toBeVisible();
  await dialog.getByRole("searchbox", { name: "Filter by host or GPU" }).fill("gpu-01");
  await dialog.getByRole("option").first().click();
  await expect(dialog).toBeHidden();
  await expect(plan.title).toContainText(/on 2 GPUs/);
});
