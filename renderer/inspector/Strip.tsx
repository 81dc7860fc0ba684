/**
 * One GPU as a strip of its memory slices, in real buttons. Colour says whose, the filled height how much of it
 * works, an outline that nobody holds it, dashed blue that it stands only in the draft.
 */

import { draggable, dropTargetForElements } from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import type { Format } from "../i18n/format.ts";
import { useFormat } from "../i18n/format.ts";
import { type Translate, useText } from "../i18n/index.ts";
import { type DropTarget, useDraft } from "../partition/draft.ts";
import { profileHue, tenantMark, useColouring } from "../stores/colouring.ts";
import styles from "./strip.module.css";
import type { StripCell } from "./strip-model.ts";

function cellTitle(t: Translate, format: Format, cell: StripCell): string {
  const where = t("inspector.at", { profile: cell.profile, start: cell.start });
  if (cell.kind === "new") return t("inspector.new", { profile: cell.profile, start: cell.start, size: cell.size });
  const whose = cell.kind === "held" ? (cell.holder ?? t("inspector.inUseUnknown")) : t("inspector.emptyNow");
  const use = cell.usePercent === null ? null : format.percent(cell.usePercent);
  return [where, whose, use].filter((part) => part !== null).join(", ");
}

/** As much of the name as the width takes: `1g` over one slice, `2g.20gb` over two. */
function cellLabel(t: Translate, cell: StripCell, slices: number): string {
  const share = cell.size / slices;
  if (cell.kind === "new" && share >= 0.45) {
    return t("inspector.new", { profile: cell.profile, start: cell.start, size: cell.size });
  }
  return share >= 0.2 ? cell.profile : cell.profile.replace(/\..*$/, "");
}

function CellFace({
  cell,
  slices,
  children,
}: {
  readonly cell: StripCell;
  readonly slices: number;
  readonly children?: ReactNode;
}) {
  const t = useText();
  const mode = useColouring((state) => state.mode);
  useColouring((state) => state.order);
  const mark = cell.tenant === null ? null : tenantMark(cell.tenant);
  const hue = mode === "profile" && cell.kind === "held" ? profileHue(cell.profile) : (mark?.hue ?? null);
  return (
    <span className={styles.face} data-kind={cell.kind} data-hue={hue ?? "none"} data-mark={mark?.mark ?? 0}>
      {cell.kind === "held" ? (
        <span
          className={styles.fill}
          data-unknown={cell.usePercent === null ? "" : undefined}
          style={{ height: `${cell.usePercent ?? 100}%` }}
        />
      ) : null}
      <span className={styles.label}>{cellLabel(t, cell, slices)}</span>
      {cell.computeInstanceCount > 1 ? <span className={styles.compute}>×{cell.computeInstanceCount}</span> : null}
      {children}
    </span>
  );
}

function place(start: number, size: number) {
  return { gridColumn: `${start + 1} / span ${size}` };
}

export function Strip({
  label,
  slices,
  cells,
  undivided,
  selectedStart,
  onCell,
  gpuUuid = null,
}: {
  readonly label: string;
  readonly slices: number;
  readonly cells: readonly StripCell[];
  readonly undivided: string | null;
  readonly selectedStart: number | null;
  readonly onCell: (cell: StripCell) => void;
  /** Takes drops into the draft of this GPU; null where the strip only shows. */
  readonly gpuUuid?: string | null;
}) {
  const t = useText();
  const format = useFormat();
  const ref = useRef<HTMLUListElement>(null);
  const dragging = useDropTarget(ref, gpuUuid, slices);
  return (
    <ul
      ref={ref}
      className={styles.strip}
      aria-label={label}
      data-open={dragging ? "" : undefined}
      style={{ gridTemplateColumns: `repeat(${slices}, minmax(0, 1fr))` }}
    >
      {undivided === null ? null : <li className={styles.undivided}>{undivided}</li>}
      {cells.map((cell) => (
        <li key={cell.start} className={styles.slot} style={place(cell.start, cell.size)}>
          <button
            type="button"
            className={styles.cell}
            title={cellTitle(t, format, cell)}
            aria-label={cellTitle(t, format, cell)}
            aria-pressed={cell.start === selectedStart}
            onClick={() => onCell(cell)}
          >
            <CellFace cell={cell} slices={slices} />
          </button>
        </li>
      ))}
      {gpuUuid === null ? null : <Targets gpuUuid={gpuUuid} />}
    </ul>
  );
}

