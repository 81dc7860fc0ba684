/** The frame of the main job: a view of the cluster, the inspector of the selection at its right, the plan under it. */
import type { ReactNode } from "react";
import { Inspector } from "../inspector/Inspector.tsx";
import { PlanPanel } from "../partition/PlanPanel.tsx";

export function WorkView({ children }: { readonly children: ReactNode }) {
  return (
    <div className="board-view">
      <div className="board-main">
        <div className="board-area">{children}</div>
        <PlanPanel />
      </div>
      <Inspector />
    </div>
  );
}
