/** What the colours mean, at the foot of the board. */
import { useLayoutEffect, useRef, useState } from "react";
import { useText } from "../i18n/index.ts";
import {
  colourModes,
  occupiedName,
  profileHue,
  profiles,
  tenantMark,
  tenants,
  useColouring,
} from "../stores/colouring.ts";
import { useCounts } from "../stores/counts-store.ts";
import type { Board } from "./engine.ts";
import { TenantSwatch } from "./Swatch.tsx";

const mostTenants = 8;
/** On a narrow board, so that the legend does not take a fourth row from the hosts. */
const mostTenantsNarrow = 3;
const narrowPx = 760;
/** Between the legend and the edge, and as much above it. */
const marginPx = 8;

export function BoardLegend({ board }: { readonly board: Board }) {
  const text = useText();
  const mode = useColouring((state) => state.mode);
  // Tenants are met as hosts are told of, and profiles as the hosts are counted.
  useCounts();
  const [all, setAll] = useState(false);
  const [narrow, setNarrow] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  const there = board.scene.layout.hostIds.length > 0;
  useLayoutEffect(() => {
    const legend = element.current;
    if (!there || legend === null) return;
    const measure = () => {
      setNarrow((legend.parentElement?.clientWidth ?? narrowPx) < narrowPx);
      // Where nothing is known yet there is a banner in place of the legend.
      const banner = legend.parentElement?.querySelector<HTMLElement>(".board-banner");
      board.setFoot(Math.max(legend.offsetHeight, banner?.offsetHeight ?? 0) + 2 * marginPx);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(legend);
    if (legend.parentElement !== null) observer.observe(legend.parentElement);
    measure();
    return () => observer.disconnect();
  }, [board, there]);
  if (board.scene.layout.hostIds.length === 0 || !colourModes.includes(mode)) return null;
  return (
    <div className="board-legend" ref={element}>
      {mode === "tenant" ? (
        <Tenants most={narrow ? mostTenantsNarrow : mostTenants} all={all} onAll={() => setAll(!all)} />
      ) : null}
      {mode === "profile" ? <Profiles /> : null}
      {mode === "use" || mode === "memory" ? <Scale labels={["0 %", "20", "40", "60", "80 %"]} /> : null}
      {mode === "temperature" ? <Scale labels={["< 45 °C", "45", "55", "65", "75 °C +"]} /> : null}
      {mode === "health" ? (
        <>
          <Item className="swatch-good" label={text("board.healthy")} />
          <Item className="swatch-warning" label={text("board.needsLook")} />
        </>
      ) : null}
      {narrow ? null : <span className="legend-gap" />}
      <Item className="swatch-unheld" label={text("board.nobodyHolds")} />
      <Item className="swatch-free" label={text("board.free")} />
      <Item className="swatch-broken" label={text("board.broken")} />
    </div>
  );
}

function Item({ className, label }: { readonly className: string; readonly label: string }) {
  return (
    <span className="legend-item">
      <i className={`swatch ${className}`} />
      {label}
    </span>
  );
}

function Tenants({ most, all, onAll }: { readonly most: number; readonly all: boolean; readonly onAll: () => void }) {
  const text = useText();
  useColouring((state) => state.order);
  const met = Array.from({ length: tenants.size }, (_, at) => tenants.nameOf(at + 1) ?? "");
  const names = met.filter((name) => name !== occupiedName);
  const shown = all ? names : names.slice(0, most);
  return (
    <>
      {shown.map((name) => (
        <span className="legend-item" key={name}>
          <TenantSwatch mark={tenantMark(name)} />
          {name}
        </span>
      ))}
      {names.length > most ? (
        <button type="button" className="legend-more" onClick={onAll}>
          {all ? text("board.fewer") : text("board.more", { count: names.length - most })}
        </button>
      ) : null}
      {met.length > names.length ? <Item className="swatch-tenant-0" label={text("board.occupied")} /> : null}
    </>
  );
}

function Profiles() {
  const hues = new Map<number, string>();
  for (let at = 1; at <= profiles.size; at++) {
    const name = profiles.nameOf(at) ?? "";
    const hue = profileHue(name);
    const size = /^\d+g/.exec(name)?.[0] ?? name;
    if (!hues.has(hue)) hues.set(hue, size);
  }
  return [...hues]
    .sort((a, b) => Number.parseInt(a[1], 10) - Number.parseInt(b[1], 10))
    .map(([hue, size]) => <Item key={hue} className={`swatch-tenant-${hue}`} label={size} />);
}

function Scale({ labels }: { readonly labels: readonly string[] }) {
  return (
    <span className="legend-scale">
      {labels.map((label, at) => (
        <span key={label}>
          <i className={`swatch swatch-heat-${at}`} />
          {label}
        </span>
      ))}
    </span>
  );
}
