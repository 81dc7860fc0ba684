/**
 * `nvidia-smi -q -x`. The XML is not always well formed: it stops in mid-element when the driver crashes
 * (exit 139), older drivers print process names without escaping them, and a flipped byte may sit anywhere. An element
 * that was not closed has no value, since `<total>819` may have been `81920 MiB`.
 *
 * The scanner is our own: the driver prints elements, text, the attribute `id`, comments and five entities, nothing else. A
 * general streaming parser (sax) took five times as long for a report, most of what a refresh costs on a host, and
 * still had to be told how to go on after every kind of damage.
 */
import { type GrowingNode, keyOf, type QueryTree } from "./query-tree.ts";
import { textOf } from "./text.ts";

/**
 * Sections that no fact is read from. They are most of a report (supported clocks alone can be two thirds), without
 * them a report is read in a third of the time. None of them holds another of the same name.
 */
const uninteresting = new RegExp(
  `<(${[
    "supported_clocks",
    "supported_gpu_target_temp",
    "accounted_processes",
    "clocks_event_reasons_counters",
    "clocks_event_reasons",
    "clocks_throttle_reasons",
    "clocks",
    "applications_clocks",
    "default_applications_clocks",
    "deferred_clocks",
    "max_clocks",
    "max_customer_boost_clocks",
    "clock_policy",
    "voltage",
    "fabric",
    "platform",
    "inforom_version",
    "inforom_bbx_flush",
    "gpu_operation_mode",
    "gpu_virtualization_mode",
    "pci_gpu_link_info",
    "pci_bridge_chip",
    "bar1_memory_usage",
    "cc_protected_memory_usage",
    "encoder_stats",
    "fbc_stats",
    "aggregate_uncorrectable_sram_sources",
    "row_remapper_histogram",
    "gpu_memory_power_readings",
    "module_power_readings",
    "power_smoothing",
    "power_profiles",
    "ibmnpu",
    "driver_model",
  ].join("|")})>[\\s\\S]*?</\\1>\\s*`,
  "g",
);

const deepest = 64;

/** Comment, CDATA, declaration, or a tag; else a `<` that stands for itself. */
const markup = /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<[!?][^>]*>|<(\/?)([A-Za-z_][\w.:-]*)([^<>]*)>/g;

export function parseQueryXml(output: Uint8Array | string): QueryTree {
  const text = textOf(output).replace(uninteresting, "");
  const root: GrowingNode = { key: "", value: null, children: [] };
  const open: OpenElement[] = [{ name: "", node: root, text: "" }];
  let ended = false;
  let at = 0;
  const say = (words: string) => {
    const top = open.at(-1);
    if (top !== undefined) top.text += words;
  };
  for (const match of text.matchAll(markup)) {
    if (match.index > at) say(unescaped(text.slice(at, match.index)));
    at = match.index + match[0].length;
    const [, characters, slash, name, rest = ""] = match;
    if (characters !== undefined) say(characters);
    if (name === undefined) continue;
    if (slash === "/") ended = close(open, name) || ended;
    else {
      begin(open, name, rest);
      if (rest.endsWith("/")) ended = close(open, name) || ended;
    }
  }
  const log = root.children.find((child) => child.key === "nvidia_smi_log");
  return { root: log ?? root, complete: ended };
}

interface OpenElement {
  readonly name: string;
  readonly node: GrowingNode;
  text: string;
}

function begin(open: OpenElement[], name: string, attributes: string): void {
  const node: GrowingNode = { key: keyOf(name), value: null, children: [] };
  if (open.length < deepest) open.at(-1)?.node.children.push(node);
  const id = attributes === "" ? undefined : /\bid\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(attributes);
  if (id) node.children.push({ key: "@id", value: unescaped(id[1] ?? id[2] ?? ""), children: [] });
  open.push({ name: name.toLowerCase(), node, text: "" });
}

/**
 * Closes the innermost element of this name and those inside it that were left open; a tag that closes nothing is noise.
 * Answers whether the log itself came to its end.
 */
function close(open: OpenElement[], written: string): boolean {
  const name = written.toLowerCase();
  const position = open.findLastIndex((element) => element.name === name);
  if (position < 1) return false;
  const [closed] = open.splice(position);
  if (closed === undefined) return false;
  if (closed.node.children.every((child) => child.key === "@id")) closed.node.value = closed.text.trim();
  return closed.node.key === "nvidia_smi_log";
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** An entity that nobody knows stays as it is written: an unescaped `&` in a process name. */
function unescaped(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (written, hex, decimal, name) => {
    if (name !== undefined) return entities[name] ?? written;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : written;
  });
}
