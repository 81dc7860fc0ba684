/** The main job: slices are dragged into a new layout, the plan is read, applied, and undone. */
import type { Gpu } from "../../shared/protocol/inventory.ts";
import { expect, is80, isWhole, layoutOf, test } from "../support/demo.ts";

/** Nothing in use stands in the lower half, and something empty does: a 3g.40gb at 0 takes its place. */
function takesHalf(gpu: Gpu): boolean {
  const lower = gpu.instances.filter(({ placement }) => placement.start < 4);
  const upper = gpu.instances.filter(({ placement }) => placement.start >= 4);
  return (
    is80(gpu) &&
    gpu.mig.current === "enabled" &&
    lower.length > 0 &&
    lower.every(({ holder, profile }) => holder === null && !profile.startsWith("3g")) &&
    upper.length === 1
  );
}

test.describe("with the mouse", () => {
  test("a 3g.40gb is dragged onto a GPU of the board, planned, applied and undone", async ({ console, demo }) => {
    const place = demo.take(takesHalf);
    const before = layoutOf(place.gpu);
    const { board, inspector, plan } = console;
    await console.selectGpu(place.host.name, place.gpu.index);
    await board.dragTo(inspector.profile("3g.40gb"), await board.slicePoint(place.host.name, place.gpu.index, 1));
    await expect(plan.title).toContainText(/^Plan: \d+ steps? on 1 GPU/);
    await expect(plan.steps).toContainText("3g.40gb at 0:4");
    await expect(plan.steps).toContainText(/nvidia-smi mig -cgi 9:0 -C -i GPU-/);
    await expect(plan.root.getByText("checked by the host")).toBeVisible();
    // Nothing is applied by a drop.
    expect(layoutOf(demo.gpu(place))).toEqual(before);
    await expect(inspector.now).not.toContainText("3g.40gb at 0");

    await plan.apply();
    await plan.expectApplied();
    await expect(inspector.now.getByRole("button", { name: /^3g\.40gb at 0, / })).toBeVisible();
    await expect.poll(() => layoutOf(demo.gpu(place))).toContain("3g.40gb at 0");

    await plan.undoRun();
    await expect.poll(() => layoutOf(demo.gpu(place))).toEqual(before);
    await plan.close();
  });

  test("after a reload the host says what was done, and undoes it", async ({ console, demo }) => {
    const place = demo.take(takesHalf);
    const before = layoutOf(place.gpu);
    const { board, inspector, plan } = console;
    await console.selectGpu(place.host.name, place.gpu.index);
    await board.dragTo(inspector.profile("3g.40gb"), await inspector.draftSlicePoint(1));
    await plan.apply();
    await plan.expectApplied();
    await console.page.reload();
    await console.waitUntilLive();
    await console.selectHost(place.host.name);
    const newest = inspector.operations.getByRole("listitem").first();
    await expect(newest).toHaveText(new RegExp(`^Plan on GPU ${place.gpu.index}.* by .*done$`));
    await inspector.operations.getByRole("button", { name: "Undo the last" }).click();
    await expect(plan.title).toHaveText(/^Undone at/);
    await expect(newest).toHaveText(new RegExp(`^Undo on GPU ${place.gpu.index}.*done$`));
    await expect.poll(() => layoutOf(demo.gpu(place))).toEqual(before);
    await plan.close();
  });

  test("the page is loaded anew in mid-apply: the change goes on, and the page says how it ended", async ({
    console,
    demo,
  }) => {
    const place = demo.take((gpu) => isWhole(gpu) && is80(gpu));
    const { inspector, plan, page } = console;
    await console.selectGpu(place.host.name, place.gpu.index);
    await inspector.usePreset("7x1g.10gb");
    await plan.apply();
    if (await plan.alert.getByText("This resets").isVisible()) await plan.button("Reset and apply").click();
    await expect(plan.steps.getByText(/^done/).first()).toBeVisible();
    page.on("dialog", (dialog) => void dialog.accept());
    await page.reload();
    await console.waitUntilLive();
    // On a slow machine it has ended before the page is there again.
    await expect(plan.root).toContainText(/A plan, begun .* has ended: done\./);
    await expect.poll(() => layoutOf(demo.gpu(place))).toHaveLength(7);
    // The second half of a double click is no wish to stop.
    await plan.root.getByText("Undo", { exact: true }).dblclick({ delay: 60 });
    await expect(plan.title).toHaveText(/^Undone at/);
    await expect.poll(() => layoutOf(demo.gpu(place))).toHaveLength(0);
    await plan.close();
  });

  test("onto the strip of the inspector, moved, and removed again", async ({ console, demo }) => {
    const place = demo.take(takesHalf);
    const { board, inspector, plan } = console;
    await console.selectGpu(place.host.name, place.gpu.index);
    await board.dragTo(inspector.profile("3g.40gb"), await inspector.draftSlicePoint(1));
    await expect(inspector.drafted(/^3g\.40gb, new at 0:4/)).toBeVisible();
    await inspector.drafted(/^3g\.40gb, new at 0:4/).click();
    await inspector.menuItem("Remove").click();
    await expect(inspector.drafted(/^3g\.40gb, new at 0:4/)).toBeHidden();
    await plan.button("Undo").click();
    await expect(inspector.drafted(/^3g\.40gb, new at 0:4/)).toBeVisible();
    await plan.discard();
    await expect(plan.root).toContainText("Nothing changes on a host before you apply the plan.");
  });

  test("an illegal drop says the rule and changes nothing", async ({ console, demo }) => {
    const place = demo.take(
      (gpu) => is80(gpu) && gpu.instances.some((i) => i.holder !== null && i.placement.start === 0),
    );
    const { board, inspector, plan } = console;
    await console.selectGpu(place.host.name, place.gpu.index);
    const target = await board.slicePoint(place.host.name, place.gpu.index, 0);
    await board.dragTo(inspector.profile("7g.80gb"), target, { hold: true });
    await expect(console.main).toContainText(/would overlap .* holds|in use by/);
    await console.page.mouse.up();
    await expect(plan.root).toContainText("Nothing changes on a host before you apply the plan.");
  });

  test("an instance in use is locked, with who holds it", async ({ console, demo }) => {
    const place = demo.take(
      (gpu) => is80(gpu) && gpu.instances.length > 0 && gpu.instances.every((i) => i.holder !== null),
    );
    const { inspector } = console;
    await console.selectGpu(place.host.name, place.gpu.index);
    await inspector.draft.getByRole("button").first().click();
    const tenant = place.gpu.instances[0]?.holder?.tenant ?? "";
    await expect(inspector.menuItem(new RegExp(`${tenant}.* uses it: it stays as it is`))).toBeVisible();
    await expect(inspector.menuItem(/^Remove/)).toBeDisabled();
  });
});

