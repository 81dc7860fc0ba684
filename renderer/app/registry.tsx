/** Every view, in the order of the rail. A new view is one more entry. */
import { AuditView } from "../audit/AuditView.tsx";
import { ClustersView } from "../clusters/ClustersView.tsx";
import {
  AuditIcon,
  BoardIcon,
  ClustersIcon,
  QuotaIcon,
  RequestsIcon,
  SettingsIcon,
  TableIcon,
  TenantsIcon,
  TroubleshootingIcon,
} from "../design/icons.tsx";
import { QuotaView } from "../quota/QuotaView.tsx";
import { useOpenForMe } from "../requests/live.ts";
import { RequestsView } from "../requests/RequestsView.tsx";
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
  { id: "quotas", title: "quota.title", icon: QuotaIcon, component: QuotaView, place: "start" },
  {
    id: "requests",
    title: "app.requests",
    icon: RequestsIcon,
    component: RequestsView,
    place: "start",
    badge: { useCount: useOpenForMe, title: "requests.toDecide" },
  },
  { id: "host", title: "app.host", icon: BoardIcon, component: HostView, place: "none", under: "board" },
  { id: "clusters", title: "app.clusters", icon: ClustersIcon, component: ClustersView, place: "start" },
  { id: "audit", title: "audit.title", icon: AuditIcon, component: AuditView, place: "end" },
  {
    id: "troubleshooting",
    title: "app.troubleshooting",
    icon: TroubleshootingIcon,
    component: TroubleshootingView,
    place: "end",
  },
  { id: "settings", title: "app.settings", icon: SettingsIcon, component: SettingsView, place: "end" },
];