function sliceUnder(element: Element, clientX: number, slices: number): number {
  const box = element.getBoundingClientRect();
  const share = (clientX - box.left) / Math.max(1, box.width);
  return Math.max(0, Math.min(slices - 1, Math.floor(share * slices)));
}

function DraftCell({
  gpuUuid,
  cell,
  slices,
  menu,
}: {
  readonly gpuUuid: string;
  readonly cell: StripCell;
  readonly slices: number;
  readonly menu: (cell: StripCell, face: ReactNode, title: string) => ReactNode;
}) {
  const t = useText();
  const format = useFormat();
  const ref = useRef<HTMLLIElement>(null);
  const locked = cell.kind === "held";
  const { start, profile } = cell;
  const dragged = useDraft(({ drag }) => drag?.kind === "instance" && drag.gpuUuid === gpuUuid && drag.start === start);
  useEffect(() => {
    const element = ref.current;
    if (element === null || locked) return;
    return draggable({
      element,
      getInitialData: () => ({ tessera: "instance", gpuUuid, start }),
      onDragStart: () => useDraft.getState().begin({ kind: "instance", gpuUuid, start, profile }),
      // This comes before the drop target's own onDrop: a drop that took place leaves nothing to cancel.
      onDrop: () => setTimeout(() => useDraft.getState().cancel(), 0),
    });
  }, [gpuUuid, start, profile, locked]);
  return (
    <li ref={ref} className={styles.slot} data-dragged={dragged ? "" : undefined} style={place(start, cell.size)}>
      {menu(cell, <CellFace cell={cell} slices={slices} />, cellTitle(t, format, cell))}
    </li>
  );
}

/** The strip of the draft: takes drops, and its instances can be dragged. */
export function DraftStrip({
  gpuUuid,
  label,
  slices,
  cells,
  undivided,
  menu,
}: {
  readonly gpuUuid: string;
  readonly label: string;
  readonly slices: number;
  readonly cells: readonly StripCell[];
  readonly undivided: string | null;
  /** The button of an instance with its menu. */
  readonly menu: (cell: StripCell, face: ReactNode, title: string) => ReactNode;
}) {
  const ref = useRef<HTMLUListElement>(null);
  const dragging = useDropTarget(ref, gpuUuid, slices);
  return (
    <ul
      ref={ref}
      className={styles.strip}
      aria-label={label}
      data-open={dragging ? "" : undefined}
      style={{ gridTemplateColumns: `repeat(${slices}, minmax(0, 1fr))` }}
    >
      {undivided === null ? null : <li className={styles.undivided}>{undivided}</li>}
      {cells.map((cell) => (
        <DraftCell key={cell.start} gpuUuid={gpuUuid} cell={cell} slices={slices} menu={menu} />
      ))}
      <Targets gpuUuid={gpuUuid} />
    </ul>
  );
}

/** Makes a strip take what is dragged. Answers whether something is. */
function useDropTarget(ref: RefObject<HTMLUListElement | null>, gpuUuid: string | null, slices: number): boolean {
  useEffect(() => {
    const element = ref.current;
    if (element === null || gpuUuid === null) return;
    const targetAt = (clientX: number) => useDraft.getState().targetAt(gpuUuid, sliceUnder(element, clientX, slices));
    return dropTargetForElements({
      element,
      onDrag: ({ location }) => {
        const target = targetAt(location.current.input.clientX);
        useDraft.getState().aimAt(target.legal ? { gpuUuid, start: target.start, size: target.size } : null);
      },
      onDragLeave: () => useDraft.getState().aimAt(null),
      onDrop: ({ location }) => {
        const target = targetAt(location.current.input.clientX);
        if (target.legal) useDraft.getState().drop(gpuUuid, target.start);
        else useDraft.getState().cancel();
      },
    });
  }, [ref, gpuUuid, slices]);
  return useDraft((state) => gpuUuid !== null && state.drag !== null);
}

/** Where what is dragged could come to lie. */
function Targets({ gpuUuid }: { readonly gpuUuid: string }) {
  const drag = useDraft((state) => state.drag);
  const aim = useDraft((state) => (state.aim?.gpuUuid === gpuUuid ? state.aim : null));
  // The draft decides the targets: it is read again whenever it or the drag changes.
  useDraft((state) => state.history.present);
  const targets: readonly DropTarget[] = drag === null ? [] : useDraft.getState().targetsOf(gpuUuid);
  return targets.map((target) =>
    target.legal ? (
      <li
        key={`target ${target.start}`}
        className={styles.target}
        aria-hidden="true"
        data-aimed={aim?.start === target.start ? "" : undefined}
        style={place(target.start, target.size)}
      />
    ) : null,
  );
}
