/** The cluster as a table: the same rows as the board has cells, sortable, and exported as they are shown. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import { go } from "../app/views.ts";
import { WorkView } from "../app/WorkView.tsx";
import { TenantSwatch } from "../board/Swatch.tsx";
import { shortModel } from "../board/state.ts";
import { DownloadIcon } from "../design/icons.tsx";
import { type Translate, useText } from "../i18n/index.ts";
import { tenantMark } from "../stores/colouring.ts";
import { useFilter } from "../stores/filter.ts";
import { type Selection, useSelection } from "../stores/selection.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { csvOf, saveCsv } from "./csv.ts";
import { type ColumnId, columnIds, rowsOf, type Sort, sorted, type TableRow } from "./rows.ts";
import "./table.css";

const rowHeight = 24;
const numeric: ReadonlySet<ColumnId> = new Set([
  "gpu",
  "start",
  "use",
  "memoryUsed",
  "memoryTotal",
  "temperature",
  "power",
]);

function selectionOf(row: TableRow): Selection {
  if (row.gpuUuid === null) return { kind: "host", hostId: row.hostId };
  if (row.gpuInstanceId === null) return { kind: "gpu", hostId: row.hostId, gpuUuid: row.gpuUuid };
  return { kind: "instance", hostId: row.hostId, gpuUuid: row.gpuUuid, gpuInstanceId: row.gpuInstanceId };
}

function isSelected(row: TableRow, selected: Selection | null): boolean {
  if (selected === null || selected.hostId !== row.hostId) return false;
  if (selected.kind === "host") return row.gpuUuid === null;
  if (selected.gpuUuid !== row.gpuUuid) return false;
  return selected.kind === "gpu" ? row.gpuInstanceId === null : selected.gpuInstanceId === row.gpuInstanceId;
}

export function TableView() {
  return (
    <WorkView>
      <Table />
    </WorkView>
  );
}

function Table() {
  const text = useText();
  const hosts = useSnapshot((state) => state.hosts);
  const clusterName = useSnapshot((state) => state.clusterName);
  const query = useFilter((state) => state.query);
  const selected = useSelection((state) => state.selected);
  const [sort, setSort] = useState<Sort | null>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const all = useMemo(() => rowsOf(hosts.values(), query), [hosts, query]);
  const rows = useMemo(() => sorted(all, sort), [all, sort]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });

  const choose = (row: TableRow | undefined) => row !== undefined && useSelection.getState().select(selectionOf(row));
  const move = (step: number) => {
    const at = rows.findIndex((row) => isSelected(row, selected));
    const next = at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + step));
    choose(rows[next]);
    virtual.scrollToIndex(next);
  };
  const exportRows = () => {
    const header = columnIds.map((id) => text(`topology.column-${id}`));
    saveCsv(
      `${clusterName ?? "cluster"}.csv`,
      csvOf(
        header,
        rows.map((row) => columnIds.map((id) => row.values[id])),
      ),
    );
  };

  return (
    <div className="table-view">
      <div className="table-bar">
        <span className="muted">{text("topology.rows", { count: rows.length })}</span>
        <button type="button" className="button" onClick={exportRows} disabled={rows.length === 0}>
          <DownloadIcon />
          {text("topology.export")}
        </button>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: rows are virtual, which a table element cannot have */}
      <div
        className="table"
        ref={scroller}
        role="grid"
        aria-label={text("app.table")}
        aria-rowcount={rows.length + 1}
        tabIndex={0}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 }[event.key];
          if (step !== undefined) {
            event.preventDefault();
            move(step);
          } else if (event.key === "Enter" && selected !== null && event.target === event.currentTarget) {
            go("host", selected.hostId);
          }
        }}
      >
        {/* biome-ignore lint/a11y/useSemanticElements: as above */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus */}
        <div className="table-row table-head" role="row" aria-rowindex={1}>
          {columnIds.map((id) => (
            // biome-ignore lint/a11y/useSemanticElements: as above
            // biome-ignore lint/a11y/useFocusableInteractive: the button in it is
            <div
              key={id}
              role="columnheader"
              className={numeric.has(id) ? "number" : undefined}
              aria-sort={sort?.column !== id ? "none" : sort.ascending ? "ascending" : "descending"}
            >
              <button
                type="button"
                onClick={() =>
                  setSort(
                    sort?.column !== id
                      ? { column: id, ascending: true }
                      : sort.ascending
                        ? { column: id, ascending: false }
                        : null,
                  )
                }
              >
                {text(`topology.column-${id}`)}
                {sort?.column !== id ? "" : sort.ascending ? " ↑" : " ↓"}
              </button>
            </div>
          ))}
        </div>
        <div className="table-body" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              // biome-ignore lint/a11y/useSemanticElements: as above
              // biome-ignore lint/a11y/useFocusableInteractive: as above
              // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
              <div
                key={row.key}
                className="table-row"
                role="row"
                aria-rowindex={index + 2}
                aria-selected={isSelected(row, selected)}
                style={{ transform: `translateY(${start}px)` }}
                onClick={() => choose(row)}
                onDoubleClick={() => go("host", row.hostId)}
              >
                {columnIds.map((id) => (
                  <Cell key={id} id={id} row={row} />
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

const units: Partial<Record<ColumnId, string>> = {
  use: "%",
  memoryUsed: "MiB",
  memoryTotal: "MiB",
  temperature: "°C",
  power: "W",
};

/** The file keeps the codes, so that it reads the same in every language. */
function wordsOf(text: Translate, row: TableRow, id: ColumnId, value: string | number): string {
  if (id === "state") return text(`inspector.state-${row.state}`);
  if (id === "model") return shortModel(String(value));
  return units[id] === undefined ? String(value) : `${value} ${units[id]}`;
}

function Cell({ id, row }: { readonly id: ColumnId; readonly row: TableRow }) {
  const text = useText();
  const value = row.values[id];
  const known = value !== null;
  // A field that has no meaning on this row is empty; one that the driver did not give says so.
  const shown = known
    ? wordsOf(text, row, id, value)
    : row.gpuUuid !== null && units[id] !== undefined
      ? text("common.unknown")
      : "";
  return (
    // biome-ignore lint/a11y/useSemanticElements: as in the table
    // biome-ignore lint/a11y/useFocusableInteractive: as in the table
    <div
      role="gridcell"
      className={`truncate${numeric.has(id) ? " number" : ""}${known ? "" : " muted"}`}
      title={id === "model" ? String(value ?? "") : shown}
    >
      {id === "tenant" && typeof value === "string" ? <TenantSwatch mark={tenantMark(value)} /> : null}
      {shown}
    </div>
  );
}
