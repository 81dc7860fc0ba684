/** Xid events, the driver's own reports of GPU faults, from the kernel log. */
import { linesOf } from "../nvidia-smi/text.ts";
import { normalBusId } from "../nvidia-smi/values.ts";

export interface XidEvent {
  /** As `normalBusId` writes it, function 0. */
  readonly pciBusId: string;
  readonly code: number;
  /** ISO 8601; null where the log gives no time that can be placed. */
  readonly at: string | null;
  readonly text: string;
}

/** The newest that are kept for one GPU: a failing one writes thousands. */
export const keptXids = 32;

const xid = /NVRM: Xid \(PCI:([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-9a-f])?\):\s*(\d+),?\s*(.*)$/i;
const isoTime = /^\[?(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2}))/;
const uptime = /^(?:<\d+>)?\[\s*(\d+)\.\d+\]/;

/** `dmesg` with any time format, or `journalctl -k`; oldest first, as it is printed. */
export function parseXidEvents(output: Uint8Array | string, bootedAtSeconds: number | null): readonly XidEvent[] {
  return linesOf(output).flatMap((line) => {
    const match = xid.exec(line);
    const pciBusId = normalBusId(`${match?.[1]}.0`);
    if (match === null || pciBusId === null) return [];
    return [{ pciBusId, code: Number(match[2]), at: timeOf(line, bootedAtSeconds), text: match[3] ?? "" }];
  });
}

function timeOf(line: string, bootedAtSeconds: number | null): string | null {
  const iso = isoTime.exec(line)?.[1];
  if (iso !== undefined) {
    const time = new Date(iso.replace(",", ".").replace(/([+-]\d{2})(\d{2})$/, "$1:$2"));
    return Number.isNaN(time.getTime()) ? null : time.toISOString();
  }
  const seconds = uptime.exec(line)?.[1];
  if (seconds === undefined || bootedAtSeconds === null) return null;
  return new Date((bootedAtSeconds + Number(seconds)) * 1000).toISOString();
}
