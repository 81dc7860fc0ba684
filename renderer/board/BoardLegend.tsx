/** What the colours mean, at the foot of the board. */
import { useState } from "react";
import { useText } from "../i18n/index.ts";
import { colourModes, profileHue, profiles, tenantMark, tenants, useColouring } from "../stores/colouring.ts";
import { useCounts } from "../stores/counts-store.ts";
import type { Board } from "./engine.ts";
import { TenantSwatch } from "./Swatch.tsx";

const mostTenants = 8;

export function BoardLegend({ board }: { readonly board: Board }) {
  const text = useText();
  const mode = useColouring((state) => state.mode);
  // Tenants are met as hosts are told of, and profiles as the hosts are counted.
  useCounts();
  const [all, setAll] = useState(false);
  if (board.scene.layout.hostIds.length === 0 || !colourModes.includes(mode)) return null;
  return (
    <div className="board-legend">
      {mode === "tenant" ? <Tenants all={all} onAll={() => setAll(!all)} /> : null}
      {mode === "profile" ? <Profiles /> : null}
      {mode === "use" || mode === "memory" ? <Scale labels={["0 %", "20", "40", "60", "80 %"]} /> : null}
      {mode === "temperature" ? <Scale labels={["< 45 °C", "45", "55", "65", "75 °C +"]} /> : null}
      {mode === "health" ? (
        <>
          <Item className="swatch-good" label={text("board.healthy")} />
          <Item className="swatch-warning" label={text("board.needsLook")} />
        </>
      ) : null}
      <span className="legend-gap" />
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

function Tenants({ all, onAll }: { readonly all: boolean; readonly onAll: () => void }) {
  const text = useText();
  const names = Array.from({ length: tenants.size }, (_, at) => tenants.nameOf(at + 1) ?? "");
  const shown = all ? names : names.slice(0, mostTenants);
  return (
    <>
      {shown.map((name) => (
        <span className="legend-item" key={name}>
          <TenantSwatch mark={tenantMark(name)} />
          {name}
        </span>
      ))}
      {names.length > mostTenants ? (
        <button type="button" className="legend-more" onClick={onAll}>
          {all ? text("board.fewer") : text("board.more", { count: names.length - mostTenants })}
        </button>
      ) : null}
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
