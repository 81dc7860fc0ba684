/** Limits on GPU types: chosen from those of the cluster, written by keyboard, drafted with their impact, applied. */
import { expect, test } from "../support/demo.ts";

test("a limit on a GPU type is chosen, drafted, undone, drafted again and applied", async ({ console }) => {
  const { quotas, page } = console;
  await console.go("Quotas");
  await quotas.cell("speech", "GPU cards").click();
  await quotas.otherGpuType.focus();
  const offered = await quotas.otherGpuType.getByRole("option").allTextContents();
  const type = offered[1] ?? "";
  expect(type).not.toBe("");
  await quotas.otherGpuType.selectOption(type);
  await expect(quotas.gpuType(type)).toBeFocused();

  await page.keyboard.type("1.5");
  await page.keyboard.press("Enter");
  await expect(quotas.panel.getByRole("alert")).toContainText("must be whole");
  await expect(quotas.draft).toHaveCount(0);

  await page.keyboard.press("Control+A");
  await page.keyboard.type("4");
  await page.keyboard.press("Enter");
  await expect(quotas.draft.getByText(type)).toBeVisible();
  await expect(quotas.draft.getByText("none to 4")).toBeVisible();
  await expect(quotas.draft.getByRole("heading", { name: "What it does" })).toBeVisible();
  // It is offered no more.
  expect(await quotas.otherGpuType.getByRole("option").allTextContents()).not.toContain(type);

  await quotas.draft.getByRole("button", { name: "Undo" }).click();
  await expect(quotas.gpuType(type)).toHaveCount(0);
  await quotas.draft.getByRole("button", { name: "Redo" }).click();
  await expect(quotas.gpuType(type)).toHaveValue("4");

  await quotas.apply.click();
  await expect(quotas.outcome).toContainText("1 change applied");
  await expect(quotas.gpuType(type)).toHaveValue("4");

  // An empty field takes the limit away.
  await quotas.gpuType(type).fill("");
  await page.keyboard.press("Enter");
  await expect(quotas.draft.getByText("4 to none")).toBeVisible();
});
