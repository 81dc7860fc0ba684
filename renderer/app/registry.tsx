/** Every view, in the order of the rail. A new view is one more entry. */
import { ClustersView } from "../clusters/ClustersView.tsx";
import {
  BoardIcon,
  ClustersIcon,
  SettingsIcon,
  TableIcon,
  TenantsIcon,
  TroubleshootingIcon,
} from "../design/icons.tsx";
import { SettingsView } from "../settings/SettingsView.tsx";
import { TenantsView } from "../tenants/TenantsView.tsx";
import { HostView } from "../topology/HostView.tsx";
import { TableView } from "../topology/TableView.tsx";
import { TroubleshootingView } from "../troubleshooting/TroubleshootingView.tsx";
import { BoardView } from "./BoardView.tsx";
import type { ViewEntry } from "./views.ts";

export const views: readonly ViewEntry[] = [
  { id: "board", title: "app.board", icon: BoardIcon, component: BoardView, place: "start" },
  { id: "table", title: "app.table", icon: TableIcon, component: TableView, place: "start" },
  { id: "tenants", title: "tenants.title", icon: TenantsIcon, component: TenantsView, place: "start" },
  { id: "host", title: "app.host", icon: BoardIcon, component: HostView, place: "none", under: "board" },
  { id: "clusters", title: "app.clusters", icon: ClustersIcon, component: ClustersView, place: "start" },
  {
    id: "troubleshooting",
    title: "app.troubleshooting",
    icon: TroubleshootingIcon,
    component: TroubleshootingView,
    place: "end",
  },
  { id: "settings", title: "app.settings", icon: SettingsIcon, component: SettingsView, place: "end" },
];
