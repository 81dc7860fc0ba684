/**
 * gres.conf: which device files stand behind a node's GPUs, line by line. `Key=value` pairs, `#` comments, lines continued
 * with `\`. Source: gres.conf(5).
 */
import { expandHostlist } from "./hostlist.ts";
import { linesOf } from "./reading.ts";

export interface GresConfLine {
  /** `a100_1g.5gb`; null where none is given. */
  readonly type: string | null;
  /** The files of each device, one list a device; null for a device whose files are not named. */
  readonly devices: readonly (readonly string[] | null)[];
}

export interface GresConf {
  /** Whether slurmd finds GPUs by itself: then it decides on their order. */
  readonly autoDetect: boolean;
  /** The lines `Name=gpu` that hold for the node, in the order of the file. */
  readonly gpus: readonly GresConfLine[];
}

const maxDevices = 4_096;

/** What the file says of a node's GPUs; null where it cannot be told: a file that is included, a line that is none. */
export function readGresConf(content: Uint8Array | string, node: string): GresConf | null {
  let general = false;
  let own: boolean | null = null;
  const gpus: GresConfLine[] = [];
  const joined = linesOf(content).join("\n").replace(/\\\n/g, " ");
  for (const raw of joined.split("\n")) {
    const line = raw.replace(/#.*$/, "").trim();
    if (line === "") continue;
    const values = valuesOf(line);
    if (values === null) return null;
    const nodes = values.get("nodename");
    const isListed = nodes === undefined ? null : expandHostlist(nodes);
    if (nodes !== undefined && isListed === null) return null;
    if (isListed !== null && !isListed.includes(node)) continue;
    const detect = values.get("autodetect");
    if (detect !== undefined && nodes === undefined) general = isOn(detect);
    if (detect !== undefined && nodes !== undefined) own = isOn(detect);
    if (values.get("name")?.toLowerCase() !== "gpu") continue;
    const devices = devicesOf(values);
    if (devices === null) return null;
    gpus.push({ type: values.get("type") ?? null, devices });
  }
  return { autoDetect: own ?? general, gpus };
}

function isOn(detect: string): boolean {
  return detect.toLowerCase() !== "off";
}

/** By the key in lower case; null for a line with anything but pairs, `Include` among them. */
function valuesOf(line: string): ReadonlyMap<string, string> | null {
  const values = new Map<string, string>();
  for (const word of line.match(/(?:[^\s"]|"[^"]*")+/g) ?? []) {
    const pair = /^(\w+)=(.+)$/.exec(word);
    if (pair === null) return null;
    values.set((pair[1] ?? "").toLowerCase(), (pair[2] ?? "").replaceAll('"', ""));
  }
  return values;
}

/** `File=` is one device a file, `MultipleFiles=` one device with all of them. */
function devicesOf(values: ReadonlyMap<string, string>): GresConfLine["devices"] | null {
  const together = values.get("multiplefiles");
  if (together !== undefined) {
    const files = expandHostlist(together);
    return files === null ? null : [files];
  }
  const single = values.get("file");
  if (single !== undefined) return expandHostlist(single)?.map((file) => [file]) ?? null;
  const count = values.get("count") ?? "1";
  if (!/^\d{1,4}$/.test(count) || Number(count) > maxDevices) return null;
  return Array.from({ length: Number(count) }, () => null);
}
