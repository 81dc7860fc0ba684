/** What is at a place of the board, in words: for the tooltip, and for those who hear the board. */
import type { Holder } from "../../shared/protocol/inventory.ts";
import { t } from "../i18n/index.ts";
import { cellAt } from "./hit.ts";
import type { Scene } from "./scene.ts";
import { lookOf, modelLine, shortAge, troubleOf } from "./state.ts";
import type { Focus } from "./walk.ts";

export interface Description {
  /** `gpu-07 / GPU 3`. */
  readonly where: string;
  readonly lines: readonly string[];
}

export function holderLine(holder: Holder): string {
  const known = [holder.tenant, holder.project, holder.user].filter((part) => part !== null).join(" / ");
  // Of others leads and members learn no more.
  const who = known === "" ? t("board.occupied") : known;
  if (holder.allocation === null) return who;
  return `${who}, ${t(holder.by === "lease" ? "board.lease" : "board.job", { id: holder.allocation })}`;
}

function utilisationLine(percent: number | null): string {
  return percent === null ? t("board.useUnknown") : t("board.inUse", { percent });
}

export function describe(scene: Scene, place: Focus, nowMs: number): Description | null {
  const host = scene.host(place.hostIndex);
  if (host === undefined) return null;
  const look = lookOf(host, nowMs);
  const state = look.label === null ? [] : [look.label];
  if ("error" in host.state && host.state.error !== null) state.push(host.state.error.message);
  const inventory = host.inventory;
  if (place.gpu === null || inventory === null) {
    const trouble = troubleOf(host);
    return {
      where: host.name,
      lines: [modelLine(host), host.rack, ...state, ...(trouble === null ? [] : [trouble.label])].filter(
        (line) => line !== "",
      ),
    };
  }
  const gpu = inventory.gpus[place.gpu];
  const cells = scene.cells(place.hostIndex);
  if (gpu === undefined || cells === null) return null;
  const where = `${host.name} / GPU ${gpu.index}`;
  if (gpu.state.kind === "failed") return { where, lines: [gpu.name, gpu.state.words, ...state] };
  if (gpu.holder !== null && gpu.instances.length === 0) {
    const since = gpu.holder.since === null ? [] : [t("board.since", { age: shortAge(gpu.holder.since, nowMs) })];
    return {
      where,
      lines: [gpu.name, holderLine(gpu.holder), utilisationLine(gpu.utilisationPercent), ...since, ...state],
    };
  }
  const cell = place.slice === null ? null : cellAt(cells, place.gpu, place.slice);
  const instance = cell === null ? undefined : gpu.instances.find(({ id }) => id === cells.cellInstance[cell]);
  if (instance !== undefined) {
    const { holder } = instance;
    const lines = [t("board.instanceAt", { profile: instance.profile, start: instance.placement.start })];
    if (instance.computeInstances.length === 0) lines.push(t("board.orphan"));
    if (holder === null) lines.push(t("board.nobody"));
    else {
      lines.push(holderLine(holder), utilisationLine(instance.utilisationPercent));
      if (holder.since !== null) lines.push(t("board.since", { age: shortAge(holder.since, nowMs) }));
    }
    return { where, lines: [...lines, ...state] };
  }
  const free = place.slice === null ? [] : [t("board.sliceFree", { slice: place.slice })];
  const summary =
    gpu.mig.current === "enabled"
      ? t("board.instances", { count: gpu.instances.length })
      : gpu.geometry === null
        ? t("board.undividable")
        : t("board.whole");
  return { where, lines: [gpu.name, ...free, summary, ...state] };
}
