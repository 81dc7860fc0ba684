/** Every way in that OpenSSH knows and the console offers, against real OpenSSH servers. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { expect, test } from "playwright/test";
import { bundleProgram } from "../../resources/demo-cluster/bin/bundle-program.ts";
import { fingerprintOf, GpuHost, gpuHostsMissing } from "../lab/gpu-host.ts";
import { addUser, type KeyPair, Lab, type Sshd, startAgent, startSshd } from "../lab/sshd.ts";
import { Operator } from "./operator.ts";

const missing = gpuHostsMissing();
if (missing !== null) process.stderr.write(`skipped: ${missing}\n`);
test.skip(missing !== null, missing ?? "");
test.describe.configure({ timeout: 120_000 });

let lab: Lab;
let key: KeyPair;
let locked: KeyPair;
let host: GpuHost;
/** The same host, for a user who is not root. */
let userHost: GpuHost;
const user = `tessera-e${process.pid}`;
const password = `pass-${randomBytes(9).toString("hex")}`;
const passphrase = `phrase-${randomBytes(9).toString("hex")}`;

test.beforeAll(async () => {
  lab = new Lab();
  key = lab.key();
  locked = lab.key({ passphrase });
  const program = await bundleProgram(lab.path("driver"));
  host = new GpuHost(lab, { name: "alpha", program, sshd: { authorized: [key.publicKey, locked.publicKey] } });
  const { home } = addUser(lab, user, password);
  userHost = new GpuHost(lab, {
    name: "gamma",
    program,
    sameInstallationAs: host,
    sshd: { home, lines: ["PasswordAuthentication yes", "UsePAM yes", "KbdInteractiveAuthentication yes"] },
  });
  await host.install();
  await Promise.all([host.start(), userHost.start()]);
});
test.afterAll(async () => {
  await lab?.[Symbol.asyncDispose]();
});

/** Everything that the console wrote, in files and on its output. */
function expectNowhere(operator: Operator, secret: string): void {
  const found = execFileSync("sh", ["-c", 'grep -rlaF -e "$1" "$2" || true', "sh", secret, operator.home], {
    encoding: "utf8",
  });
  expect(found).toBe("");
  expect(operator.output()).not.toContain(secret);
}

test("hosts typed by hand; an unknown key shows its fingerprint, and is remembered", async ({ page }) => {
  const general = ["Host 127.0.0.1", `IdentityFile ${key.path}`, "IdentitiesOnly yes"].join("\n  ");
  await using operator = new Operator(lab, [general]);
  const console = await operator.open(page);
  await console.clusters.add("Typed", { typed: `root@127.0.0.1:${host.port}` });
  await console.clusters.connect("Typed");
  const asked = console.clusters.prompt(/host key not known/);
  await expect(asked.getByText(host.fingerprint(), { exact: true })).toBeVisible();
  expect(host.log()).not.toContain("Accepted publickey");
  await asked.getByRole("button", { name: "Accept and remember" }).click();
  await console.waitUntilAllLive();
  expect(host.log()).toContain("Accepted publickey for root");
  expect(operator.knownHosts()).toContain(host.hostKey.publicKey);
});

test("with an agent, by an alias of ssh config", async ({ page }) => {
  const agent = startAgent(lab, [key]);
  await using operator = new Operator(lab, [host.config("IdentityFile /nonexistent")], { agent });
  operator.know(host.sshd.knownHosts());
  const console = await operator.open(page);
  await console.clusters.add("Agent", { aliases: ["alpha"] });
  await console.clusters.connect("Agent");
  await console.waitUntilAllLive();
});

test("with an encrypted key: asked for the passphrase, again after a wrong one", async ({ page }) => {
  await using operator = new Operator(lab, [host.config(`IdentityFile ${locked.path}`, "IdentitiesOnly yes")]);
  operator.know(host.sshd.knownHosts());
  const console = await operator.open(page);
  await console.clusters.add("Locked", { aliases: ["alpha"] });
  await console.clusters.connect("Locked");
  const asked = console.clusters.prompt("alpha: log in");
  await asked.getByLabel(`Passphrase of ${locked.path}`).fill("wrong");
  await asked.getByRole("button", { name: "Log in" }).click();
  await expect(asked.getByText("That was not accepted.")).toBeVisible();
  await asked.getByLabel(`Passphrase of ${locked.path}`).fill(passphrase);
  await asked.getByRole("button", { name: "Log in" }).click();
  await console.waitUntilAllLive();
  expectNowhere(operator, passphrase);
});

