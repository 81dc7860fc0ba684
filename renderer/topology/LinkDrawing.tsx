/**
 * The links of one host drawn: GPUs by NUMA node, NVLink between them, NICs beside the GPUs that they share a PCIe
 * switch with. Where every GPU is linked alike to every other (NVSwitch), one bus says it better than all the pairs.
 */
import type { HostInventory, TopologyLink } from "../../shared/protocol/inventory.ts";
import { useText } from "../i18n/index.ts";
import { useSelection } from "../stores/selection.ts";

const boxWidth = 74;
const boxHeight = 26;
const pitchX = 96;
const nodeGap = 28;
const headHeight = 22;
const nicY = headHeight + 8;
const gpuY = nicY + boxHeight + 34;
const arcRoom = 96;

interface Node {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

interface Group {
  readonly numa: number | null;
  readonly left: number;
  readonly width: number;
  readonly gpus: readonly Node[];
  readonly nics: readonly Node[];
}

function groupsOf(inventory: HostInventory): readonly Group[] {
  const ids = new Set<number | null>([
    ...inventory.gpus.map(({ numaNode }) => numaNode),
    ...inventory.host.nics.map(({ numaNode }) => numaNode),
  ]);
  let left = 1;
  return [...ids]
    .sort((a, b) => (a ?? Number.MAX_SAFE_INTEGER) - (b ?? Number.MAX_SAFE_INTEGER))
    .map((numa) => {
      const gpus = inventory.gpus.filter((gpu) => gpu.numaNode === numa).map(({ index }) => `GPU${index}`);
      const nics = inventory.host.nics.filter((nic) => nic.numaNode === numa).map(({ name }) => name);
      const columns = Math.max(1, gpus.length, nics.length);
      const width = columns * pitchX;
      const row = (names: readonly string[], y: number) =>
        names.map((name, at) => ({ name, x: from + ((at + 0.5) * width) / names.length, y }));
      const from = left;
      left += width + nodeGap;
      return { numa, left: from, width, gpus: row(gpus, gpuY), nics: row(nics, nicY) };
    });
}

/** The number of NVLinks of each pair where all pairs have the same; null otherwise. */
export function allToAll(inventory: HostInventory): number | null {
  const count = inventory.gpus.length;
  const pairs = inventory.links.filter(isNvlink);
  const each = pairs[0]?.nvlinkCount ?? null;
  if (count < 3 || each === null || pairs.length !== (count * (count - 1)) / 2) return null;
  return pairs.every(({ nvlinkCount }) => nvlinkCount === each) ? each : null;
}

function isNvlink({ kind }: TopologyLink): boolean {
  return kind === "NVLINK";
}

export function LinkDrawing({ inventory }: { readonly inventory: HostInventory }) {
  const text = useText();
  const selected = useSelection((state) => state.selected);
  if (inventory.links.length === 0) return null;
  const groups = groupsOf(inventory);
  const nodes = new Map(groups.flatMap(({ gpus, nics }) => [...gpus, ...nics]).map((node) => [node.name, node]));
  const chosen =
    selected === null || selected.kind === "host"
      ? undefined
      : inventory.gpus.find(({ uuid }) => uuid === selected.gpuUuid);
  const chosenName = chosen === undefined ? null : `GPU${chosen.index}`;
  const lit = (...names: readonly string[]) => (chosenName === null ? undefined : names.includes(chosenName));
  const each = allToAll(inventory);
  const last = groups.at(-1);
  const width = last === undefined ? 0 : last.left + last.width + 1;
  const busY = gpuY + boxHeight + 40;
  const near = inventory.links.filter(
    ({ a, b, kind }) => kind === "PIX" && a.startsWith("GPU") && !b.startsWith("GPU"),
  );
  const pairs = each === null ? inventory.links.filter(isNvlink) : [];
  const gpus = groups.flatMap((group) => group.gpus);
  const [first] = gpus;
  const final = gpus.at(-1);
  const height = (each === null ? gpuY + boxHeight + (pairs.length > 0 ? arcRoom : 8) : busY + 30) + 8;
  return (
    <section className="host-section">
      <h3>{text("topology.linkDrawing")}</h3>
      <div className="link-matrix">
        <svg width={width} height={height} role="img" aria-label={text("topology.linkDrawing")}>
          {groups.map(({ numa, left, width: groupWidth }) => (
            <g key={numa ?? "unknown"}>
              <rect className="link-node" x={left} y={0.5} width={groupWidth} height={gpuY + boxHeight + 10} rx="6" />
              <text className="link-name" x={left + 10} y={13}>
                {numa === null ? text("topology.numaUnknown") : text("topology.numa", { id: numa })}
              </text>
            </g>
          ))}
          {near.map((link) => {
            const a = nodes.get(link.a);
            const b = nodes.get(link.b);
            if (a === undefined || b === undefined) return null;
            return (
              <path
                key={`${link.a} ${link.b}`}
                className="link-line"
                data-kind="PIX"
                data-lit={lit(link.a, link.b)}
                d={`M${a.x} ${a.y}C${a.x} ${a.y - 20} ${b.x} ${b.y + boxHeight + 20} ${b.x} ${b.y + boxHeight}`}
              >
                <title>
                  {text("topology.linkPair", { a: link.a, b: link.b, words: `PIX, ${text("topology.nearest")}` })}
                </title>
              </path>
            );
          })}
          {each === null || first === undefined || final === undefined ? null : (
            <>
              {gpus.map(({ name, x, y }) => (
                <path
                  key={name}
                  className="link-line"
                  data-kind="NVLINK"
                  data-lit={lit(name)}
                  d={`M${x} ${y + boxHeight}V${busY}`}
                />
              ))}
              <path className="link-line link-bus" data-kind="NVLINK" d={`M${first.x} ${busY}H${final.x}`} />
              <text className="link-name" x={(first.x + final.x) / 2} y={busY + 16} textAnchor="middle">
                {`NVLink: ${text("topology.linksEach", { count: each })}`}
              </text>
            </>
          )}
          {pairs.map((link) => {
            const a = nodes.get(link.a);
            const b = nodes.get(link.b);
            if (a === undefined || b === undefined) return null;
            const from = a.y + boxHeight;
            const depth = Math.min(arcRoom * 1.25, 18 + Math.abs(a.x - b.x) * 0.2);
            return (
              <path
                key={`${link.a} ${link.b}`}
                className="link-line"
                data-kind="NVLINK"
                data-lit={lit(link.a, link.b)}
                strokeWidth={Math.max(1, Math.min(4, (link.nvlinkCount ?? 1) / 3))}
                d={`M${a.x} ${from}C${a.x} ${from + depth} ${b.x} ${from + depth} ${b.x} ${from}`}
              >
                <title>
                  {text("topology.linkPair", { a: link.a, b: link.b, words: `NV${link.nvlinkCount ?? "?"}` })}
                </title>
              </path>
            );
          })}
          {[...nodes.values()].map(({ name, x, y }) => (
            <g key={name}>
              <rect
                className="link-box"
                data-kind={name.startsWith("GPU") ? "gpu" : "nic"}
                data-lit={lit(name)}
                x={x - boxWidth / 2}
                y={y}
                width={boxWidth}
                height={boxHeight}
                rx="4"
              >
                <title>{name}</title>
              </rect>
              <text className="link-box-name" x={x} y={y + boxHeight / 2} textAnchor="middle">
                {name.length > 11 ? `${name.slice(0, 10)}…` : name.replace(/^GPU/, "GPU ")}
              </text>
            </g>
          ))}
        </svg>
      </div>
    </section>
  );
}
