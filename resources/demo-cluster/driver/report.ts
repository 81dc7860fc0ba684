/** `nvidia-smi -q`, as text and as XML. */
import { EarlyEnd } from "./answer.ts";
import type { Fact } from "./fact.ts";
import { factsOf } from "./facts.ts";
import type { SimulatedMachine } from "./machine.ts";

const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `Wed Dec  2 08:38:23 2026`, as ctime writes it. */
export function timestamp(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  return (
    `${days[date.getUTCDay()]} ${months[date.getUTCMonth()]} ${String(date.getUTCDate()).padStart(2)} ` +
    `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} ${date.getUTCFullYear()}`
  );
}

const displays = new Set([
  ..."MEMORY UTILIZATION ECC TEMPERATURE POWER CLOCK COMPUTE PIDS PERFORMANCE SUPPORTED_CLOCKS".split(" "),
  ..."PAGE_RETIREMENT ACCOUNTING ENCODER_STATS SUPPORTED_GPU_TARGET_TEMP VOLTAGE FBC_STATS".split(" "),
  ..."ROW_REMAPPER RESET_STATUS GSP_FIRMWARE_VERSION".split(" "),
]);

function textLines(facts: readonly Fact[], depth: number): string[] {
  const indent = "    ".repeat(depth);
  return facts.flatMap((one) => {
    // A group without a label of its own (`mig_devices`) is transparent in the text.
    if (one.children !== undefined) {
      if (one.label === null) return textLines(one.children, depth);
      return [`${indent}${one.label}`, ...textLines(one.children, depth + 1)];
    }
    return one.label === null ? [] : [`${(indent + one.label).padEnd(42)}: ${one.value ?? ""}`];
  });
}

/** `display` null prints everything; otherwise the words after `-d`. */
export function textReport(machine: SimulatedMachine, selected: readonly number[], display: string | null): string {
  const wanted = display === null ? null : display.split(",").map((word) => word.trim().toUpperCase());
  if (wanted !== null && !wanted.every((word) => displays.has(word))) {
    throw new EarlyEnd("Failed to parse --display/-d flags\n", 2);
  }
  const lines = [
    "",
    "==============NVSMI LOG==============",
    "",
    `Timestamp                                 : ${timestamp(machine.now())}`,
    `Driver Version                            : ${machine.state.driverVersion}`,
    `CUDA Version                              : ${machine.state.cudaVersion}`,
    "",
    `Attached GPUs                             : ${machine.state.gpus.length}`,
  ];
  for (const index of selected) {
    const facts = factsOf(machine, index).filter(
      (one) => wanted === null || (one.display !== undefined && wanted.includes(one.display)),
    );
    lines.push(`GPU ${machine.busId(index)}`, ...textLines(facts, 1), "");
  }
  return lines.map((line) => `${line}\n`).join("");
}

function escaped(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function xmlLines(facts: readonly Fact[], depth: number): string[] {
  const indent = "\t".repeat(depth);
  return facts.flatMap((one) => {
    if (one.tag === null) return [];
    if (one.children === undefined) return [`${indent}<${one.tag}>${escaped(one.value ?? "")}</${one.tag}>`];
    // The tool does not indent the devices inside `mig_devices`.
    const inner = xmlLines(one.children, one.tag === "mig_devices" ? depth : depth + 1);
    return [`${indent}<${one.tag}>`, ...inner, `${indent}</${one.tag}>`];
  });
}

export function xmlReport(machine: SimulatedMachine, selected: readonly number[]): string {
  const lines = [
    '<?xml version="1.0" ?>',
    '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">',
    "<nvidia_smi_log>",
    `\t<timestamp>${timestamp(machine.now())}</timestamp>`,
    `\t<driver_version>${machine.state.driverVersion}</driver_version>`,
    `\t<cuda_version>${machine.state.cudaVersion}</cuda_version>`,
    `\t<attached_gpus>${machine.state.gpus.length}</attached_gpus>`,
  ];
  for (const index of selected) {
    lines.push(`\t<gpu id="${machine.busId(index)}">`, ...xmlLines(factsOf(machine, index), 2), "\t</gpu>", "");
  }
  lines.push("</nvidia_smi_log>");
  return lines.map((line) => `${line}\n`).join("");
}
