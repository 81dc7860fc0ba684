/** The board by keyboard: arrows walk, Enter goes in, Escape comes out, Space marks, Delete takes an instance out of the draft. */
import { registerKey } from "../app/keys.ts";
import { go } from "../app/views.ts";
import type { MessageKey } from "../i18n/index.ts";
import { useDraft } from "../partition/draft.ts";
import { useColouring } from "../stores/colouring.ts";
import { useSelection } from "../stores/selection.ts";
import { sourceAt } from "./drag.ts";
import type { Board } from "./engine.ts";
import { selectionAt } from "./select.ts";
import { useBoardView } from "./view-state.ts";
import { ascend, type Direction, descend, type Focus, walk } from "./walk.ts";

const directions: Readonly<Record<string, Direction>> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};

function focusOf(board: Board): Focus | null {
  const { focus } = useBoardView.getState();
  if (focus !== null && focus.hostIndex < board.scene.layout.hostIds.length) return focus;
  return board.scene.layout.hostIds.length === 0 ? null : { hostIndex: 0, gpu: null, slice: null };
}

export function moveFocus(board: Board, focus: Focus): void {
  useBoardView.setState({ focus });
  board.reveal(focus, focus.gpu !== null);
  const selection = useSelection.getState();
  // Marks outlive walking, so that several GPUs can be marked one after another.
  if (selection.markedGpus.size === 0) selection.select(selectionAt(board, focus));
}

/** Answers whether the key was the board's. */
export function handleBoardKey(
  board: Board,
  event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">,
): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const focus = focusOf(board);
  if (focus === null) return false;
  const { scene } = board;
  const direction = directions[event.key];
  if (direction !== undefined) {
    // The first arrow only shows where one is.
    const shown = useBoardView.getState().focus !== null;
    moveFocus(board, shown ? walk(scene.layout, scene.cells, focus, direction) : focus);
    return true;
  }
  const uuid = focus.gpu === null ? null : scene.gpuUuid(focus.hostIndex, focus.gpu);
  switch (event.key) {
    case "Enter": {
      const below = descend(scene.cells, focus);
      if (below !== null) moveFocus(board, below);
      else go("host", scene.layout.hostIds[focus.hostIndex] ?? null);
      return true;
    }
    case "o":
    case "O":
      go("host", scene.layout.hostIds[focus.hostIndex] ?? null);
      return true;
    case "Escape": {
      if (useSelection.getState().markedGpus.size > 0) {
        useSelection.getState().clearMarks();
        return true;
      }
      const above = ascend(focus);
      if (above === null) return false;
      moveFocus(board, above);
      return true;
    }
    case " ":
      if (uuid === null) return false;
      useSelection.getState().toggleMark(scene.layout.hostIds[focus.hostIndex] ?? "", uuid);
      return true;
    case "Delete":
    case "Backspace": {
      const source = sourceAt(board, focus);
      if (source?.kind !== "instance") return false;
      useDraft.getState().remove(source.gpuUuid, source.start);
      return true;
    }
    case "l":
    case "L":
      useColouring.getState().toggleLetters();
      return true;
    case "Home":
      moveFocus(board, { hostIndex: 0, gpu: null, slice: null });
      return true;
    case "End":
      moveFocus(board, { hostIndex: scene.layout.hostIds.length - 1, gpu: null, slice: null });
      return true;
    case "+":
    case "=":
      board.step(1.35);
      return true;
    case "-":
      board.step(1 / 1.35);
      return true;
    case "0":
      board.fit();
      return true;
    default:
      return false;
  }
}

/** What the board's keys are called in the help sheet. While nothing at all has the focus they are the board's too. */
const titles: readonly (readonly [key: string, registered: string, title: MessageKey])[] = [
  ["ArrowLeft", "arrowleft", "board.key-walk"],
  ["ArrowRight", "arrowright", "board.key-walk"],
  ["ArrowUp", "arrowup", "board.key-walk"],
  ["ArrowDown", "arrowdown", "board.key-walk"],
  ["Home", "home", "board.key-ends"],
  ["End", "end", "board.key-ends"],
  ["Enter", "enter", "board.key-in"],
  ["Escape", "escape", "board.key-out"],
  [" ", "space", "board.key-mark"],
  ["o", "o", "board.key-open"],
  ["+", "+", "board.key-zoom"],
  ["-", "-", "board.key-zoom"],
  ["0", "0", "board.key-fit"],
  ["l", "l", "board.key-letters"],
];

/** These say something about the whole board, whatever has the focus. */
const always = new Set(["l", "0", "+", "-"]);

/** From the inspector or the plan, where nothing is open that Escape would close first. */
function comeBack(): boolean {
  const { activeElement } = document;
  const keys = document.querySelector<HTMLElement>(".board-keys");
  if (keys === null || activeElement === null || activeElement === keys) return false;
  if (activeElement.closest("[role=dialog], [role=menu], [role=listbox]") !== null) return false;
  keys.focus();
  return true;
}

export function registerBoardKeys(board: Board): () => void {
  const stops = titles.map(([key, keys, title]) =>
    registerKey({
      keys,
      title,
      run: () => {
        if (!always.has(keys) && document.activeElement !== document.body) return keys === "escape" && comeBack();
        return handleBoardKey(board, { key, ctrlKey: false, metaKey: false, altKey: false });
      },
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
}
