/** The state of a host as the board shows it. No two of them look alike, and none by colour alone. */
import type { HostView } from "../../shared/api/snapshot.ts";
import { formatIn } from "../i18n/format.ts";
import { t, useLanguageStore } from "../i18n/index.ts";

export type Tone = "calm" | "warning" | "bad";

export interface StateLook {
  /** Short, for the head of the card; null for a host that is simply live. */
  readonly label: string | null;
  readonly tone: Tone;
  /** What is shown may no longer be true. */
  readonly faded: boolean;
  /** Border of the card and what fills it where there is no inventory. */
  readonly body: "strips" | "unread" | "waiting" | "shut" | "none";
}

/** `4 min`, `2 h`, `3 d`: short enough for a card; `?` where the time is not known. */
export function shortAge(fromIso: string | null, nowMs: number): string {
  return formatIn(useLanguageStore.getState().language).since(fromIso, nowMs) ?? "?";
}

export function lookOf(host: HostView, nowMs: number): StateLook {
  const known = host.inventory !== null;
  const state = host.state;
  // Only asked for where it is shown: a thousand live hosts have no age on their cards.
  const age = state.kind === "live" || state.kind === "loading" ? "" : shortAge(host.asOf, nowMs);
  switch (state.kind) {
    case "live":
      if (host.runningOperationId !== null) {
        return { label: t("board.changing"), tone: "calm", faded: false, body: "strips" };
      }
      if (host.openOperationId !== null) {
        return { label: t("board.unfinished"), tone: "warning", faded: false, body: "strips" };
      }
      if (host.restoreOffered) return { label: t("board.layoutLost"), tone: "warning", faded: false, body: "strips" };
      return { label: null, tone: "calm", faded: false, body: known ? "strips" : "unread" };
    case "stale":
      return { label: t("board.stale", { age }), tone: "warning", faded: true, body: known ? "strips" : "unread" };
    case "not-connected":
      return {
        label: known ? t("board.notConnectedSince", { age }) : t("board.notConnected"),
        tone: "calm",
        faded: true,
        body: known ? "strips" : "none",
      };
    case "connecting":
      return {
        label: t("board.connecting", { phase: t(`board.phase-${state.phase}`) }),
        tone: "calm",
        faded: true,
        body: known ? "strips" : "waiting",
      };
    case "loading":
      return { label: t("board.loading"), tone: "calm", faded: known, body: known ? "strips" : "unread" };
    case "unreachable":
      return {
        label: known ? t("board.unreachableSince", { age }) : t("board.unreachable"),
        tone: "bad",
        faded: true,
        body: known ? "strips" : "shut",
      };
    case "refused":
      return { label: t("board.refused"), tone: "bad", faded: true, body: known ? "strips" : "shut" };
  }
}

/** The first thing on the host that a person should know of: a lost GPU, a serious Xid. */
export function troubleOf(host: HostView): { readonly label: string; readonly tone: Tone } | null {
  for (const gpu of host.inventory?.gpus ?? []) {
    if (gpu.state.kind === "failed") {
      const xid = gpu.xids.at(-1);
      const label =
        xid === undefined
          ? t("board.gpuFailed", { index: gpu.index, reason: t(`board.failed-${gpu.state.reason}`) })
          : t("board.xidOnGpu", { code: xid.code, index: gpu.index });
      return { label, tone: "bad" };
    }
    if (gpu.memoryRepair === "failed") return { label: t("board.repairFailed", { index: gpu.index }), tone: "bad" };
  }
  for (const gpu of host.inventory?.gpus ?? []) {
    const xid = gpu.xids.findLast((event) => [48, 63, 64, 74, 79, 92, 94, 95, 119, 120].includes(event.code));
    if (xid !== undefined) return { label: t("board.xidOnGpu", { code: xid.code, index: gpu.index }), tone: "warning" };
    if (gpu.memoryRepair === "pending") {
      return { label: t("board.repairPending", { index: gpu.index }), tone: "warning" };
    }
  }
  return null;
}

/** `8 x H100 80GB`; models are counted where a host has several. */
export function modelLine(host: HostView): string {
  const gpus = host.inventory?.gpus;
  if (gpus === undefined) return "";
  const first = gpus[0];
  if (first === undefined) return t("board.noGpus");
  if (gpus.every(({ name }) => name === first.name)) return `${gpus.length} x ${shortModel(first.name)}`;
  const counts = new Map<string, number>();
  for (const gpu of gpus) {
    const name = shortModel(gpu.name);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} x ${name}`).join(", ");
}

/** The product name without what every NVIDIA card has. */
export function shortModel(name: string): string {
  return name.replace(/^NVIDIA /, "").replace(/ HBM\S*$/, "");
}
