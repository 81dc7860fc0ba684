/** The main view: the board, the inspector of the selection at its right, the plan under it. */
import { Board } from "../board/Board.tsx";
import { Inspector } from "../inspector/Inspector.tsx";
import { PlanPanel } from "../partition/PlanPanel.tsx";

export function BoardView() {
  return (
    <div className="board-view">
      <div className="board-main">
        <div className="board-area">
          <Board />
        </div>
        <PlanPanel />
      </div>
      <Inspector />
    </div>
  );
}
