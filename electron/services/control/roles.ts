/** Keeps the copies of the roles on hosts without a ledger as new as the ledger. */
import { toErrorData } from "../../../shared/errors.ts";
import type { Organisation, Roles } from "../../../shared/protocol/control.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { HostLink } from "../clusters/connector.ts";
import { mapLimited } from "../partition/limit.ts";
import type { TroubleLog } from "../troubleshooting/events.ts";
import type { ControlHostFinder } from "./finder.ts";

const hostsAtOnce = 8;
/** A copy holds for seven days after it was confirmed: confirmed daily, it outlives a console that stays away for a weekend. */
const confirmEveryMs = 24 * 3_600_000;
/** A full disk or a host under load: it may pass. */
const againMs = 5 * 60_000;

interface Sent {
  readonly revision: number;
  readonly atMs: number;
  readonly failed: boolean;
}

export class RolesCopier {
  readonly #cluster: Cluster;
  readonly #finder: ControlHostFinder;
  readonly #trouble: TroubleLog;
  readonly #nowMs: () => number;
  /** What was last sent over a link. */
  readonly #sent = new WeakMap<HostLink, Sent>();

  constructor(cluster: Cluster, finder: ControlHostFinder, trouble: TroubleLog, nowMs: () => number = Date.now) {
    this.#cluster = cluster;
    this.#finder = finder;
    this.#trouble = trouble;
    this.#nowMs = nowMs;
  }

  /** Sends the roles to every other connected host that lacks them. Never rejects; failures go to the trouble log. */
  async copy(controlHostId: string, organisation: Organisation): Promise<void> {
    const roles = rolesOf(organisation);
    await mapLimited(this.#others(controlHostId), hostsAtOnce, ({ hostId, link }) => this.#copyTo(hostId, link, roles));
  }

  /** Whether a connected host has a copy older than that revision, or one to confirm, and it is time to send it. */
  async isDue(controlHostId: string, revision: number): Promise<boolean> {
    const due = await mapLimited(this.#others(controlHostId), hostsAtOnce, ({ link }) => this.#isDue(link, revision));
    return due.includes(true);
  }

  /** Names of connected hosts that did not take the roles when they were last sent. */
  behind(controlHostId: string): readonly string[] {
    return this.#others(controlHostId)
      .filter(({ link }) => this.#sent.get(link)?.failed === true)
      .map(({ hostId }) => this.#nameOf(hostId));
  }

  /** Keeps in the trouble log why roles were not copied. */
  failed(hostId: string, error: unknown): void {
    const host = this.#nameOf(hostId);
    this.#trouble.add({ level: "warning", host, what: "Copying the roles", error: toErrorData(error) });
  }

  #nameOf(hostId: string): string {
    return this.#cluster.host(hostId).view().name;
  }

  #others(controlHostId: string): ReturnType<ControlHostFinder["links"]> {
    return this.#finder.links().filter(({ hostId }) => hostId !== controlHostId);
  }

  async #isDue(link: HostLink, revision: number): Promise<boolean> {
    const now = this.#nowMs();
    const sent = this.#sent.get(link);
    if (sent?.failed === true && sent.revision >= revision) return now - sent.atMs >= againMs;
    if (sent?.failed === false) return sent.revision < revision || now - sent.atMs >= confirmEveryMs;
    const answer = await this.#finder.ask(link);
    if ("error" in answer || answer.me.ledger) return false;
    const { rolesRevision, rolesConfirmedAt } = answer.me;
    if (rolesRevision === null || rolesRevision < revision || rolesConfirmedAt === null) return true;
    return Math.abs(now - Date.parse(rolesConfirmedAt)) >= confirmEveryMs;
  }

  async #copyTo(hostId: string, link: HostLink, roles: Roles): Promise<void> {
    if (!(await this.#isDue(link, roles.revision))) return;
    const { revision } = roles;
    const before = this.#sent.get(link);
    try {
      await link.request("roles.put", roles);
      this.#sent.set(link, { revision, atMs: this.#nowMs(), failed: false });
    } catch (error) {
      this.#sent.set(link, { revision, atMs: this.#nowMs(), failed: true });
      // Tried again every few minutes: told once.
      if (before?.failed !== true || before.revision !== revision) this.failed(hostId, error);
    }
  }
}

/** Who is who, as hosts without a ledger take it. */
export function rolesOf(organisation: Organisation): Roles {
  const uids = (people: readonly { readonly uid: number }[]): number[] => people.map(({ uid }) => uid);
  return {
    revision: organisation.revision,
    administrators: uids(organisation.administrators),
    tenants: organisation.tenants.map(({ id, displayName, leads, projects }) => ({
      id,
      displayName,
      leads: uids(leads),
      projects: projects.map((project) => ({
        id: project.id,
        displayName: project.displayName,
        members: uids(project.members),
      })),
    })),
  };
}
