/** One host in the DOM: its GPUs under their NUMA nodes with the NICs beside them, the links between all, its processes. */

import { useEffect, useRef } from "react";
import type { HostView as Host } from "../../shared/api/snapshot.ts";
import type { Layout } from "../../shared/mig/types.ts";
import type { Gpu, HostInventory } from "../../shared/protocol/inventory.ts";
import { registerKey } from "../app/keys.ts";
import { go, useRoute } from "../app/views.ts";
import { WorkView } from "../app/WorkView.tsx";
import { holderLine } from "../board/describe.ts";
import { lookOf, modelLine, troubleOf } from "../board/state.ts";
import { IconButton, Notice } from "../design/controls.tsx";
import { BackIcon } from "../design/icons.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { useNow } from "../inspector/now.ts";
import { Strip } from "../inspector/Strip.tsx";
import { cellsDrafted, cellsNow, type StripCell } from "../inspector/strip-model.ts";
import { useDraft } from "../partition/draft.ts";
import { factsOf, type GpuFacts } from "../partition/facts.ts";
import { useSelection } from "../stores/selection.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { LinkDrawing } from "./LinkDrawing.tsx";
import { LinkMatrix } from "./LinkMatrix.tsx";
import "./host.css";

/** A few steps of a pinch, or one of a wheel. */
const outPx = 60;

/** The draft, and under it what it takes away. */
function withLeaving(facts: GpuFacts, wanted: Layout): readonly StripCell[] {
  const drafted = cellsDrafted(facts, wanted);
  const covered = (cell: StripCell) =>
    drafted.some((other) => other.start < cell.start + cell.size && cell.start < other.start + other.size);
  return [...cellsNow(facts, wanted).filter((cell) => !covered(cell)), ...drafted];
}

export function HostView() {
  const text = useText();
  const hostId = useRoute((route) => route.argument);
  const host = useSnapshot((state) => (hostId === null ? undefined : state.hosts.get(hostId)));
  const view = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      registerKey({
        keys: "escape",
        title: "topology.back",
        run: () => {
          go("board");
          return true;
        },
      }),
    [],
  );
  // Nearer than the board goes is this view; zooming out of it leads back.
  useEffect(() => {
    const element = view.current;
    if (element === null) return;
    let pushed = 0;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      pushed = event.deltaY > 0 ? pushed + event.deltaY : 0;
      if (pushed >= outPx) go("board");
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);
  return (
    <WorkView>
      <div className="host-view" ref={view}>
        {host === undefined ? (
          <Notice
            title={text("topology.noHost")}
            action={
              <button type="button" className="button" onClick={() => go("board")}>
                {text("topology.back")}
              </button>
            }
          />
        ) : (
          <HostPage host={host} />
        )}
      </div>
    </WorkView>
  );
}

function HostPage({ host }: { readonly host: Host }) {
  const text = useText();
  const format = useFormat();
  const now = useNow();
  const look = lookOf(host, now);
  const trouble = troubleOf(host);
  const { inventory } = host;
  const facts = [
    host.rack,
    inventory?.driver.version == null ? null : text("topology.driver", { version: inventory.driver.version }),
    inventory?.host.kernel ?? null,
    inventory?.host.cpuCount == null ? null : text("topology.cpus", { count: inventory.host.cpuCount }),
    inventory?.host.memoryMiB == null ? null : format.memory(inventory.host.memoryMiB),
  ];
  return (
    <>
      <header className="host-head">
        <IconButton label={text("topology.back")} onPress={() => go("board")}>
          <BackIcon />
        </IconButton>
        <h2>{host.name}</h2>
        <span>{modelLine(host)}</span>
        <span className="muted">{facts.filter((fact) => fact !== null && fact !== "").join(", ")}</span>
        {look.label === null ? null : (
          <span className={`tag ${look.tone}`} title={host.asOf === null ? undefined : format.exact(host.asOf)}>
            {look.label}
          </span>
        )}
        {trouble === null ? null : <span className={`tag ${trouble.tone}`}>{trouble.label}</span>}
      </header>
      {"error" in host.state && host.state.error !== null ? (
        <p className="host-error">
          {host.state.error.message} {host.state.error.remedy}
        </p>
      ) : null}
      {inventory === null ? (
        <Notice title={look.label ?? text("board.loading")} />
      ) : (
        <div className="host-body" data-faded={look.faded}>
          <Nodes host={host} inventory={inventory} />
          <LinkDrawing inventory={inventory} />
          <LinkMatrix inventory={inventory} />
          <Processes inventory={inventory} />
        </div>
      )}
    </>
  );
}

