/**
 * The focused host as a tree in the DOM, over its place on the canvas and invisible: screen readers read it,
 * magnifiers follow it. It has the focused host's GPUs only, not the whole cluster.
 */
import { useText } from "../i18n/index.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { describe } from "./describe.ts";
import type { Board } from "./engine.ts";
import { useBoardView } from "./view-state.ts";
import type { Focus } from "./walk.ts";

export function BoardTree({ board }: { readonly board: Board }) {
  const text = useText();
  const focus = useBoardView((state) => state.focus);
  useBoardView((state) => state.moved);
  const { hostIds } = board.scene.layout;
  const hostId = focus === null ? undefined : hostIds[focus.hostIndex];
  const host = useSnapshot((state) => (hostId === undefined ? undefined : state.hosts.get(hostId)));
  if (focus === null || host === undefined) {
    return <Item level={1} position={1} count={hostIds.length} label={text("board.nothingFocused")} />;
  }
  const nowMs = Date.now();
  const item = (place: Focus) => {
    const description = describe(board.scene, place, nowMs);
    const box = board.boxOf({ ...place, slice: null });
    return {
      label: description === null ? "" : [description.where, ...description.lines].join(", "),
      style: box === null ? undefined : { left: box.x, top: box.y, width: box.width, height: box.height },
    };
  };
  const gpus = host.inventory?.gpus ?? [];
  return (
    <>
      <Item
        level={1}
        position={focus.hostIndex + 1}
        count={hostIds.length}
        focused={focus.gpu === null}
        expanded
        {...item({ hostIndex: focus.hostIndex, gpu: null, slice: null })}
      />
      {gpus.map((gpu, at) => (
        <Item
          key={gpu.uuid}
          level={2}
          position={at + 1}
          count={gpus.length}
          focused={focus.gpu === at}
          {...item({ hostIndex: focus.hostIndex, gpu: at, slice: focus.gpu === at ? focus.slice : null })}
        />
      ))}
    </>
  );
}

function Item({
  level,
  position,
  count,
  label,
  focused = false,
  expanded,
  style,
}: {
  readonly level: number;
  readonly position: number;
  readonly count: number;
  readonly label: string;
  readonly focused?: boolean;
  readonly expanded?: boolean;
  readonly style?: { left: number; top: number; width: number; height: number } | undefined;
}) {
  return (
    <div
      className="board-cell"
      role="treeitem"
      // The tree keeps the focus and names the item by aria-activedescendant.
      tabIndex={-1}
      id={focused ? "board-focus" : undefined}
      aria-level={level}
      aria-posinset={position}
      aria-setsize={count}
      aria-selected={focused}
      aria-expanded={expanded}
      aria-label={label}
      style={style}
    />
  );
}
