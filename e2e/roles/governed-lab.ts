/** A Slurm lab with a ledger on its control host, two tenants with projects and people, and a session of each role. */
import { readdirSync } from "node:fs";
import type { TenantView } from "../../shared/protocol/control.ts";
import { type HostSession, openSession } from "../lab/host-session.ts";
import { SlurmLab, type SlurmLabOptions } from "../lab/slurm.ts";
import type { SlurmHost } from "../lab/slurm-host.ts";

/** Alpha and Bravo have a lead and a member each; `eve` is let in and has no role. */
export const names = ["ops", "lea", "max", "liv", "mia", "eve"] as const;
export type Name = (typeof names)[number];

export interface Place {
  readonly tenant: TenantView;
  readonly projectId: string;
  /** uid of its member. */
  readonly uid: number;
}

export class GovernedLab implements AsyncDisposable {
  readonly slurm: SlurmLab;
  readonly #sessions: Map<Name, HostSession>;
  readonly #places: { alpha: Place; bravo: Place } | null;

  private constructor(
    slurm: SlurmLab,
    sessions: Map<Name, HostSession>,
    places: { alpha: Place; bravo: Place } | null,
  ) {
    this.slurm = slurm;
    this.#sessions = sessions;
    this.#places = places;
  }

  /** Up to the installed sudo rule, with nobody's session open and no ledger. */
  static async bare(options: SlurmLabOptions = {}): Promise<GovernedLab> {
    const slurm = await SlurmLab.start({ people: names, ...options });
    await installFor(slurm.control, names);
    return new GovernedLab(slurm, new Map(), null);
  }

  /** With a ledger that `ops` administers, and both tenants. */
  static async start(options: SlurmLabOptions = {}): Promise<GovernedLab> {
    const bare = await GovernedLab.bare(options);
    try {
      const sessions = new Map<Name, HostSession>();
      for (const name of names) sessions.set(name, await bare.open(name));
      const ops = sessions.get("ops")?.channel;
      if (ops === undefined) throw new Error("no session of ops");
      await ops.request("ledger.create", { engine: "slurm" });
      const place = async (displayName: string, lead: Name, member: Name): Promise<Place> => {
        const tenant = await ops.request("tenant.create", { displayName });
        await ops.request("lead.add", { tenantId: tenant.id, uid: bare.slurm.person(lead).uid });
        const project = await ops.request("project.add", { tenantId: tenant.id, displayName: `${displayName} one` });
        const { uid } = bare.slurm.person(member);
        await ops.request("member.add", { projectId: project.id, uid });
        return { tenant, projectId: project.id, uid };
      };
      const alpha = await place("Alpha", "lea", "max");
      const bravo = await place("Bravo", "liv", "mia");
      return new GovernedLab(bare.slurm, sessions, { alpha, bravo });
    } catch (error) {
      await bare[Symbol.asyncDispose]();
      throw error;
    }
  }

  get alpha(): Place {
    return this.#place("alpha");
  }

  get bravo(): Place {
    return this.#place("bravo");
  }

  #place(name: "alpha" | "bravo"): Place {
    if (this.#places === null) throw new Error("this lab has no tenants");
    return this.#places[name];
  }

  /** What a person may do: through sshd, sudo and `tessera-host serve`. */
  as(name: Name): HostSession["channel"] {
    const session = this.#sessions.get(name);
    if (session === undefined) throw new Error(`no session of ${name}`);
    return session.channel;
  }

  /** Another session of a person. */
  open(name: Name): Promise<HostSession> {
    const { control, lab } = this.slurm;
    return openSession(
      {
        address: control.address,
        user: name,
        key: this.slurm.person(name).key,
        knownHostsFile: lab.write("known_hosts.control", control.sshd.knownHosts(control.address), 0o644),
      },
      ["sudo", "-n", "/opt/tessera/current/tessera-host", "serve"],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions.values()) await session[Symbol.asyncDispose]();
    await this.slurm[Symbol.asyncDispose]();
  }
}

/** tessera-host as an administrator installs it, with the sudo rule for these people. Returns what `install` says. */
export async function installFor(host: SlurmHost, people: readonly string[]): Promise<string> {
  const { machine } = host;
  await host.install();
  await machine.expect(["groupadd", "--force", "gpuops"]);
  for (const name of people) await machine.expect(["gpasswd", "-a", name, "gpuops"]);
  const [build = ""] = readdirSync(machine.file("/opt/tessera/versions"));
  const directory = `/opt/tessera/versions/${build}`;
  return machine.expect([`${directory}/node`, `${directory}/tessera-host.cjs`, "install", "--sudo-group", "gpuops"]);
}
