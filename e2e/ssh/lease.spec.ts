/** One machine without Slurm: a member takes a slice, is refused beyond the limit, and releases it; others see it. */
import { expect, type Page, test } from "playwright/test";
import { bundleProgram } from "../../resources/demo-cluster/bin/bundle-program.ts";
import { fraction } from "../../shared/quota/index.ts";
import type { HostSession } from "../lab/host-session.ts";
import { SingleHost, singleHostMissing } from "../lab/single-host.ts";
import { Lab } from "../lab/sshd.ts";
import type { ConsolePage } from "../pages/console.ts";
import { LeasesPage } from "../pages/leases.ts";
import { Operator } from "./operator.ts";

const missing = singleHostMissing();
if (missing !== null) process.stderr.write(`skipped: ${missing}\n`);
test.skip(missing !== null, missing ?? "");
test.describe.configure({ timeout: 180_000 });

let lab: Lab;
let host: SingleHost;
let ops: HostSession;
let projectId: string;

test.beforeAll(async () => {
  lab = new Lab();
  const divided = { instances: ["3g.40gb", "2g.20gb", "1g.10gb"].map((profile) => ({ profile })) };
  const program = await bundleProgram(lab.path("driver"));
  host = await SingleHost.start(lab, {
    name: "solo",
    gpus: [divided, {}],
    people: ["ops", "lea", "max", "mia"],
    program,
  });
  ops = await host.open("ops");
  const { channel } = ops;
  await channel.request("ledger.create", { engine: "local" });
  const uid = (name: string) => host.person(name).uid;
  const alpha = await channel.request("tenant.create", { displayName: "Alpha" });
  await channel.request("lead.add", { tenantId: alpha.id, uid: uid("lea") });
  const project = await channel.request("project.add", { tenantId: alpha.id, displayName: "Chat" });
  projectId = project.id;
  await channel.request("member.add", { projectId, uid: uid("max") });
  const bravo = await channel.request("tenant.create", { displayName: "Bravo" });
  const other = await channel.request("project.add", { tenantId: bravo.id, displayName: "Vision" });
  await channel.request("member.add", { projectId: other.id, uid: uid("mia") });
  const limits = { cards: fraction(1, 2) };
  const { outcomes } = await channel.task(
    "quota.set",
    { edits: [{ subject: projectId, limits, basedOn: 0 }] },
    () => undefined,
  );
  expect(outcomes).toMatchObject([{ outcome: "done" }]);
});
test.afterAll(async () => {
  await ops?.[Symbol.asyncDispose]();
  await lab?.[Symbol.asyncDispose]();
});

function operatorAs(person: string): Operator {
  const operator = new Operator(lab, [host.config(person)]);
  operator.know(host.knownHosts());
  return operator;
}

async function at(page: Page, operator: Operator): Promise<{ console: ConsolePage; leases: LeasesPage }> {
  const console = await operator.open(page);
  await console.clusters.add("Solo", { aliases: ["solo"] });
  await console.clusters.connect("Solo");
  await console.waitUntilAllLive();
  return { console, leases: new LeasesPage(page) };
}

/** Of the ledger, as its administrator has it. */
const ledger = () => ops.channel.request("leases.list", {});

