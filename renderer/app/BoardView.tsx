/** The main view. */
import { Board } from "../board/Board.tsx";
import { WorkView } from "./WorkView.tsx";

export function BoardView() {
  return (
    <WorkView>
      <Board />
    </WorkView>
  );
}