for (const [way, method] of [
  ["a password", "password"],
  ["keyboard-interactive", "keyboard-interactive"],
] as const) {
  test(`with ${way}: an unprivileged login sees and may not change; the secret is nowhere`, async ({ page }) => {
    await using operator = new Operator(lab, [
      userHost.config(`PreferredAuthentications ${method}`).replace("User root", `User ${user}`),
    ]);
    operator.know(userHost.sshd.knownHosts());
    const console = await operator.open(page);
    await console.clusters.add("Secret", { aliases: ["gamma"] });
    await console.clusters.connect("Secret");
    const asked = console.clusters.prompt("gamma: log in");
    await asked.getByRole("textbox").fill(password);
    await asked.getByRole("button", { name: "Log in" }).click();
    await console.waitUntilAllLive();
    await console.selectHost("gamma");
    const panel = console.inspector.root;
    await expect(panel.getByText("no: needs root or the sudo rule")).toBeVisible();
    expectNowhere(operator, password);
  });
}

test("through two jump hosts, each asked for its own key", async ({ page }) => {
  const bastions: Sshd[] = [];
  for (const _ of [1, 2]) bastions.push(await startSshd(lab, { authorized: [key.publicKey] }));
  const [outer, inner] = bastions;
  if (outer === undefined || inner === undefined) throw new Error("two bastions were started");
  const own = [`IdentityFile ${key.path}`, "IdentitiesOnly yes"];
  const bastion = (name: string, sshd: Sshd) =>
    [`Host ${name}`, "HostName 127.0.0.1", `Port ${sshd.port}`, "User root", ...own].join("\n  ");
  await using operator = new Operator(lab, [
    bastion("outer", outer),
    bastion("inner", inner),
    host.config(...own, "ProxyJump outer,inner"),
  ]);
  operator.know(outer.knownHosts(), host.sshd.knownHosts());
  const console = await operator.open(page);
  await console.clusters.add("Far", { aliases: ["alpha"] });
  await console.clusters.connect("Far");
  const innerKey = inner.hostKeys[0];
  if (innerKey === undefined) throw new Error("sshd has a host key");
  const asked = console.clusters.prompt("inner: host key not known");
  await expect(asked.getByText(fingerprintOf(innerKey), { exact: true })).toBeVisible();
  await asked.getByRole("button", { name: "Accept once" }).click();
  await console.waitUntilAllLive();
  for (const sshd of bastions) expect(sshd.log()).toContain("Accepted publickey for root");
  expect(operator.knownHosts()).not.toContain(innerKey.publicKey);
});

test("a changed host key: a screen whose default is Cancel, and nothing is sent", async ({ page }) => {
  const other = lab.key();
  await using operator = new Operator(lab, [host.config(`IdentityFile ${key.path}`)]);
  operator.know(`[127.0.0.1]:${host.port} ${other.publicKey}\n`);
  const before = host.log();
  const console = await operator.open(page);
  await console.clusters.add("Changed", { aliases: ["alpha"] });
  await console.clusters.connect("Changed");
  const screen = page.getByRole("alertdialog", { name: "alpha: the host key has changed" });
  await expect(screen.getByText(host.fingerprint())).toBeVisible();
  await expect(screen.getByText(fingerprintOf(other))).toBeVisible();
  await expect(screen.getByRole("button", { name: "Cancel" })).toBeFocused();
  await expect(screen.getByRole("button")).toHaveCount(1);
  await page.keyboard.press("Enter");
  await expect(screen).toBeHidden();
  await console.selectHost("alpha");
  const panel = console.inspector.root;
  await expect(panel.getByText("The host's key has changed: the connection was refused.")).toBeVisible();
  expect(host.log().slice(before.length)).not.toMatch(/Accepted|Failed|invalid user/);
  expect(operator.knownHosts()).toContain(other.publicKey);
});

test("a revoked host key is refused without a question", async ({ page }) => {
  await using operator = new Operator(lab, [host.config(`IdentityFile ${key.path}`)]);
  operator.know(host.sshd.knownHosts(), `@revoked * ${host.hostKey.publicKey}\n`);
  const console = await operator.open(page);
  await console.clusters.add("Revoked", { aliases: ["alpha"] });
  await console.clusters.connect("Revoked");
  await console.selectHost("alpha");
  await expect(
    console.inspector.root.getByText("The host's key is revoked: the connection was refused."),
  ).toBeVisible();
  await expect(page.getByRole("dialog")).toHaveCount(0);
});
