/** Repartitioning hosts behind real OpenSSH servers, held against what the simulated driver did. */
import { expect, type Page, test } from "playwright/test";
import { bundleProgram } from "../../resources/demo-cluster/bin/bundle-program.ts";
import { GpuHost, gpuHostsMissing } from "../lab/gpu-host.ts";
import { type KeyPair, Lab } from "../lab/sshd.ts";
import type { ConsolePage } from "../pages/console.ts";
import { Operator } from "./operator.ts";

const missing = gpuHostsMissing();
if (missing !== null) process.stderr.write(`skipped: ${missing}\n`);
test.skip(missing !== null, missing ?? "");
test.describe.configure({ timeout: 180_000 });

let lab: Lab;
let key: KeyPair;
let alpha: GpuHost;
let beta: GpuHost;

test.beforeAll(async () => {
  lab = new Lab();
  key = lab.key();
  const sshd = { authorized: [key.publicKey] };
  const program = await bundleProgram(lab.path("driver"));
  alpha = new GpuHost(lab, { name: "alpha", sshd, program });
  beta = new GpuHost(lab, { name: "beta", sshd, program, sameInstallationAs: alpha });
  await Promise.all([alpha.start(), beta.start()]);
});
test.afterAll(async () => {
  await lab?.[Symbol.asyncDispose]();
});

function operatorOf(...hosts: readonly GpuHost[]): Operator {
  const operator = new Operator(
    lab,
    hosts.map((host) => host.config(`IdentityFile ${key.path}`, "IdentitiesOnly yes")),
  );
  operator.know(...hosts.map((host) => host.sshd.knownHosts()));
  return operator;
}

async function at(page: Page, operator: Operator, ...hosts: readonly GpuHost[]): Promise<ConsolePage> {
  const console = await operator.open(page);
  await console.clusters.add("Lab", { aliases: hosts.map(({ name }) => name) });
  await console.clusters.connect("Lab");
  await console.waitUntilAllLive();
  return console;
}

test("installs once, drags a 3g.40gb onto a GPU, applies, undoes", async ({ page }) => {
  await using operator = operatorOf(alpha);
  const console = await at(page, operator, alpha);
  expect(alpha.builds()).toHaveLength(1);
  await console.selectGpu("alpha", 0);
  const panel = console.inspector.root;
  await panel
    .getByRole("button", { name: "3g.40gb", exact: true })
    .dragTo(panel.getByRole("list", { name: "Layout in the draft" }), { targetPosition: { x: 5, y: 10 } });
  await expect(panel.getByRole("list", { name: "Layout in the draft" })).toContainText("3g.40gb");
  expect(alpha.changes()).toEqual([]);
  await console.plan.apply();
  await console.plan.expectApplied();
  expect(alpha.layout()).toEqual(["3g.40gb:0"]);
  expect(alpha.changes()).toEqual([`mig -cgi 9:0 -C -i ${alpha.uuid()}`]);
  await expect(panel.getByRole("list", { name: "Layout now" })).toContainText("3g.40gb");

  await console.plan.root.getByRole("button", { name: "Undo" }).click();
  await expect(console.plan.root.getByRole("heading", { name: /^Undone at / })).toBeVisible();
  expect(alpha.layout()).toEqual([]);

  // A second connection finds what the first one put there.
  await console.clusters.disconnect("Lab");
  await console.clusters.connect("Lab");
  await console.waitUntilAllLive();
  expect(alpha.builds()).toHaveLength(1);
  await page.getByRole("navigation", { name: "Views" }).getByRole("button", { name: "Troubleshooting" }).click();
  await expect(page.getByText("Installing tessera-host")).toHaveCount(1);
});

test("a preset on two hosts, each by its own driver", async ({ page }) => {
  await using operator = operatorOf(alpha, beta);
  const console = await at(page, operator, alpha, beta);
  await console.selectGpu("beta", 1);
  await console.inspector.usePreset("3g+4g");
  await console.selectGpu("alpha", 1);
  await console.inspector.usePreset("2x1g.10gb");
  await expect(console.plan.root.getByText("checked by 2 hosts")).toBeVisible();
  await console.plan.root.getByRole("button", { name: "Apply plan" }).click();
  await console.plan.expectApplied();
  expect(beta.layout(1).map((word) => word.split(":")[0])).toEqual(["4g.40gb", "3g.40gb"]);
  expect(alpha.layout(1)).toHaveLength(2);
  await console.plan.root.getByRole("button", { name: "Undo" }).click();
  await expect(console.plan.root.getByRole("heading", { name: /^Undone at / })).toBeVisible();
  expect([...alpha.layout(1), ...beta.layout(1)]).toEqual([]);
});

