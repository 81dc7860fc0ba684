/** What the head of a rack says of its hosts: GPUs as far as hosts have told them, and how many hosts refused the login. */
import type { HostView } from "../../shared/api/snapshot.ts";
import { t } from "../i18n/index.ts";

type Counted = Pick<HostView, "inventory" | "state">;

export function rackSummaryOf(hosts: readonly Counted[]): string {
  const gpus = hosts.reduce((sum, { inventory }) => sum + (inventory?.gpus.length ?? 0), 0);
  const refused = hosts.filter(({ state }) => state.kind === "refused").length;
  return [
    t("common.hosts", { count: hosts.length }),
    ...(hosts.some(({ inventory }) => inventory !== null) ? [t("common.gpus", { count: gpus })] : []),
    ...(refused === 0 ? [] : [t("board.refusedHosts", { count: refused })]),
  ].join(t("common.separator"));
}

/** Whether a rack's summary says the same with either. */
export function countsAlike(a: Counted | undefined, b: Counted | undefined): boolean {
  return (
    a?.inventory?.gpus.length === b?.inventory?.gpus.length &&
    (a?.state.kind === "refused") === (b?.state.kind === "refused")
  );
}