function Nodes({ host, inventory }: { readonly host: Host; readonly inventory: HostInventory }) {
  const text = useText();
  const format = useFormat();
  const ids = [
    ...new Set<number | null>([
      ...inventory.host.numaNodes.map(({ id }) => id),
      ...inventory.gpus.map(({ numaNode }) => numaNode),
    ]),
  ];
  return (
    <div className="numa-nodes">
      {ids.map((id) => {
        const node = inventory.host.numaNodes.find((candidate) => candidate.id === id);
        const nics = inventory.host.nics.filter(({ numaNode }) => numaNode === id);
        const gpus = inventory.gpus.filter(({ numaNode }) => numaNode === id);
        return (
          <section key={id ?? "unknown"} className="numa-node" aria-label={text("topology.numa", { id: id ?? "?" })}>
            <header>
              <h3>{text("topology.numa", { id: id ?? "?" })}</h3>
              <span className="muted">
                {[
                  node === undefined ? null : `CPU ${node.cpus}`,
                  node?.memoryMiB == null ? null : format.memory(node.memoryMiB),
                ]
                  .filter((part) => part !== null)
                  .join(", ")}
              </span>
              <span className="nics">
                {nics.map(({ name }) => (
                  <span key={name} className="tag">
                    {name}
                  </span>
                ))}
              </span>
            </header>
            {gpus.map((gpu) => (
              <GpuRow key={gpu.uuid} host={host} gpu={gpu} inventory={inventory} />
            ))}
          </section>
        );
      })}
    </div>
  );
}

function GpuRow({
  host,
  gpu,
  inventory,
}: {
  readonly host: Host;
  readonly gpu: Gpu;
  readonly inventory: HostInventory;
}) {
  const text = useText();
  const format = useFormat();
  const select = useSelection((state) => state.select);
  const selected = useSelection((state) => state.selected);
  const wanted = useDraft((state) => state.wantedByGpu.get(gpu.uuid) ?? null);
  const facts = factsOf(host, gpu);
  const current = selected !== null && selected.kind !== "host" && selected.gpuUuid === gpu.uuid;
  const selectedInstance =
    current && selected.kind === "instance" ? gpu.instances.find(({ id }) => id === selected.gpuInstanceId) : undefined;
  const near = inventory.links.find(
    ({ a, b, kind }) => kind === "PIX" && a === `GPU${gpu.index}` && !b.startsWith("GPU"),
  );
  return (
    <div className="gpu-row" data-selected={current}>
      <button
        type="button"
        className="gpu-name"
        aria-pressed={current}
        onClick={() => select({ kind: "gpu", hostId: host.id, gpuUuid: gpu.uuid })}
      >
        GPU {gpu.index}
      </button>
      <div className="gpu-strip">
        {gpu.state.kind === "failed" ? (
          <div className="gpu-broken">{gpu.state.words}</div>
        ) : facts === null ? (
          <div className="gpu-whole">{gpu.holder === null ? text("board.undividable") : holderLine(gpu.holder)}</div>
        ) : (
          <Strip
            label={`GPU ${gpu.index}`}
            gpuUuid={gpu.uuid}
            slices={facts.geometry.memorySlices}
            cells={wanted === null ? cellsNow(facts, null) : withLeaving(facts, wanted)}
            undivided={
              gpu.instances.length > 0 ? null : gpu.holder === null ? text("board.free") : holderLine(gpu.holder)
            }
            selectedStart={selectedInstance?.placement.start ?? null}
            onCell={(cell) =>
              select(
                cell.gpuInstanceId === null
                  ? { kind: "gpu", hostId: host.id, gpuUuid: gpu.uuid }
                  : { kind: "instance", hostId: host.id, gpuUuid: gpu.uuid, gpuInstanceId: cell.gpuInstanceId },
              )
            }
          />
        )}
      </div>
      <span className="gpu-facts">
        {format.watts(gpu.power.drawWatts)}, {format.celsius(gpu.temperatureCelsius)}
        {near === undefined ? null : <span className="muted"> {near.b}</span>}
      </span>
    </div>
  );
}

function Processes({ inventory }: { readonly inventory: HostInventory }) {
  const text = useText();
  const format = useFormat();
  const now = useNow();
  const rows = inventory.gpus.flatMap((gpu) => gpu.processes.map((process) => ({ gpu, process })));
  return (
    <section className="host-section">
      <h3>{text("topology.processes", { count: rows.length })}</h3>
      {rows.length === 0 ? null : (
        <table className="plain-table">
          <thead>
            <tr>
              {(["pid", "name", "user", "gpu", "instance", "memory", "since"] as const).map((id) => (
                <th key={id} scope="col">
                  {text(`topology.process-${id}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ gpu, process }) => (
              <tr key={`${gpu.uuid} ${process.pid} ${process.gpuInstanceId}`}>
                <td>{process.pid}</td>
                <td className="mono">{process.name}</td>
                <td>{process.user ?? text("common.unknown")}</td>
                <td>{gpu.index}</td>
                <td>{gpu.instances.find(({ id }) => id === process.gpuInstanceId)?.profile ?? ""}</td>
                <td>{format.memory(process.usedMemoryMiB)}</td>
                <td title={process.startedAt === null ? undefined : format.exact(process.startedAt)}>
                  {format.since(process.startedAt, now) ?? text("common.unknown")}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
