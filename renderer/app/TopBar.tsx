/** Which cluster, how fresh, how much of it is free and used; the colours of the board; find. */
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Segments } from "../design/controls.tsx";
import { ChevronIcon } from "../design/icons.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { useNow } from "../inspector/now.ts";
import { type ColourMode, colourModes, useColouring } from "../stores/colouring.ts";
import type { Counts } from "../stores/counts.ts";
import { useCounts } from "../stores/counts-store.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { Find } from "../topology/Find.tsx";
import { openCluster } from "./session.ts";
import { useRoute } from "./views.ts";

export function TopBar() {
  const counts = useCounts();
  const view = useRoute((route) => route.view);
  const onBoard = view === "board" || view === "table" || view === "host";
  return (
    <header className="top-bar">
      <ClusterName />
      {counts.hosts === 0 ? null : <LiveState counts={counts} />}
      {counts.hosts === 0 ? null : <Numbers counts={counts} />}
      <div className="top-bar-end">
        {view === "board" ? <ColourSwitch /> : null}
        {onBoard ? <Find /> : null}
      </div>
    </header>
  );
}

function ClusterName() {
  const text = useText();
  const name = useSnapshot((state) => state.clusterName);
  const clusters = useSnapshot((state) => state.clusters);
  const activeId = useSnapshot((state) => state.activeClusterId);
  const shown = name ?? clusters?.find(({ id }) => id === activeId)?.name ?? text("app.title");
  if (clusters === null || clusters.length < 2) {
    return (
      <h1 className="truncate" title={shown}>
        {shown}
      </h1>
    );
  }
  return (
    <MenuTrigger>
      <Button className="cluster-button" aria-label={text("app.chooseCluster", { name: shown })}>
        <h1 className="truncate">{shown}</h1>
        <ChevronIcon />
      </Button>
      <Popover className="popover">
        <Menu
          className="menu"
          aria-label={text("app.clusters")}
          selectionMode="single"
          selectedKeys={activeId === null ? [] : [activeId]}
          onAction={(key) => openCluster(String(key))}
        >
          {clusters.map((cluster) => (
            <MenuItem key={cluster.id} id={cluster.id} className="menu-item" textValue={cluster.name}>
              <span>{cluster.name}</span>
              <span className="muted">{text("common.hosts", { count: cluster.hostCount })}</span>
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

function LiveState({ counts }: { readonly counts: Counts }) {
  const text = useText();
  const format = useFormat();
  const now = useNow();
  const link = useSnapshot((state) => state.link);
  const age = format.since(counts.asOf, now) ?? "";
  const exact = counts.asOf === null ? undefined : format.exact(counts.asOf);
  const [tone, words] = ((): [string, string] => {
    if (link === "refused") return ["bad", text("app.servicesRefused")];
    if (link === "lost") return ["bad", text("app.servicesLost")];
    if (counts.liveHosts === counts.hosts) return ["good", text("app.live", { age })];
    if (counts.connectingHosts > 0) {
      return ["calm", text("app.connecting", { done: counts.liveHosts, count: counts.hosts })];
    }
    if (counts.liveHosts === 0 && counts.troubledHosts === 0) return ["calm", text("app.notConnected")];
    return ["warning", text("app.liveOf", { live: counts.liveHosts, count: counts.hosts, age })];
  })();
  return (
    <span className="live-state" data-tone={tone} title={exact} role="status" aria-live="off">
      <i aria-hidden="true" />
      {words}
    </span>
  );
}

function Numbers({ counts }: { readonly counts: Counts }) {
  const text = useText();
  const format = useFormat();
  const percent = (share: number) => format.percent(Math.round(share * 100));
  return (
    <ul className="numbers" aria-label={text("app.numbers")}>
      <li>
        <b>{format.number(counts.hosts)}</b> {text("app.hosts", { count: counts.hosts })}
      </li>
      {/* Before the first host has said what it has, their number is not zero but unknown. */}
      {counts.gpus === 0 ? null : (
        <>
          <li>
            <b>{format.number(counts.gpus)}</b> {text("app.gpus", { count: counts.gpus })}
          </li>
          <li title={text("app.wholeFreeTitle")}>
            <b>{format.number(counts.wholeFree)}</b> {text("app.wholeFree")}
          </li>
        </>
      )}
      {counts.broken === 0 ? null : (
        <li className="bad">
          <b>{format.number(counts.broken)}</b> {text("app.broken")}
        </li>
      )}
      {counts.held === null ? null : (
        <li title={text("app.usedTitle", { known: percent(counts.known) })}>
          {counts.used === null ? (
            <>
              <b>{percent(counts.held)}</b> {text("app.held")}
            </>
          ) : (
            <>
              <b>{percent(counts.used)}</b> {text("app.usedOf")} <b>{percent(counts.held)}</b> {text("app.held")}
            </>
          )}
        </li>
      )}
    </ul>
  );
}

function ColourSwitch() {
  const text = useText();
  const mode = useColouring((state) => state.mode);
  const setMode = useColouring((state) => state.setMode);
  const segments = colourModes.map((value) => ({ value, label: text(`app.by-${value}`) }));
  return (
    <>
      <div className="wide-only">
        <Segments<ColourMode> label={text("app.colourBy")} value={mode} onChange={setMode} segments={segments} />
      </div>
      <label className="narrow-only colour-select">
        <span className="muted">{text("app.colourBy")}</span>
        <select
          className="field"
          value={mode}
          onChange={(event) => {
            const chosen = colourModes.find((value) => value === event.currentTarget.value);
            if (chosen !== undefined) setMode(chosen);
          }}
        >
          {segments.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}
