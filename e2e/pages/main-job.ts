/** The main job as a newcomer does it, wherever the console runs: window or browser, any cluster with a free 80 GB card. */
import { expect } from "playwright/test";
import type { ConsolePage } from "./console.ts";

/** Puts a 3g.40gb onto the first undivided card that nobody holds, applies, and undoes. Answers with the place. */
export async function moveASlice(console: ConsolePage): Promise<string> {
  const { board, inspector, plan } = console;
  const { hostName, gpu } = await freeCard(console);
  await console.selectGpu(hostName, gpu);
  await board.dragTo(inspector.profile("3g.40gb"), await inspector.draftSlicePoint(1));
  await expect(inspector.drafted(/^3g\.40gb, new at 0/)).toBeVisible();
  await expect(plan.title).toContainText("on 1 GPU, nobody interrupted");
  await plan.apply();
  if (await plan.alert.getByText("This resets").isVisible()) await plan.button("Reset and apply").click();
  await plan.expectApplied();
  await expect(inspector.now.getByRole("button", { name: /^3g\.40gb at 0, / })).toBeVisible();
  await plan.undoRun();
  await expect(inspector.now.getByRole("button", { name: /^3g\.40gb at 0, / })).toBeHidden();
  return `${hostName} / GPU ${gpu}`;
}

async function freeCard(console: ConsolePage): Promise<{ readonly hostName: string; readonly gpu: number }> {
  for (let host = 1; host <= 24; host += 1) {
    const hostName = `gpu-${String(host).padStart(2, "0")}`;
    await console.selectHost(hostName);
    const free = console.board.tree.getByRole("treeitem", { name: /H100 80GB.*, whole, MIG off/ }).first();
    if ((await free.count()) === 0) continue;
    const [, gpu = ""] = /GPU (\d+),/.exec((await free.getAttribute("aria-label")) ?? "") ?? [];
    return { hostName, gpu: Number(gpu) };
  }
  throw new Error("no host of the demo cluster has a free H100 80GB");
}
