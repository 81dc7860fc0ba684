/**
 * Moving without a mouse: something is picked up, arrows go from one legal place to the next (left and right on a
 * GPU, up and down between GPUs), Enter drops it, Escape puts it back.
 */
import { t } from "../i18n/index.ts";
import { useSelection } from "../stores/selection.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { announce } from "./announce.ts";
import { type Aim, type DragSource, useDraft } from "./draft.ts";
import { factsFor } from "./facts.ts";
import { mayPartition } from "./may-partition.ts";
import { openMoveTo } from "./target-picker.ts";

/** GPUs in the operator's order. */
function gpusInOrder(): readonly string[] {
  const { hostIds, hosts } = useSnapshot.getState();
  return hostIds.flatMap((id) => hosts.get(id)?.inventory?.gpus.map((gpu) => gpu.uuid) ?? []);
}

function aimsOn(gpuUuid: string): readonly Aim[] {
  return useDraft
    .getState()
    .targetsOf(gpuUuid)
    .flatMap((target) => (target.legal ? [{ gpuUuid, start: target.start, size: target.size }] : []));
}

/** The nearest GPU with a legal place, going `step` through the cluster from this one, itself included with step 0. */
function aimFrom(gpuUuid: string, step: 1 | -1): Aim | null {
  const order = gpusInOrder();
  const at = order.indexOf(gpuUuid);
  for (let count = 1; count <= order.length; count += 1) {
    const index = (at + step * count + order.length * 2) % order.length;
    const candidate = order[index];
    const aim = candidate === undefined ? undefined : aimsOn(candidate)[0];
    if (aim !== undefined) return aim;
  }
  return null;
}

function takeAim(aim: Aim): void {
  const { drag, aimAt } = useDraft.getState();
  aimAt(aim);
  const facts = factsFor(aim.gpuUuid);
  if (facts === null || drag === null) return;
  const { selected } = useSelection.getState();
  if (selected === null || selected.kind === "host" || selected.gpuUuid !== aim.gpuUuid) {
    useSelection.getState().select({ kind: "gpu", hostId: facts.hostId, gpuUuid: aim.gpuUuid });
  }
  const place = `${facts.hostName} / GPU ${facts.gpu.index}`;
  announce(t("draft.aim", { profile: drag.profile, start: aim.start, place }));
}

export function pickUp(source: DragSource, gpuUuid: string): void {
  if (!mayPartition()) return;
  const draft = useDraft.getState();
  if (draft.drag !== null && draft.byKeyboard && draft.drag.profile === source.profile) {
    draft.cancel();
    return;
  }
  draft.begin(source, true);
  const aim = aimsOn(gpuUuid)[0] ?? aimFrom(gpuUuid, 1);
  if (aim === null) {
    useDraft.getState().cancel();
    announce(t("draft.noTarget", { profile: source.profile }));
    return;
  }
  takeAim(aim);
}

function moveAim(key: string): boolean {
  const { aim } = useDraft.getState();
  if (aim === null) return false;
  if (key === "ArrowUp" || key === "ArrowDown") {
    const next = aimFrom(aim.gpuUuid, key === "ArrowDown" ? 1 : -1);
    if (next !== null) takeAim(next);
    return true;
  }
  const aims = aimsOn(aim.gpuUuid);
  const at = aims.findIndex(({ start }) => start === aim.start);
  const next = aims[(at + (key === "ArrowRight" ? 1 : -1) + aims.length) % Math.max(1, aims.length)];
  if (next !== undefined) takeAim(next);
  return true;
}

/** The selected instance where it may move, or null. */
function movableSelection(): (DragSource & { readonly kind: "instance" }) | null {
  const { selected } = useSelection.getState();
  if (selected?.kind !== "instance") return null;
  const facts = factsFor(selected.gpuUuid);
  const instance = facts?.gpu.instances.find(({ id }) => id === selected.gpuInstanceId);
  const standing = facts?.current.instances.find(({ id }) => id === selected.gpuInstanceId);
  if (instance === undefined || standing?.inUse === true) return null;
  return {
    kind: "instance",
    gpuUuid: selected.gpuUuid,
    start: instance.placement.start,
    profile: instance.profile,
  };
}

/** `Shift M`: the list of places for the profile that has the focus, or for the selected instance. */
export function openPlaces(): boolean {
  const { profile } = document.activeElement instanceof HTMLElement ? document.activeElement.dataset : {};
  const profileId = Number(document.activeElement?.getAttribute("data-profile-id"));
  if (profile !== undefined) {
    openMoveTo({ kind: "profile", profileId, profile });
    return true;
  }
  const source = movableSelection();
  if (source !== null) openMoveTo(source);
  return source !== null;
}

/** `M`: picks up the selected instance where it may move, else goes to the palette. False where there is neither. */
export function startMove(): boolean {
  const source = movableSelection();
  if (source !== null) {
    pickUp(source, source.gpuUuid);
    return true;
  }
  const chip =
    document.querySelector<HTMLElement>("[data-palette] [data-profile]:not([data-impossible])") ??
    document.querySelector<HTMLElement>("[data-palette] [data-profile]");
  chip?.focus();
  return chip !== null;
}

/** While something is picked up its keys come first, before whatever has the focus. */
export function followKeyboardMove(): () => void {
  const onKey = (event: KeyboardEvent) => {
    const { drag, byKeyboard, aim, drop, cancel } = useDraft.getState();
    if (drag === null || !byKeyboard || event.isComposing) return;
    const handled = (() => {
      switch (event.key) {
        case "ArrowLeft":
        case "ArrowRight":
        case "ArrowUp":
        case "ArrowDown":
          return moveAim(event.key);
        case "Enter":
        case " ":
          if (aim !== null) drop(aim.gpuUuid, aim.start);
          return true;
        case "Escape":
          cancel();
          return true;
        default:
          return false;
      }
    })();
    if (!handled) return;
    event.preventDefault();
    event.stopPropagation();
  };
  window.addEventListener("keydown", onKey, { capture: true });
  return () => window.removeEventListener("keydown", onKey, { capture: true });
}
