/**
 * Where everything lies on the board, in world units (one CSS pixel at zoom 1). The arrangement follows the
 * shape of the window once and does not change with the zoom, so that a host stays where it was seen last.
 */
export const metrics = {
  margin: 16,
  rackGap: 16,
  hostGap: 8,
  cardPadding: 10,
  cardHeader: 22,
  cardFoot: 8,
  /** Of a strip, at least; where a cluster leaves room under it, strips grow up to the most. */
  stripHeight: 16,
  maxStripHeight: 22,
  stripRowGap: 4,
  stripColumnGap: 6,
  /** GPUs in a row of a card. */
  gpuColumns: 4,
  minCardWidth: 264,
  idealCardWidth: 328,
  maxCardWidth: 420,
  /** As high as a line of text is at the zoom that shows thousands of hosts. */
  maxRackHeader: 320,
  /** Beyond this a cluster that fits is not blown up further. */
  maxFitZoom: 1.2,
} as const;

export interface LayoutHost {
  readonly id: string;
  readonly rack: string;
  readonly gpuCount: number;
}

export interface RackBox {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Its hosts are `hosts[from]` to `hosts[to - 1]`. */
  readonly from: number;
  readonly to: number;
}

export interface BoardLayout {
  /** Sorted by rack, in the operator's order otherwise. */
  readonly hostIds: readonly string[];
  readonly indexOf: ReadonlyMap<string, number>;
  readonly hostX: Float32Array;
  readonly hostY: Float32Array;
  readonly hostHeight: Float32Array;
  /** Position of the host in the columns and rows of its rack, for walking with the arrows. */
  readonly hostRack: Uint16Array;
  readonly racks: readonly RackBox[];
  readonly cardWidth: number;
  readonly stripHeight: number;
  readonly rackHeader: number;
  readonly width: number;
  readonly height: number;
}

/** What all cards of a board have alike. */
export type CardShape = Pick<BoardLayout, "cardWidth" | "stripHeight">;

export function cardHeight(gpuCount: number, stripHeight: number = metrics.stripHeight): number {
  const rows = Math.max(1, Math.ceil(gpuCount / metrics.gpuColumns));
  return metrics.cardHeader + rows * stripHeight + (rows - 1) * metrics.stripRowGap + metrics.cardFoot;
}

export function stripWidth(cardWidth: number): number {
  return (cardWidth - 2 * metrics.cardPadding - (metrics.gpuColumns - 1) * metrics.stripColumnGap) / metrics.gpuColumns;
}

/**
 * Below this zoom names are no longer legible, and the strips take the room of the card's head: the rack becomes
 * a heat map of the same hosts in the same places.
 */
export const compactZoom = 0.62;

/** Where strips lie inside a card, relative to its corner. Compact cards have no head. */
export interface StripRows {
  readonly top: number;
  readonly height: number;
  readonly gap: number;
}

export function stripRows(gpuCount: number, compact: boolean, stripHeight: number): StripRows {
  if (!compact) return { top: metrics.cardHeader, height: stripHeight, gap: metrics.stripRowGap };
  const rows = Math.max(1, Math.ceil(gpuCount / metrics.gpuColumns));
  const gap = 5;
  return { top: 5, height: (cardHeight(gpuCount, stripHeight) - 10 - (rows - 1) * gap) / rows, gap };
}

export interface StripBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The strip of one GPU inside its card, relative to the card's corner. */
export function stripBox(gpu: number, gpuCount: number, shape: CardShape, compact: boolean): StripBox {
  const width = stripWidth(shape.cardWidth);
  const rows = stripRows(gpuCount, compact, shape.stripHeight);
  return {
    x: metrics.cardPadding + (gpu % metrics.gpuColumns) * (width + metrics.stripColumnGap),
    y: rows.top + Math.floor(gpu / metrics.gpuColumns) * (rows.height + rows.gap),
    width,
    height: rows.height,
  };
}

interface Rack {
  readonly name: string;
  readonly hosts: readonly LayoutHost[];
  readonly tallestCard: number;
}

function racksOf(hosts: readonly LayoutHost[]): Rack[] {
  const racks = new Map<string, LayoutHost[]>();
  for (const host of hosts) {
    const rack = racks.get(host.rack);
    if (rack === undefined) racks.set(host.rack, [host]);
    else rack.push(host);
  }
  const natural = new Intl.Collator("en", { numeric: true });
  return [...racks]
    .map(([name, members]) => ({
      name,
      hosts: members,
      tallestCard: members.reduce((most, host) => Math.max(most, cardHeight(host.gpuCount)), 0),
    }))
    .sort((a, b) => natural.compare(a.name, b.name));
}

interface Arrangement {
  readonly columns: number;
  readonly rows: number;
  readonly cardWidth: number;
  readonly rackHeader: number;
  readonly stripHeight: number;
}

