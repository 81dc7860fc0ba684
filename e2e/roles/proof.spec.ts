/**
 * The whole way of a tenant on a real Slurm cluster, each person at a console of their own, through real sshd and sudo:
 * an operator makes the tenant and its limits, a member's jobs reach them, the member reads why and asks, the lead
 * approves, the job runs, the raise ends by the host's timer, and the audit is intact.
 */
import { readFileSync } from "node:fs";
import { type Browser, expect, test } from "playwright/test";
import { SlurmLab } from "../lab/slurm.ts";
import { slurmLabMissing } from "../lab/slurm-missing.ts";
import { AuditPage } from "../pages/audit.ts";
import type { ConsolePage } from "../pages/console.ts";
import { RequestsPage } from "../pages/requests.ts";
import { Operator } from "../ssh/operator.ts";
import { installFor } from "./governed-lab.ts";

const missing = slurmLabMissing();
if (missing !== null) process.stderr.write(`skipped: ${missing}\n`);
test.skip(missing !== null, missing ?? "");
test.describe.configure({ timeout: 300_000 });

const people = ["ops", "lea", "max"] as const;
type Name = (typeof people)[number];
const program = "/opt/tessera/current/tessera-host";
const minuteMs = 60_000;

let slurm: SlurmLab;
const operators: Operator[] = [];

test.beforeAll(async () => {
  slurm = await SlurmLab.start({ people });
  await Promise.all([slurm.control, ...slurm.hosts].map((host) => installFor(host, people)));
});
test.afterAll(async () => {
  for (const operator of operators) await operator[Symbol.asyncDispose]();
  await slurm?.[Symbol.asyncDispose]();
});

/** A person's console, with every host of the cluster connected. */
async function consoleOf(name: Name, browser: Browser): Promise<ConsolePage> {
  const hosts = [slurm.control, ...slurm.hosts];
  const { key } = slurm.person(name);
  const login = [`User ${name}`, `IdentityFile ${key.path}`, "IdentitiesOnly yes"];
  const operator = new Operator(
    slurm.lab,
    hosts.map((host) => [`Host ${host.name}`, `HostName ${host.address}`, ...login].join("\n  ")),
  );
  operators.push(operator);
  operator.know(...hosts.map((host) => host.sshd.knownHosts(host.address)));
  const console = await operator.open(await browser.newPage());
  await console.clusters.add("Lab", { aliases: hosts.map((host) => host.name) });
  await console.clusters.connect("Lab");
  await console.waitUntilAllLive();
  return console;
}

async function grpTres(account: string): Promise<string> {
  const said = await slurm.expect([
    "sacctmgr",
    "-nP",
    "show",
    "assoc",
    `account=${account}`,
    "user=",
    "format=grptres",
  ]);
  return said.trim();
}

