/** The board as a component: one canvas, and around it what a canvas cannot be: a tooltip, a legend, words for screen readers. */
import { useEffect, useRef, useState } from "react";
import { IconButton } from "../design/controls.tsx";
import { FitIcon, LettersIcon, MinusIcon, PlusIcon } from "../design/icons.tsx";
import { useText } from "../i18n/index.ts";
import { useColouring } from "../stores/colouring.ts";
import { useSelection } from "../stores/selection.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { BoardLegend } from "./BoardLegend.tsx";
import { BoardNotice } from "./BoardNotice.tsx";
import { BoardTooltip } from "./BoardTooltip.tsx";
import { BoardTree } from "./BoardTree.tsx";
import { makeDraggable, sourceAt } from "./drag.ts";
import { createBoard, type Board as Engine } from "./engine.ts";
import { handleBoardKey, registerBoardKeys } from "./keyboard.ts";
import { listenToPointer } from "./pointer.ts";
import { useBoardView } from "./view-state.ts";
import "./board.css";

export function Board() {
  const text = useText();
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [engine, setEngine] = useState<Engine | null>(null);
  const hasHosts = useSnapshot((state) => state.hostIds.length > 0);
  const activeId = useBoardView((state) => (state.focus === null ? undefined : "board-focus"));

  useEffect(() => {
    if (canvas.current === null || frame.current === null) return;
    const made = createBoard(canvas.current, frame.current);
    const stops = [
      listenToPointer(canvas.current, made, (hit) => sourceAt(made, hit) !== null),
      makeDraggable(canvas.current, made),
      revealSelection(made),
      registerBoardKeys(made),
    ];
    setEngine(made);
    return () => {
      for (const stop of stops) stop();
      made.destroy();
      useBoardView.setState({ hover: null, refusal: null, focus: null });
    };
  }, []);

  return (
    <div className="board" ref={frame}>
      <div
        className="board-keys"
        tabIndex={0}
        role="tree"
        aria-label={text("board.label")}
        aria-describedby="board-hint"
        aria-activedescendant={activeId}
        onFocus={(event) => engine?.setFocused(event.currentTarget.matches(":focus-visible"))}
        onBlur={() => engine?.setFocused(false)}
        onKeyDown={(event) => {
          if (engine === null || !handleBoardKey(engine, event)) return;
          engine.setFocused(true);
          event.preventDefault();
          event.stopPropagation();
        }}
      >
        <canvas ref={canvas} className="board-canvas" />
        {engine === null ? null : <BoardTree board={engine} />}
      </div>
      <p id="board-hint" className="visually-hidden">
        {text("board.hint")}
      </p>
      <BoardNotice />
      {engine === null || !hasHosts ? null : (
        <>
          <BoardTooltip board={engine} />
          <BoardLegend board={engine} />
          <div className="board-zoom">
            <LettersButton />
            <IconButton label={text("board.zoomOut")} onPress={() => engine.step(1 / 1.35)}>
              <MinusIcon />
            </IconButton>
            <IconButton label={text("board.zoomIn")} onPress={() => engine.step(1.35)}>
              <PlusIcon />
            </IconButton>
            <IconButton label={text("board.fit")} onPress={() => engine.fit()}>
              <FitIcon />
            </IconButton>
          </div>
        </>
      )}
    </div>
  );
}

function LettersButton() {
  const text = useText();
  const letters = useColouring((state) => state.letters);
  return (
    <button
      type="button"
      className="button quiet icon"
      aria-pressed={letters}
      aria-label={text("board.letters")}
      title={text("board.letters")}
      onClick={() => useColouring.getState().toggleLetters()}
    >
      <LettersIcon />
    </button>
  );
}

/** What is selected elsewhere (the find field, the table, the inspector) comes into sight. */
function revealSelection(board: Engine): () => void {
  const show = () => {
    const { selected } = useSelection.getState();
    if (selected === null) return;
    const hostIndex = board.scene.layout.indexOf.get(selected.hostId);
    if (hostIndex === undefined) return;
    const gpus = board.scene.host(hostIndex)?.inventory?.gpus ?? [];
    const gpu = selected.kind === "host" ? -1 : gpus.findIndex(({ uuid }) => uuid === selected.gpuUuid);
    const { focus } = useBoardView.getState();
    const place = { hostIndex, gpu: gpu < 0 ? null : gpu, slice: null };
    if (focus?.hostIndex === hostIndex && (focus.gpu === place.gpu || place.gpu === null)) return;
    useBoardView.setState({ focus: place });
    board.reveal(place, true);
  };
  return useSelection.subscribe((state, before) => {
    if (state.selected !== before.selected) show();
  });
}