test("the same by keyboard alone", async ({ console, demo }) => {
  const place = demo.take(takesHalf);
  const before = layoutOf(place.gpu);
  const { inspector, plan, board } = console;
  const { keyboard } = console.page;
  await console.selectHost(place.host.name);
  await expect(board.tree).toBeFocused();
  await keyboard.press("Enter");
  for (let step = 0; step < place.gpu.index % 4; step++) await keyboard.press("ArrowRight");
  for (let step = 0; step < Math.floor(place.gpu.index / 4); step++) await keyboard.press("ArrowDown");
  await expect(inspector.path).toContainText(`GPU ${place.gpu.index}`);
  await keyboard.press("m");
  await expect(inspector.palette.getByRole("button").and(console.page.locator(":focus"))).toBeVisible();
  for (let step = 0; step < 24; step++) {
    if ((await console.page.locator(":focus").textContent()) === "3g.40gb") break;
    await keyboard.press("ArrowRight");
  }
  await expect(inspector.profile("3g.40gb")).toBeFocused();
  await keyboard.press("Enter");
  await expect(inspector.profile("3g.40gb")).toHaveAttribute("aria-pressed", "true");
  await keyboard.press("Enter");
  await expect(inspector.drafted(/^3g\.40gb, new at 0:4/)).toBeVisible();
  // The draft has its own undo.
  await keyboard.press("Control+z");
  await expect(inspector.drafted(/^3g\.40gb, new at 0:4/)).toBeHidden();
  await keyboard.press("Control+Shift+z");
  await expect(plan.root.getByText("checked by the host")).toBeVisible();
  await keyboard.press("p");
  await expect(plan.button("Apply plan")).toBeFocused();
  await keyboard.press("Control+Enter");
  await plan.expectApplied();
  await expect(plan.button("Undo")).toBeFocused();
  await keyboard.press("Enter");
  await expect(plan.title).toHaveText(/^Undone at/);
  await expect.poll(() => layoutOf(demo.gpu(place))).toEqual(before);
});

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

test("a preset on several GPUs, with the reset confirmed", async ({ console, demo }) => {
  // Ampere resets the GPU to change its MIG mode; Hopper does not.
  const resets = (gpu: Gpu) => isWhole(gpu) && gpu.name.includes("A100");
  const first = demo.take((gpu, host) => resets(gpu) && (host.inventory?.gpus.filter(resets).length ?? 0) > 1);
  const second = demo.take((gpu, host) => resets(gpu) && host.id === first.host.id);
  const { board, inspector, plan } = console;
  await console.selectHost(first.host.name);
  await board.clickGpu(first.host.name, first.gpu.index, { add: true });
  await board.clickGpu(first.host.name, second.gpu.index, { add: true });
  await expect(inspector.root).toContainText("2 GPUs marked");
  await inspector.preset("7x1g.10gb").click();
  await expect(plan.title).toContainText(/on 2 GPUs/);
  await plan.apply();
  await expect(plan.alert).toContainText("This resets");
  await plan.button("Reset and apply").click();
  await plan.expectApplied();
  const seven = [0, 1, 2, 3, 4, 5, 6].map((start) => `1g.10gb at ${start}`);
  await expect.poll(() => [layoutOf(demo.gpu(first)), layoutOf(demo.gpu(second))]).toEqual([seven, seven]);
});

test("a layout is copied to another GPU", async ({ console, demo }) => {
  const from = demo.take((gpu) => is80(gpu) && layoutOf(gpu).join() === "3g.40gb at 0,3g.40gb at 4");
  const { inspector, plan, page } = { ...console, page: console.page };
  await console.selectGpu(from.host.name, from.gpu.index);
  await inspector.presets.getByRole("button", { name: "Copy this layout to…" }).click();
  const dialog = page.getByRole("dialog", { name: /^Copy the layout of/ });
  await dialog.getByRole("option").first().click();
  await dialog.getByRole("button", { name: "Copy to 1 GPU" }).click();
  await expect(plan.steps).toContainText("3g.40gb at 0:4");
  await expect(plan.title).toContainText("on 1 GPU");
});
