/** Which host of a cluster has the ledger. What a host answered is kept for as long as its link stands. */
import { AppError, type AppErrorData, toErrorData } from "../../../shared/errors.ts";
import type { Me } from "../../../shared/protocol/control.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { HostLink } from "../clusters/connector.ts";
import { mapLimited } from "../partition/limit.ts";

const hostsAtOnce = 32;

type Answer = { readonly me: Me } | { readonly error: AppErrorData };

export class ControlHostFinder {
  readonly #cluster: Cluster;
  #answers = new WeakMap<HostLink, Promise<Answer>>();
  /** The host that said it has the ledger. */
  #found: string | null = null;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The host's id: the one that is configured, else that of the ledger, else the first. */
  async find(): Promise<string> {
    const { hosts, controlHost } = this.#cluster.draft;
    if (controlHost !== undefined && hosts.includes(controlHost)) return controlHost;
    if (this.#found !== null && hosts.includes(this.#found)) return this.#found;
    const live = this.links();
    const answers = await mapLimited(live, hostsAtOnce, ({ link }) => this.ask(link));
    const index = answers.findIndex((answer) => "me" in answer && answer.me.ledger);
    this.#found = live[index]?.hostId ?? null;
    return this.#found ?? hosts[0] ?? "";
  }

  /** The control host's link. Throws why there is none. */
  async link(): Promise<HostLink> {
    return this.#cluster.host(await this.find()).link();
  }

  /** Every host that is connected now, in the operator's order. */
  links(): readonly { readonly hostId: string; readonly link: HostLink }[] {
    return this.#cluster.draft.hosts.flatMap((hostId) => {
      const link = this.linkOf(hostId);
      return link === null ? [] : [{ hostId, link }];
    });
  }

  /** Null where the host is not connected. */
  linkOf(hostId: string): HostLink | null {
    try {
      return this.#cluster.host(hostId).link();
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  /** Who the operator is there; never rejects. An older tessera-host does not know the command. */
  ask(link: HostLink): Promise<Answer> {
    const known = this.#answers.get(link);
    if (known !== undefined) return known;
    const asked = link.request("identity.me", {}).then(
      (me): Answer => ({ me }),
      (error: unknown): Answer => ({ error: toErrorData(error) }),
    );
    this.#answers.set(link, asked);
    return asked;
  }

  /** The next look asks this host again. */
  forget(link: HostLink): void {
    this.#answers.delete(link);
  }
}
