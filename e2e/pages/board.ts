/** The board. Its canvas has no elements: where a GPU lies is read from the tree that screen readers read. */
import { expect, type Locator, type Page } from "playwright/test";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export class BoardPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get tree(): Locator {
    return this.page.getByRole("tree", { name: "Board of the cluster" });
  }

  get canvas(): Locator {
    return this.tree.locator("canvas");
  }

  /** Has an element only while its host is the focused one. */
  gpu(hostName: string, gpu: number): Locator {
    return this.tree.getByRole("treeitem", { name: new RegExp(`^${hostName} / GPU ${gpu},`) });
  }

  get focused(): Locator {
    return this.tree.getByRole("treeitem", { selected: true });
  }

  /** The middle of a memory slice on the screen, once the board has come to rest. */
  async slicePoint(hostName: string, gpu: number, slice: number, slices = 8): Promise<Point> {
    const item = this.gpu(hostName, gpu);
    await item.waitFor({ state: "attached" });
    let before = "";
    await expect
      .poll(async () => {
        const now = JSON.stringify(await item.boundingBox());
        const same = now === before;
        before = now;
        return same;
      })
      .toBe(true);
    const box = await item.boundingBox();
    if (box === null) throw new Error(`${hostName} / GPU ${gpu} is not on the screen`);
    return { x: box.x + ((slice + 0.5) * box.width) / slices, y: box.y + box.height / 2 };
  }

  async clickGpu(hostName: string, gpu: number, options: { readonly slice?: number; readonly add?: boolean } = {}) {
    const { x, y } = await this.slicePoint(hostName, gpu, options.slice ?? 7);
    if (options.add === true) await this.page.keyboard.down("Control");
    await this.page.mouse.click(x, y);
    if (options.add === true) await this.page.keyboard.up("Control");
  }

  /** Real mouse events: press, move in steps as a hand does, and let go unless told to hold. */
  async dragTo(source: Locator | Point, target: Point, options: { readonly hold?: boolean } = {}): Promise<void> {
    const from = "x" in source ? source : await middleOf(source);
    await this.page.mouse.move(from.x, from.y);
    await this.page.mouse.down();
    await this.page.mouse.move(from.x + 8, from.y + 8, { steps: 2 });
    await this.page.mouse.move(target.x, target.y, { steps: 8 });
    // The browser says where a drag is with the next move, not with the one that began it.
    await this.page.mouse.move(target.x + 1, target.y);
    if (options.hold !== true) await this.page.mouse.up();
  }
}

export async function middleOf(element: Locator): Promise<Point> {
  await element.scrollIntoViewIfNeeded();
  const box = await element.boundingBox();
  if (box === null) throw new Error("it is not on the screen");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}
