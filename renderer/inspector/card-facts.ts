/** Sentences about one card, from what the driver says. Null is what it does not say. */
import type { Gpu, HostInventory } from "../../shared/protocol/inventory.ts";
import type { Format } from "../i18n/format.ts";
import type { Translate } from "../i18n/index.ts";
import { profileOf } from "../partition/edits.ts";
import { type GpuFacts, isInUse } from "../partition/facts.ts";

/** `0-7`, `0-2, 5`: GPU numbers as ranges. */
export function ranges(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const parts: [number, number][] = [];
  for (const number of sorted) {
    const last = parts.at(-1);
    if (last !== undefined && last[1] + 1 === number) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(", ");
}

export function computeInUse(t: Translate, facts: GpuFacts): string | null {
  if (!facts.current.migEnabled) return null;
  let used = 0;
  for (const instance of facts.current.instances) {
    if (instance.inUse === true) used += profileOf(facts.geometry, instance.profileId)?.computeSlices ?? 0;
  }
  return t("inspector.slicesOf", { used, total: facts.geometry.computeSlices });
}

/** Memory of the instances that somebody holds, of all there is. */
export function memoryHeld(t: Translate, format: Format, gpu: Gpu): string | null {
  let held = 0;
  for (const instance of gpu.instances) {
    if (!isInUse(gpu, instance)) continue;
    if (instance.memory.totalMiB === null) return null;
    held += instance.memory.totalMiB;
  }
  return t("inspector.ofTotal", { used: format.memory(held), total: format.memory(gpu.memory.totalMiB) });
}

export function nvlinkWords(t: Translate, gpu: Gpu, inventory: HostInventory): string | null {
  const name = `GPU${gpu.index}`;
  const links = inventory.links.filter(
    (link) =>
      link.kind === "NVLINK" &&
      (link.a === name || link.b === name) &&
      link.a.startsWith("GPU") &&
      link.b.startsWith("GPU"),
  );
  const { active, total } = gpu.nvlinks;
  if (active !== null && total !== null && active < total) return t("inspector.nvlinkActive", { active, total });
  if (links.length === 0) return active === 0 || inventory.links.length > 0 ? t("common.none") : null;
  const peers = links.map((link) => Number((link.a === name ? link.b : link.a).slice(3))).filter(Number.isInteger);
  const counts = links.map((link) => link.nvlinkCount).filter((count) => count !== null);
  const count = counts.length === 0 ? (active ?? "?") : Math.max(...counts);
  return t("inspector.nvlinkTo", { count, gpus: `GPU ${ranges(peers)}` });
}

const nearness = ["PIX", "PXB", "PHB", "NODE", "SYS"];

/** `node 0, mlx5_3 (PIX)`: the nearest NIC by the driver's own measure. */
export function numaWords(t: Translate, gpu: Gpu, inventory: HostInventory): string | null {
  const name = `GPU${gpu.index}`;
  const nics = inventory.links
    .filter((link) => (link.a === name || link.b === name) && nearness.includes(link.kind))
    .map((link) => ({ nic: link.a === name ? link.b : link.a, kind: link.kind }))
    .filter(({ nic }) => !nic.startsWith("GPU"))
    .sort((a, b) => nearness.indexOf(a.kind) - nearness.indexOf(b.kind));
  const nearest = nics[0];
  const node = gpu.numaNode === null ? null : t("inspector.node", { id: gpu.numaNode });
  const nic = nearest === undefined ? null : `${nearest.nic} (${nearest.kind})`;
  if (node === null && nic === null) return null;
  const noNic = inventory.host.nics.length > 0 ? null : t("inspector.noNic");
  return [node ?? t("common.unknown"), nic ?? noNic].filter((part) => part !== null).join(", ");
}

export function eccWords(t: Translate, gpu: Gpu): string | null {
  const { enabled, volatileUncorrected, aggregateUncorrected } = gpu.ecc;
  if (enabled === null) return null;
  if (!enabled) return t("inspector.eccOff");
  if (volatileUncorrected === 0 && (aggregateUncorrected ?? 0) === 0) return t("inspector.eccClean");
  return t("inspector.eccErrors", {
    volatile: volatileUncorrected ?? t("common.unknown"),
    aggregate: aggregateUncorrected ?? t("common.unknown"),
  });
}

export function xidWords(t: Translate, format: Format, gpu: Gpu, now: number): string {
  const last = gpu.xids.at(-1);
  if (last === undefined) return t("inspector.xidNone");
  const age = format.since(last.at, now);
  const when = age === null ? t("common.unknown") : t("common.ago", { duration: age });
  return t("inspector.xidLast", { code: last.code, when });
}

export function migWords(t: Translate, gpu: Gpu): string | null {
  const { current, pending } = gpu.mig;
  if (current === null) return null;
  const now = t(`inspector.mig-${current}`);
  if (pending === null || pending === current) return now;
  return t("inspector.migPending", { now, pending: t(`inspector.mig-${pending}`) });
}
