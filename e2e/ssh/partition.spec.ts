/** Repartitioning hosts behind real OpenSSH servers, held against what the simulated driver did. */
import { test } from "playwright/test";
import { bundleProgram } from "../../resources/demo-cluster/bin/bundle-program.ts";
import { GpuHost, gpuHostsMissing } from "../lab/gpu-host.ts";
import { type KeyPair, Lab } from "../lab/sshd.ts";
import {
  addCluster,
  applied,
  apply,
  connect,
  disconnect,
  expect,
  inspector,
  live,
  Operator,
  plan,
  selectGpu,
  selectHost,
  usePreset,
} from "./operator.ts";

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

async function at(page: Parameters<typeof live>[0], operator: Operator, ...hosts: readonly GpuHost[]): Promise<void> {
  await operator.open(page);
  await addCluster(page, { name: "Lab", aliases: hosts.map(({ name }) => name) });
  await connect(page, "Lab");
  await live(page);
}

test("installs once, drags a 3g.40gb onto a GPU, applies, undoes", async ({ page }) => {
  await using operator = operatorOf(alpha);
  await at(page, operator, alpha);
  expect(alpha.builds()).toHaveLength(1);
  const panel = await selectGpu(page, "alpha");
  await panel
    .getByRole("button", { name: "3g.40gb", exact: true })
    .dragTo(panel.getByRole("list", { name: "Layout in the draft" }), { targetPosition: { x: 5, y: 10 } });
  await expect(panel.getByRole("list", { name: "Layout in the draft" })).toContainText("3g.40gb");
  expect(alpha.changes()).toEqual([]);
  await apply(page);
  await applied(page);
  expect(alpha.layout()).toEqual(["3g.40gb:0"]);
  expect(alpha.changes()).toEqual([`mig -cgi 9:0 -C -i ${alpha.uuid()}`]);
  await expect(panel.getByRole("list", { name: "Layout now" })).toContainText("3g.40gb");

  await plan(page).getByRole("button", { name: "Undo" }).click();
  await expect(plan(page).getByRole("heading", { name: /^Undone at / })).toBeVisible();
  expect(alpha.layout()).toEqual([]);

  // A second connection finds what the first one put there.
  await disconnect(page, "Lab");
  await connect(page, "Lab");
  await live(page);
  expect(alpha.builds()).toHaveLength(1);
  await page.getByRole("navigation", { name: "Views" }).getByRole("button", { name: "Troubleshooting" }).click();
  await expect(page.getByText("Installing tessera-host")).toHaveCount(1);
});

test("a preset on two hosts, each by its own driver", async ({ page }) => {
  await using operator = operatorOf(alpha, beta);
  await at(page, operator, alpha, beta);
  await selectGpu(page, "beta", 1);
  await usePreset(page, "3g+4g");
  await selectGpu(page, "alpha", 1);
  await usePreset(page, "2x1g.10gb");
  await expect(plan(page).getByText("checked by 2 hosts")).toBeVisible();
  await plan(page).getByRole("button", { name: "Apply plan" }).click();
  await applied(page);
  expect(beta.layout(1).map((word) => word.split(":")[0])).toEqual(["4g.40gb", "3g.40gb"]);
  expect(alpha.layout(1)).toHaveLength(2);
  await plan(page).getByRole("button", { name: "Undo" }).click();
  await expect(plan(page).getByRole("heading", { name: /^Undone at / })).toBeVisible();
  expect([...alpha.layout(1), ...beta.layout(1)]).toEqual([]);
});

test("a second console changes the layout first: the plan is stale, and replanned in one click", async ({
  page,
  context,
}) => {
  await using first = operatorOf(beta);
  await using second = operatorOf(beta);
  const other = await context.newPage();
  await Promise.all([at(page, first, beta), at(other, second, beta)]);
  await selectGpu(page, "beta");
  await usePreset(page, "1x3g.40gb");
  await expect(plan(page).getByText("checked by the host")).toBeVisible();
  await selectGpu(other, "beta");
  await usePreset(other, "1x1g.10gb");
  await apply(other);
  await applied(other);
  await expect(plan(page).getByText("1 GPU changed since this draft was begun")).toBeVisible();
  const before = beta.changes().length;
  await plan(page).getByRole("button", { name: "Replan on the newest layout" }).click();
  expect(beta.changes()).toHaveLength(before);
  await apply(page);
  await applied(page);
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
    await at(page, operator, alpha);
    await selectGpu(page, "alpha");
    await usePreset(page, "3x1g.10gb");
    await apply3(page);
    await alpha.die();
    expect(alpha.layout().length).toBeLessThan(3);
    alpha.healed();
    await expect(page.locator(".live-state")).toHaveText(/^0 of 1 live|not connected|connecting/);
    await alpha.start();
    await recover(page, way);
    expect(alpha.layout()).toEqual(after);
    await emptied(page);
  });
}

test("the console is killed during apply; the next one shows the open operation and resumes it", async ({ page }) => {
  await using operator = operatorOf(alpha);
  await at(page, operator, alpha);
  await selectGpu(page, "alpha");
  await usePreset(page, "3x1g.10gb");
  await apply3(page);
  await operator.kill();
  await operator.open(page);
  await connect(page, "Lab");
  await recover(page, "Finish");
  expect(alpha.layout()).toEqual(threeSmall);
  await emptied(page);
});

test("a host reboots: its kept layouts are offered and come back", async ({ page }) => {
  await using operator = operatorOf(alpha);
  await at(page, operator, alpha);
  await selectGpu(page, "alpha");
  await usePreset(page, "3g+4g");
  await apply(page);
  await applied(page);
  const layout = alpha.layout();
  const panel = await selectHost(page, "alpha");
  await panel.getByRole("button", { name: "Keep these layouts" }).click();
  await expect(panel.getByText("2 GPUs kept")).toBeVisible();
  await plan(page).getByRole("button", { name: "Done" }).click();
  await alpha.reboot();
  expect(alpha.layout()).toEqual([]);
  await plan(page).getByRole("button", { name: "Restore layouts" }).click();
  await expect(plan(page).getByRole("heading", { name: /^Saved layouts restored at / })).toBeVisible({});
  expect(alpha.layout()).toEqual(layout);
  await expect(inspector(page)).toBeVisible();
});

/** Applies a plan of three creations, and returns when the second one is under way. */
async function apply3(page: Parameters<typeof live>[0]): Promise<void> {
  const before = alpha.changes().length;
  alpha.slow("-cgi", 2_500);
  await apply(page);
  await expect.poll(() => alpha.changes().length, { intervals: [50] }).toBeGreaterThan(before + 1);
}

async function recover(page: Parameters<typeof live>[0], way: "Finish" | "Roll back"): Promise<void> {
  await expect(page.getByText("alpha: an operation did not finish")).toBeVisible();
  alpha.healed();
  await page.getByRole("button", { name: way, exact: true }).click();
  await expect(plan(page).getByRole("heading", { name: /^Operation ended at / })).toBeVisible();
}

/** Leaves the GPU as the next test expects it. */
async function emptied(page: Parameters<typeof live>[0]): Promise<void> {
  await plan(page).getByRole("button", { name: "Done" }).click();
  if (alpha.layout().length === 0) return;
  await selectGpu(page, "alpha");
  await inspector(page).getByRole("button", { name: "empty", exact: true }).click();
  await apply(page);
  await applied(page);
}