test("a member takes a free slice in two clicks, is refused the next with the reason, and releases it", async ({
  page,
}) => {
  await using operator = operatorAs("max");
  const { console, leases } = await at(page, operator);
  await expect(console.inspector.root.getByText("You hold nothing.")).toBeVisible();
  await console.selectGpu("solo", 0);
  await console.board.clickGpu("solo", 0, { slice: 0 });
  await leases.take.click();
  await expect(leases.section).toContainText("Held bymax");
  await expect(leases.section).toContainText("Alpha / Chat");
  const [lease] = await ledger();
  expect(lease).toMatchObject({ user: "max", subject: `${projectId}/${host.person("max").uid}` });
  expect(Date.parse(lease?.until ?? "") - Date.parse(lease?.takenAt ?? "")).toBeGreaterThan(7.9 * 3_600_000);
  // The board says so too: to whom it belongs, and by what.
  await expect(console.board.focused).toHaveAccessibleName(/Alpha \/ Chat \/ max, lease l/);

  // Half a card is in use, which is all of it: its memory counts more than its compute.
  await console.board.clickGpu("solo", 0, { slice: 4 });
  await leases.take.click();
  await expect(leases.refusal).toContainText("project Chat: 1/2 of 1/2 cards in use, 2/7 cards too few.");
  await expect(leases.refusal).toContainText("A lead of the tenant can change it.");
  expect(await ledger()).toHaveLength(1);
  // The pointer is on it still: it can be read there too.
  await expect(leases.take).toHaveCSS("background-color", "rgb(37, 99, 235)");
  await leases.refusal.getByRole("button", { name: "Ask for more" }).click();
  const ask = page.getByRole("form", { name: "Ask for more" });
  await expect(ask.getByRole("textbox", { name: "Cards", exact: true })).toHaveValue("2/7");

  await console.go("Board");
  await console.selectHost("solo");
  await leases
    .list("My leases")
    .getByRole("button", { name: /^3g\.40gb/ })
    .click();
  await leases.release.click();
  await expect(leases.take).toBeVisible();
  expect(await ledger()).toEqual([]);
  await expect(console.board.focused).not.toHaveAccessibleName(/lease l/);
});

test("by keyboard alone: to the slice, T, Enter; and T, Enter again", async ({ page }) => {
  await using operator = operatorAs("max");
  const { console, leases } = await at(page, operator);
  await console.selectGpu("solo", 0);
  await console.board.clickGpu("solo", 0, { slice: 6 });
  await expect(leases.take).toBeVisible();
  await page.keyboard.press("t");
  await expect(leases.take).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(leases.release).toBeVisible();
  await page.keyboard.press("t");
  await expect(leases.release).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(leases.take).toBeVisible();
  expect(await ledger()).toEqual([]);
});

test("a lead releases what a member holds after a second word; another tenant sees only that it is occupied", async ({
  page,
  context,
}) => {
  const gpuUuid = await wholeGpu();
  await using member = await host.open("mia");
  const me = await member.channel.request("identity.me", {});
  await member.channel.request("lease.take", { projectId: me.projects[0] ?? "", gpuUuid, gpuInstanceId: null });
  await using max = await host.open("max");
  const inventory = await max.channel.request("inventory", {});
  const small = inventory.gpus[0]?.instances.find(({ profile }) => profile === "1g.10gb");
  const place = { gpuUuid: inventory.gpus[0]?.uuid ?? "", gpuInstanceId: small?.id ?? -1 };
  await max.channel.request("lease.take", { projectId, ...place });

  await using operator = operatorAs("lea");
  const { console, leases } = await at(page, operator);
  await console.selectHost("solo");
  await expect(leases.list("Leases of others").getByRole("listitem")).toHaveCount(1);
  await leases
    .list("Leases of others")
    .getByRole("button", { name: /^1g\.10gb/ })
    .click();
  await leases.release.click();
  const question = leases.section.getByRole("alert");
  await expect(question).toContainText("Release what max holds?");
  await expect(question.getByRole("button", { name: "Cancel" })).toBeFocused();
  await question.getByRole("button", { name: "Release" }).click();
  await expect(leases.section).toHaveCount(0);
  expect((await ledger()).map(({ user }) => user)).toEqual(["mia"]);

  await using other = operatorAs("max");
  const second = await at(await context.newPage(), other);
  await second.console.selectGpu("solo", 1);
  await expect(second.leases.section).toContainText("it cannot be taken now");
  await expect(second.console.inspector.root).not.toContainText("mia");
});

async function wholeGpu(): Promise<string> {
  const { gpus } = await ops.channel.request("inventory", {});
  const whole = gpus.find(({ mig }) => mig.current !== "enabled");
  if (whole === undefined) throw new Error("the second GPU is whole");
  return whole.uuid;
}
