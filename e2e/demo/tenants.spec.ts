/** Tenants, projects and people on the demo cluster's ledger. */
import { expect, test } from "../support/demo.ts";

test("a tenant is made, a project, two people in it; a name is changed by the keyboard, and removal says what goes", async ({
  console,
}) => {
  const { tenants, page } = console;
  await tenants.show();
  await page.getByRole("button", { name: "New tenant" }).click();
  const form = tenants.nameForm("New tenant");
  await form.getByLabel("Name", { exact: true }).fill("Q".repeat(101));
  await expect(form.getByText("at most 100 characters")).toBeVisible();
  await expect(form.getByRole("button", { name: "Create" })).toBeDisabled();
  await form.getByRole("button", { name: "Cancel" }).click();
  await tenants.createTenant("Quantum");
  await tenants.addProject("annealing");
  await tenants.addPeople("annealing", ["li.wei", "chen.yu"]);
  await expect(tenants.row("li.wei")).toBeVisible();
  await expect(tenants.row("chen.yu")).toBeVisible();

  await tenants.row("annealing").focus();
  await page.keyboard.press("F2");
  await tenants.fillName("Rename annealing", "sampling", "Save");
  await expect(tenants.row("sampling")).toBeVisible();

  const member = await tenants.askRemoval("chen.yu");
  await expect(member.getByText("Nothing running or waiting is affected.")).toBeVisible();
  await member.getByRole("button", { name: "Remove", exact: true }).click();
  await expect(tenants.row("chen.yu")).toBeHidden();

  const project = await tenants.askRemoval("sampling");
  await expect(project.getByText("No longer members: li.wei")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(project).toBeHidden();
  await expect(tenants.row("sampling")).toBeVisible();
});

test("a project with jobs is removed only after its jobs were ticked to be cancelled", async ({ console }) => {
  const { tenants } = console;
  await tenants.show();
  await tenants.choose("vision");
  const dialog = await tenants.askRemoval("detect");
  const remove = dialog.getByRole("button", { name: "Remove", exact: true });
  await expect(dialog.getByText(/ runs | waits with /).first()).toBeVisible();
  await expect(remove).toBeDisabled();
  await dialog.getByRole("checkbox", { name: /^Cancel/ }).check();
  await remove.click();
  await expect(tenants.row("detect")).toBeHidden();
});

test("who changes second is told what the other changed, and can make the change again", async ({
  console,
  open,
  browser,
}) => {
  const { tenants } = console;
  await tenants.show();
  await tenants.createTenant("Two hands");
  await tenants.addProject("first");
  await tenants.row("first").press("F2");

  const other = await (await browser.newContext()).newPage();
  const second = (await open(other)).tenants;
  await second.show();
  await second.choose("Two hands");
  await second.row("first").press("F2");
  await second.fillName("Rename first", "theirs", "Save");
  await expect(second.row("theirs")).toBeVisible();

  await tenants.main.getByLabel("Name", { exact: true }).fill("mine");
  await tenants.main.getByRole("button", { name: "Save" }).click();
  await expect(tenants.main.getByText(/changed this meanwhile/)).toBeVisible();
  await expect(tenants.main.getByText(/^Name: first became theirs/)).toBeVisible();
  await tenants.main.getByRole("button", { name: "Make my change again" }).click();
  await expect(tenants.row("mine")).toBeVisible();
  await expect(second.row("mine")).toBeVisible();
  await other.context().close();
});
