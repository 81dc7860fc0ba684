/** Who is how near to whom: GPUs and NICs, in the words of `nvidia-smi topo -m`. */
import type { HostInventory, TopologyLink } from "../../shared/protocol/inventory.ts";
import { useText } from "../i18n/index.ts";

const cellPx = 46;
const rowPx = 22;
const headPx = 64;

function words(link: TopologyLink): string {
  return link.kind === "NVLINK" ? `NV${link.nvlinkCount ?? "?"}` : link.kind;
}

export function LinkMatrix({ inventory }: { readonly inventory: HostInventory }) {
  const text = useText();
  if (inventory.links.length === 0) return null;
  const names = [...inventory.gpus.map(({ index }) => `GPU${index}`), ...inventory.host.nics.map(({ name }) => name)];
  const byPair = new Map(
    inventory.links.flatMap((link) => [[`${link.a} ${link.b}`, link] as const, [`${link.b} ${link.a}`, link] as const]),
  );
  const width = headPx + names.length * cellPx;
  const height = (names.length + 1) * rowPx;
  const said = inventory.links.map((link) => `${link.a} ${link.b} ${words(link)}`).join(", ");
  return (
    <section className="host-section">
      <h3>{text("topology.links")}</h3>
      <div className="link-matrix">
        <svg width={width} height={height} role="img" aria-label={`${text("topology.links")}: ${said}`}>
          {names.map((name, at) => (
            <g key={name}>
              <text x={headPx + at * cellPx + cellPx / 2} y={rowPx / 2} className="link-name" textAnchor="middle">
                {name.replace(/^GPU/, "")}
              </text>
              <text x={headPx - 8} y={(at + 1) * rowPx + rowPx / 2} className="link-name" textAnchor="end">
                {name}
              </text>
            </g>
          ))}
          {names.flatMap((row, y) =>
            names.map((column, x) => {
              const link = byPair.get(`${row} ${column}`);
              const left = headPx + x * cellPx;
              const top = (y + 1) * rowPx;
              return (
                <g key={`${row} ${column}`}>
                  <rect
                    className="link-cell"
                    data-kind={row === column ? "self" : (link?.kind ?? "none")}
                    x={left + 1}
                    y={top + 1}
                    width={cellPx - 2}
                    height={rowPx - 2}
                    rx="2"
                  >
                    <title>{link === undefined ? `${row} ${column}` : `${row} - ${column}: ${words(link)}`}</title>
                  </rect>
                  {link === undefined ? null : (
                    <text className="link-word" x={left + cellPx / 2} y={top + rowPx / 2} textAnchor="middle">
                      {words(link)}
                    </text>
                  )}
                </g>
              );
            }),
          )}
        </svg>
      </div>
    </section>
  );
}
