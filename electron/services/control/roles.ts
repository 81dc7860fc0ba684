/** Keeps the copies of the roles on hosts without a ledger as new as the ledger. */
import { toErrorData } from "../../../shared/errors.ts";
import type { Organisation, Roles } from "../../../shared/protocol/control.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { HostLink } from "../clusters/connector.ts";
import { mapLimited } from "../partition/limit.ts";
import type { TroubleLog } from "../troubleshooting/events.ts";
import type { ControlHostFinder } from "./finder.ts";

const hostsAtOnce = 8;

export class RolesCopier {
  readonly #cluster: Cluster;
  readonly #finder: ControlHostFinder;
  readonly #trouble: TroubleLog;
  /** The revision last sent over a link, also where it failed: it is not tried again with the same. */
  readonly #sent = new WeakMap<HostLink, number>();

  constructor(cluster: Cluster, finder: ControlHostFinder, trouble: TroubleLog) {
    this.#cluster = cluster;
    this.#finder = finder;
    this.#trouble = trouble;
  }

  /** Sends the roles to every other connected host whose copy is older. Never rejects; failures go to the trouble log. */
  async copy(controlHostId: string, organisation: Organisation): Promise<void> {
    const roles = rolesOf(organisation);
    const others = this.#finder.links().filter(({ hostId }) => hostId !== controlHostId);
    await mapLimited(others, hostsAtOnce, ({ hostId, link }) => this.#copyTo(hostId, link, roles));
  }

  /** Whether a connected host has a copy older than that revision. Asks no host twice over one link. */
  async isBehind(controlHostId: string, revision: number): Promise<boolean> {
    const others = this.#finder.links().filter(({ hostId }) => hostId !== controlHostId);
    const behind = await mapLimited(others, hostsAtOnce, ({ link }) => this.#lacks(link, revision));
    return behind.includes(true);
  }

  /** Keeps in the trouble log why roles were not copied. */
  failed(hostId: string, error: unknown): void {
    const host = this.#cluster.host(hostId).view().name;
    this.#trouble.add({ level: "warning", host, what: "Copying the roles", error: toErrorData(error) });
  }

  async #lacks(link: HostLink, revision: number): Promise<boolean> {
    const answer = await this.#finder.ask(link);
    if ("error" in answer || answer.me.ledger) return false;
    return Math.max(answer.me.rolesRevision ?? -1, this.#sent.get(link) ?? -1) < revision;
  }

  async #copyTo(hostId: string, link: HostLink, roles: Roles): Promise<void> {
    if (!(await this.#lacks(link, roles.revision))) return;
    this.#sent.set(link, roles.revision);
    try {
      await link.request("roles.put", roles);
    } catch (error) {
      this.failed(hostId, error);
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
