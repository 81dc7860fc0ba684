/** The inspector: the GPU as two strips, the palette, presets. */
import type { Locator, Page } from "playwright/test";
import { middleOf, type Point } from "./board.ts";

export class InspectorPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get root(): Locator {
    return this.page.getByRole("complementary", { name: "Inspector" });
  }

  get path(): Locator {
    return this.root.getByRole("navigation", { name: "Where" });
  }

  get palette(): Locator {
    return this.root.getByRole("region", { name: /^Drag a profile onto a placement/ });
  }

  profile(name: string): Locator {
    return this.palette.getByRole("button", { name, exact: true });
  }

  get presets(): Locator {
    return this.root.getByRole("region", { name: /^Divide as/ });
  }

  preset(name: string): Locator {
    return this.presets.getByRole("button", { name, exact: true });
  }

  async usePreset(words: string): Promise<void> {
    await this.presets.getByRole("textbox", { name: "Preset" }).fill(words);
    await this.presets.getByRole("button", { name: "Use", exact: true }).click();
  }

  get now(): Locator {
    return this.root.getByRole("list", { name: "Layout now" });
  }

  get draft(): Locator {
    return this.root.getByRole("list", { name: "Layout in the draft" });
  }

  /** An instance of the draft, whose menu moves and removes it. */
  drafted(name: string | RegExp): Locator {
    return this.draft.getByRole("button", { name });
  }

  async draftSlicePoint(slice: number, slices = 8): Promise<Point> {
    await middleOf(this.draft);
    const box = await this.draft.boundingBox();
    if (box === null) throw new Error("there is no draft strip");
    return { x: box.x + ((slice + 0.5) * box.width) / slices, y: box.y + box.height / 2 };
  }

  /** What was changed on the host that is shown. */
  get operations(): Locator {
    return this.root.locator("section").filter({ has: this.page.getByRole("heading", { name: "Operations" }) });
  }

  menuItem(name: string | RegExp): Locator {
    return this.page.getByRole("menuitem", { name });
  }
}
