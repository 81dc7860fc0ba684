/**
 * `nvidia-smi -q -x`. The XML is not always well formed: it stops in mid-element when the driver crashes
 * (exit 139), and older drivers print process names without escaping them. sax (no dependencies, 50 KB) reads on
 * where it can; an element that was not closed has no value, since `<total>819` may have been `81920 MiB`.
 */
import sax, { type SAXParser } from "sax";
import { type GrowingNode, keyOf, type QueryTree } from "./query-tree.ts";
import { textOf } from "./text.ts";

/**
 * Sections that no fact is read from. They are most of a report (supported clocks alone can be two thirds), and sax looks at
 * every character: without them it takes a third of the time. None of them holds another of the same name.
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

const indentation = />\s+</g;

const deepest = 64;

export function parseQueryXml(output: Uint8Array | string): QueryTree {
  const text = textOf(output).replace(uninteresting, "").replace(indentation, "><");
  const root: GrowingNode = { key: "", value: null, children: [] };
  const open: { node: GrowingNode; text: string }[] = [{ node: root, text: "" }];
  let ended = false;
  const parser: SAXParser = sax.parser(false, { lowercase: true, trim: true, position: false });
  parser.onopentag = (tag) => {
    const node: GrowingNode = { key: keyOf(tag.name), value: null, children: [] };
    const parent = open.at(-1);
    if (open.length < deepest) parent?.node.children.push(node);
    const id = tag.attributes.id;
    if (typeof id === "string") node.children.push({ key: "@id", value: id, children: [] });
    open.push({ node, text: "" });
  };
  parser.ontext = (part) => {
    const top = open.at(-1);
    if (top !== undefined) top.text += part;
  };
  parser.oncdata = parser.ontext;
  parser.onclosetag = () => {
    const closed = open.length > 1 ? open.pop() : undefined;
    if (closed === undefined) return;
    if (closed.node.children.every((child) => child.key === "@id")) closed.node.value = closed.text;
    if (closed.node.key === "nvidia_smi_log") ended = true;
  };
  parser.onerror = () => {
    // A stray character is skipped, the rest is read.
    Reflect.set(parser, "error", null);
    parser.resume();
  };
  // The last 64 KiB decide nothing; written in one piece, an unfinished tag at the end stays unread.
  parser.write(text);
  const log = root.children.find((child) => child.key === "nvidia_smi_log");
  return { root: log ?? root, complete: ended };
}