test("a second console changes the layout first: the plan is stale, and replanned in one click", async ({
  page,
  context,
}) => {
  await using first = operatorOf(beta);
  await using second = operatorOf(beta);
  const [console, other] = await Promise.all([at(page, first, beta), at(await context.newPage(), second, beta)]);
  await console.selectGpu("beta", 0);
  await console.inspector.usePreset("1x3g.40gb");
  await expect(console.plan.root.getByText("checked by the host")).toBeVisible();
  await other.selectGpu("beta", 0);
  await other.inspector.usePreset("1x1g.10gb");
  await other.plan.apply();
  await other.plan.expectApplied();
  await expect(console.plan.root.getByText("1 GPU changed since this draft was begun")).toBeVisible();
  const before = beta.changes().length;
  await console.plan.root.getByRole("button", { name: "Replan on the newest layout" }).click();
  expect(beta.changes()).toHaveLength(before);
  await console.plan.apply();
  await console.plan.expectApplied();
  expect(beta.layout()[0]).toContain("3g.40gb");
});

/** Where the preset `3x1g.10gb` goes: the low slices stay free for what is larger. */
const threeSmall = ["1g.10gb:4", "1g.10gb:5", "1g.10gb:6"];

for (const [way, after, words] of [
  ["Finish", threeSmall, "finishes it"],
  ["Roll back", [], "rolls it back"],
] as const) {
  test(`a host dies during apply and comes back: the operator ${words}`, async ({ page }) => {
    await using operator = operatorOf(alpha);
    const console = await at(page, operator, alpha);
    await console.selectGpu("alpha", 0);
    await console.inspector.usePreset("3x1g.10gb");
    await apply3(console);
    await alpha.die();
    expect(alpha.layout().length).toBeLessThan(3);
    alpha.healed();
    await expect(page.locator(".live-state")).toHaveText(/^0 of 1 live|not connected|connecting/);
    await alpha.start();
    await recover(console, way);
    expect(alpha.layout()).toEqual(after);
    await emptied(console);
  });
}

test("the console is killed during apply; the next one shows the open operation and resumes it", async ({ page }) => {
  await using operator = operatorOf(alpha);
  const console = await at(page, operator, alpha);
  await console.selectGpu("alpha", 0);
  await console.inspector.usePreset("3x1g.10gb");
  await apply3(console);
  await operator.kill();
  await operator.open(page);
  await console.clusters.connect("Lab");
  await recover(console, "Finish");
  expect(alpha.layout()).toEqual(threeSmall);
  await emptied(console);
});

test("a host reboots: its kept layouts are offered and come back", async ({ page }) => {
  await using operator = operatorOf(alpha);
  const console = await at(page, operator, alpha);
  await console.selectGpu("alpha", 0);
  await console.inspector.usePreset("3g+4g");
  await console.plan.apply();
  await console.plan.expectApplied();
  const layout = alpha.layout();
  await console.selectHost("alpha");
  const panel = console.inspector.root;
  await panel.getByRole("button", { name: "Keep these layouts" }).click();
  await expect(panel.getByText("2 GPUs kept")).toBeVisible();
  await console.plan.root.getByRole("button", { name: "Done" }).click();
  await alpha.reboot();
  expect(alpha.layout()).toEqual([]);
  await console.plan.root.getByRole("button", { name: "Restore layouts" }).click();
  await expect(console.plan.root.getByRole("heading", { name: /^Saved layouts restored at / })).toBeVisible();
  expect(alpha.layout()).toEqual(layout);
  await expect(console.inspector.root).toBeVisible();
});

/** Applies a plan of three creations, and returns when the second one is under way. */
async function apply3(console: ConsolePage): Promise<void> {
  const before = alpha.changes().length;
  alpha.slow("-cgi", 2_500);
  await console.plan.apply();
  await expect.poll(() => alpha.changes().length, { intervals: [50] }).toBeGreaterThan(before + 1);
}

async function recover(console: ConsolePage, way: "Finish" | "Roll back"): Promise<void> {
  await expect(console.page.getByText("alpha: an operation did not finish")).toBeVisible();
  alpha.healed();
  await console.page.getByRole("button", { name: way, exact: true }).click();
  await expect(console.plan.root.getByRole("heading", { name: /^Operation ended at / })).toBeVisible();
}

/** Leaves the GPU as the next test expects it. */
async function emptied(console: ConsolePage): Promise<void> {
  await console.plan.root.getByRole("button", { name: "Done" }).click();
  if (alpha.layout().length === 0) return;
  await console.selectGpu("alpha", 0);
  await console.inspector.root.getByRole("button", { name: "empty", exact: true }).click();
  await console.plan.apply();
  await console.plan.expectApplied();
}