test("a tenant from its first limit to the end of a raise", async ({ browser }) => {
  const ops = await consoleOf("ops", browser);
  await test.step("the operator makes the ledger, a tenant, its lead, a project and its member", async () => {
    await ops.go("Tenants");
    await ops.page.getByRole("button", { name: /control host$/ }).click();
    await ops.tenants.createTenant("Speech");
    await ops.tenants.addLead("lea");
    await ops.tenants.addProject("dictation");
    await ops.tenants.addPeople("dictation", ["max"]);
    await expect(ops.tenants.row("max")).toBeVisible();
  });
  const accounts = (await slurm.expect(["sacctmgr", "-nP", "show", "account", "format=account"])).trim().split("\n");
  const project = accounts.find((account) => account.endsWith("_p01")) ?? "";
  const tenant = project.replace("_p01", "");
  expect(accounts).toEqual(expect.arrayContaining([tenant, project]));

  await test.step("the job_submit script makes cards count whatever a job asks for", async () => {
    const guard = ["slurm", "guard"];
    expect(await slurm.expect([program, ...guard, "install"])).toContain("JobSubmitPlugins=lua. Restart slurmctld.");
    // What it asks for.
    slurm.writeConfiguration({ slurmConf: ["JobSubmitPlugins=lua"] });
    await slurm.slurmctld.stop();
    await slurm.slurmctld.start();
    await slurm.waitForHosts();
    expect(await slurm.expect([program, ...guard, "status"])).toContain("In force: ");
  });

  await test.step("limits, applied from the draft, are in Slurm", async () => {
    await ops.go("Quotas");
    await ops.quotas.openAll();
    await ops.quotas.write("Speech", "GPU cards", "2");
    await ops.quotas.write("dictation", "GPU cards", "1");
    await ops.quotas.apply.click();
    await expect(ops.quotas.outcome).toContainText("2");
    expect(await grpTres(tenant)).toBe("gres/cardshare=112");
    expect(await grpTres(project)).toBe("gres/cardshare=56");
  });

  const card = ["--gres=gpu:h100:1", `--account=${project}`];
  const submit = () => slurm.submit(slurm.person("max"), card);
  const first = await submit();
  await slurm.waitForJob(first, { state: "RUNNING" });
  const second = await submit();
  await slurm.waitForJob(second, { state: "PENDING", reason: "AssocGrpGRES" });

  const max = await consoleOf("max", browser);
  const until = Math.ceil((Date.now() + 1.5 * minuteMs) / minuteMs) * minuteMs;
  await test.step("the member reads which level blocks and by how much, and asks for more", async () => {
    await max.go("Quotas");
    await max.quotas.openAll();
    await max.quotas.cell("dictation", "GPU cards").click();
    const panel = max.quotas.panel;
    await expect(panel).toContainText(String(second));
    await panel.getByRole("button", { name: "Why" }).click();
    await expect(panel.getByRole("status")).toContainText(/project.*dictation.*1/i);
    await panel.getByRole("button", { name: "Ask for more" }).click();
    const requests = new RequestsPage(max.page);
    await requests.fillAmount("Cards", "1");
    await requests.fillEnd(until);
    await requests.send("A paper is due");
    await expect(requests.rows("Open").filter({ hasText: "1 more card" })).toBeVisible();
    await max.go("Audit");
    await expect(max.page.getByText("Administrators read the audit")).toBeVisible();
  });

  const lea = await consoleOf("lea", browser);
  await test.step("the lead approves, and the job runs", async () => {
    await lea.go("Requests");
    const requests = new RequestsPage(lea.page);
    await requests.rows("Open").filter({ hasText: "dictation" }).click();
    await expect(requests.panel).toContainText("A paper is due");
    await requests.approve();
    await expect(requests.rows("Granted now").filter({ hasText: "dictation" })).toBeVisible();
    await slurm.waitForJob(second, { state: "RUNNING" });
    expect(await grpTres(project)).toBe("gres/cardshare=112");
  });

  await test.step("the member sees it granted, without asking anew", async () => {
    await max.go("Requests");
    await expect(new RequestsPage(max.page).rows("Granted now").filter({ hasText: "dictation" })).toBeVisible();
  });

  await test.step("the raise ends by the host's timer while the lead's console is gone", async () => {
    for (const operator of operators.splice(1)) await operator.kill();
    await new Promise((resolve) => setTimeout(resolve, until - Date.now() + 500));
    // No cron runs in the lab; what cron would run stands in the file that `install` wrote.
    const cron = readFileSync(slurm.control.machine.file("/etc/cron.d/tessera"), "utf8");
    const line = cron.split("\n").find((each) => each.includes("tessera-host timer")) ?? "";
    const command = /root (.+)$/.exec(line)?.[1] ?? "";
    expect(command).toContain(program);
    await slurm.expect(["sh", "-c", command]);
    expect(await grpTres(project)).toBe("gres/cardshare=56");
    expect((await slurm.job(second)).state).toBe("RUNNING");
    const third = await submit();
    await slurm.waitForJob(third, { state: "PENDING", reason: "AssocGrpGRES" });
  });

  await test.step("whoever is connected sees it end", async () => {
    await ops.go("Requests");
    const requests = new RequestsPage(ops.page);
    await expect(requests.rows("Decided").filter({ hasText: "dictation" })).toBeVisible();
    await expect(requests.rows("Granted now")).toHaveCount(0);
  });

  await test.step("the audit has all of it, by whom, and its chain is intact", async () => {
    await ops.go("Audit");
    const audit = new AuditPage(ops.page);
    for (const [command, who] of [
      ["tenant.create", "ops"],
      ["quota.set", "ops"],
      ["request.ask", "max"],
      ["request.decide", "lea"],
      ["grant.settle", "root"],
    ] as const) {
      await audit.find(command);
      await expect(audit.rows(command).first()).toContainText(who);
    }
    await audit.find("");
    await audit.verify();
    await expect(ops.page.getByText(/^Intact: \d+ rows/)).toBeVisible();
  });
});
