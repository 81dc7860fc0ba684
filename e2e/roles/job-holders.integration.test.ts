/**
 * Who holds a GPU by a job that runs nothing on it: on a real Slurm, each host says it of its own GPUs from the allocation
 * on, by the numbers of slurm.conf and gres.conf, and only to whom it is to be told.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rolesOf } from "../../electron/services/control/roles.ts";
import type { Holder } from "../../shared/protocol/inventory.ts";
import { type HostSession, openSession } from "../lab/host-session.ts";
import { slurmLabMissing } from "../lab/slurm-missing.ts";
import { GovernedLab, installFor, type Name, names } from "./governed-lab.ts";

const missing = slurmLabMissing();
/** slurmctld is asked every ten seconds. */
const soon = { timeout: 40_000, interval: 500 };

describe.skipIf(missing !== null)(`holders by jobs${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  let lab: GovernedLab;
  const sessions = new Map<Name, HostSession>();

  beforeAll(async () => {
    // The divided card comes first: no number of Slurm's is then the number of a device file.
    const divided = { instances: ["3g.40gb", "2g.20gb", "1g.10gb"].map((profile) => ({ profile })) };
    lab = await GovernedLab.start({ hosts: [{ name: "g1", gpus: [divided, {}, {}] }] });
    const host = lab.slurm.host("g1");
    await installFor(host, names);
    const knownHostsFile = lab.slurm.lab.write("known_hosts.g1", host.sshd.knownHosts(host.address), 0o644);
    const command = ["sudo", "-n", "/opt/tessera/current/tessera-host", "serve"];
    for (const user of ["ops", "lea", "max", "liv"] as const) {
      const target = { address: host.address, user, key: lab.slurm.person(user).key, knownHostsFile };
      sessions.set(user, await openSession(target, command));
    }
    await on("ops").request("roles.put", rolesOf(await lab.as("ops").request("organisation.get", {})));
  }, 120_000);
  afterAll(async () => {
    for (const session of sessions.values()) await session[Symbol.asyncDispose]();
    await lab?.[Symbol.asyncDispose]();
  });

  function on(name: Name): HostSession["channel"] {
    const session = sessions.get(name);
    if (session === undefined) throw new Error(`${name} has no session on g1`);
    return session.channel;
  }

  /** Everything that is held, by GPU and start of the instance. */
  async function holders(name: Name): Promise<Readonly<Record<string, Holder>>> {
    const { gpus } = await on(name).request("inventory", {});
    const held = gpus.flatMap((gpu, index): [string, Holder | null][] => [
      [`${index}`, gpu.holder],
      ...gpu.instances.map(({ profile, holder }): [string, Holder | null] => [`${index}/${profile}`, holder]),
    ]);
    return Object.fromEntries(held.flatMap(([place, holder]) => (holder === null ? [] : [[place, holder]])));
  }
  const heldBy = async (name: Name) =>
    Object.fromEntries(
      Object.entries(await holders(name)).map(([place, { user, allocation }]) => [place, [user, allocation]]),
    );

  async function runs(name: "max" | "mia", gres: string): Promise<string> {
    const id = await lab.slurm.submit(lab.slurm.person(name), [`--gres=gpu:${gres}:1`]);
    await lab.slurm.waitForJob(id, { state: "RUNNING" });
    return String(id);
  }

  test("a sleeping job is shown on its device and nowhere else, to whom it may be, and is gone when it is cancelled", async () => {
    expect(await heldBy("ops")).toEqual({});
    const slice = await runs("max", "h100_2g.20gb");
    const first = await runs("mia", "h100");
    const second = await runs("max", "h100");
    await expect
      .poll(() => heldBy("ops"), soon)
      .toEqual({ "0/2g.20gb": ["max", slice], "1": ["mia", first], "2": ["max", second] });

    const start = (await lab.slurm.job(Number(slice))).fields.StartTime ?? "";
    expect((await holders("ops"))["0/2g.20gb"]).toMatchObject({
      ...{ tenant: "Alpha", project: "Alpha one", by: "job" },
      since: new Date(`${start}Z`).toISOString(),
    });
    const occupied = { tenant: null, project: null, user: null, by: "process", allocation: null, since: null };
    const alpha = { tenant: "Alpha", project: "Alpha one", user: "max", by: "job" };
    for (const name of ["lea", "max"] as const) {
      await expect
        .poll(() => holders(name), soon)
        .toMatchObject({ "0/2g.20gb": alpha, "1": occupied, "2": { ...alpha, allocation: second } });
    }
    await expect.poll(() => holders("liv"), soon).toMatchObject({ "0/2g.20gb": occupied, "2": occupied });
    expect((await holders("liv"))["1"]).toMatchObject({ tenant: "Bravo", user: "mia", allocation: first });

    await lab.slurm.cancel(Number(slice), Number(second));
    await expect.poll(() => heldBy("ops"), soon).toEqual({ "1": ["mia", first] });
    await lab.slurm.cancel(Number(first));
    await expect.poll(() => heldBy("ops"), soon).toEqual({});
  }, 180_000);

  test("an allocation without any process on the host is held too", async () => {
    const as = lab.slurm.person("max");
    await lab.slurm.expect(["salloc", "--no-shell", "--job-name=empty", "--gres=gpu:h100_3g.40gb:1"], { as });
    const listed = await lab.slurm.expect(["squeue", "--noheader", "--name=empty", "--format=%i"]);
    const id = Number(listed.trim());
    await lab.slurm.waitForJob(id, { state: "RUNNING" });
    await expect.poll(() => heldBy("ops"), soon).toEqual({ "0/3g.40gb": ["max", String(id)] });
    await lab.slurm.cancel(id);
  }, 90_000);
});