/** Lays the racks out in shelves from left to right, each rack in columns of at most `rows` hosts. */
function place(racks: readonly Rack[], arrangement: Arrangement): BoardLayout {
  const { columns, rows, cardWidth, rackHeader, stripHeight } = arrangement;
  const count = racks.reduce((sum, rack) => sum + rack.hosts.length, 0);
  const hostIds: string[] = [];
  const hostX = new Float32Array(count);
  const hostY = new Float32Array(count);
  const hostHeight = new Float32Array(count);
  const hostRack = new Uint16Array(count);
  const boxes: RackBox[] = [];
  const pitch = cardWidth + metrics.rackGap;
  let column = 0;
  let y = metrics.margin / 2;
  let shelfHeight = 0;
  let width = 0;
  for (const rack of racks) {
    const perColumn = Math.max(rows, Math.ceil(rack.hosts.length / columns));
    const rackColumns = Math.ceil(rack.hosts.length / perColumn);
    if (column > 0 && column + rackColumns > columns) {
      y += shelfHeight + metrics.rackGap;
      column = 0;
      shelfHeight = 0;
    }
    const x = metrics.margin + column * pitch;
    const from = hostIds.length;
    let tallest = 0;
    let top = y + rackHeader;
    for (const [at, host] of rack.hosts.entries()) {
      if (at % perColumn === 0) top = y + rackHeader;
      const index = hostIds.length;
      hostIds.push(host.id);
      hostX[index] = x + Math.floor(at / perColumn) * pitch;
      hostY[index] = top;
      hostHeight[index] = cardHeight(host.gpuCount, stripHeight);
      hostRack[index] = boxes.length;
      top += cardHeight(host.gpuCount, stripHeight) + metrics.hostGap;
      tallest = Math.max(tallest, top - metrics.hostGap - y);
    }
    const boxWidth = rackColumns * pitch - metrics.rackGap;
    boxes.push({
      name: rack.name,
      x,
      y,
      width: boxWidth,
      height: tallest,
      from,
      to: hostIds.length,
    });
    shelfHeight = Math.max(shelfHeight, tallest);
    width = Math.max(width, x + boxWidth + metrics.margin);
    column += rackColumns;
  }
  return {
    hostIds,
    indexOf: new Map(hostIds.map((id, index) => [id, index])),
    hostX,
    hostY,
    hostHeight,
    hostRack,
    racks: boxes,
    cardWidth,
    stripHeight,
    rackHeader,
    width,
    height: y + shelfHeight + metrics.margin,
  };
}

/** The height that `place` would need at most, without placing: asked for some thousand arrangements. */
function heightOf(racks: readonly Rack[], columns: number, rows: number, header: number): number {
  let column = 0;
  let y = metrics.margin / 2;
  let shelf = 0;
  for (const rack of racks) {
    const perColumn = Math.max(rows, Math.ceil(rack.hosts.length / columns));
    const rackColumns = Math.ceil(rack.hosts.length / perColumn);
    if (column > 0 && column + rackColumns > columns) {
      y += shelf + metrics.rackGap;
      column = 0;
      shelf = 0;
    }
    const tallest =
      header - metrics.hostGap + Math.min(perColumn, rack.hosts.length) * (rack.tallestCard + metrics.hostGap);
    shelf = Math.max(shelf, tallest);
    column += rackColumns;
  }
  return y + shelf + metrics.margin;
}

/**
 * The arrangement that shows the whole cluster largest in a window of this size. Cards stretch a little to fill
 * its width; the names of racks get more room where everything only fits at a small scale, so that they stay legible there.
 */
export function layoutBoard(hosts: readonly LayoutHost[], viewWidth: number, viewHeight: number): BoardLayout {
  const racks = racksOf(hosts);
  const largest = racks.reduce((most, rack) => Math.max(most, rack.hosts.length), 1);
  const rowChoices = [...new Set([2, 4, 6, 8, 10, 12, 16, 24, 32, 48].filter((rows) => rows < largest)), largest];
  // As many columns as give the cluster the shape of the window, and what lies around that.
  const ideal = Math.sqrt(
    (hosts.length * (viewWidth / Math.max(1, viewHeight)) * (cardHeight(8) + metrics.hostGap)) /
      (metrics.idealCardWidth + metrics.rackGap),
  );
  const minColumns = Math.max(1, Math.floor(ideal * 0.5));
  const maxColumns = Math.max(minColumns, Math.min(hosts.length, Math.ceil(ideal * 1.8) + 2));
  let best: { score: number; zoom: number; arrangement: Arrangement } | null = null;
  for (const rows of rowChoices) {
    for (let columns = minColumns; columns <= maxColumns; columns++) {
      let header = 24;
      let zoom = 0;
      let cardWidth: number = metrics.idealCardWidth;
      // Two rounds: the header's room depends on the zoom, and the zoom on the header's room.
      for (let round = 0; round < 2; round++) {
        const heightZoom = Math.min(metrics.maxFitZoom, viewHeight / heightOf(racks, columns, rows, header));
        const fill = (viewWidth / heightZoom - 2 * metrics.margin + metrics.rackGap) / columns - metrics.rackGap;
        cardWidth = Math.max(metrics.minCardWidth, Math.min(metrics.maxCardWidth, fill));
        const width = 2 * metrics.margin + columns * (cardWidth + metrics.rackGap) - metrics.rackGap;
        zoom = Math.min(heightZoom, viewWidth / width);
        header = Math.max(24, Math.min(metrics.maxRackHeader, 13 / zoom));
      }
      // A rack stays in one column unless splitting it gains a good deal.
      const score = zoom * (rows === largest ? 1 : 0.85) * (0.9 + (0.1 * Math.min(cardWidth, 328)) / 328);
      if (best === null || score > best.score) {
        best = {
          score,
          zoom,
          arrangement: { columns, rows, cardWidth, rackHeader: header, stripHeight: metrics.stripHeight },
        };
      }
    }
  }
  const arrangement = best?.arrangement ?? {
    columns: 1,
    rows: 1,
    cardWidth: metrics.idealCardWidth,
    rackHeader: 24,
    stripHeight: metrics.stripHeight,
  };
  const lowest = place(racks, arrangement);
  // What is left under the cluster goes to the strips, where it says most.
  const zoom = Math.min(metrics.maxFitZoom, viewWidth / lowest.width);
  for (let stripHeight: number = metrics.maxStripHeight; stripHeight > metrics.stripHeight; stripHeight--) {
    const higher = place(racks, { ...arrangement, stripHeight });
    if (higher.height * zoom <= viewHeight) return higher;
  }
  return lowest;
}
