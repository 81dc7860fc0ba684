import { useLayoutEffect, useRef } from "react";
import { describe } from "./describe.ts";
import type { Board } from "./engine.ts";
import { useBoardView } from "./view-state.ts";

/** Beside the pointer: what is there, or why something cannot be dropped there. */
export function BoardTooltip({ board }: { readonly board: Board }) {
  const hover = useBoardView((state) => state.hover);
  const refusal = useBoardView((state) => state.refusal);
  const element = useRef<HTMLDivElement>(null);
  const point = refusal ?? hover;
  useLayoutEffect(() => {
    const tooltip = element.current;
    const area = tooltip?.parentElement;
    if (tooltip === null || area == null || point === null) return;
    const width = tooltip.offsetWidth;
    const height = tooltip.offsetHeight;
    const x = point.x + 14 + width > area.clientWidth ? point.x - width - 10 : point.x + 14;
    const y = point.y + 18 + height > area.clientHeight ? point.y - height - 10 : point.y + 18;
    tooltip.style.transform = `translate(${Math.max(4, Math.round(x))}px, ${Math.max(4, Math.round(y))}px)`;
  });
  if (point === null) return null;
  if (refusal !== null) {
    return (
      <div className="board-tooltip refusal" ref={element}>
        {refusal.sentence}
      </div>
    );
  }
  const description = hover === null ? null : describe(board.scene, hover.hit, Date.now());
  if (description === null) return null;
  return (
    <div className="board-tooltip" ref={element} role="tooltip">
      <strong>{description.where}</strong>
      {description.lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}
