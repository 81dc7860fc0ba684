import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { simulatedMachine } from "./describe.ts";
import type { SimulatedMachine } from "./machine.ts";
import { nvidiaSmi } from "./nvidia-smi.ts";
import type { NvmlError } from "./nvml.ts";
import type { PlannedError, PlannedOperation } from "./state.ts";

const samples = join(import.meta.dirname, "../../../../shared/samples/nvsmi/genuine-550");
const present = existsSync(join(samples, "scenario.log"));
if (!present) console.log(`scenario.test: skipped, the genuine tool's session is not at ${samples}`);

interface Entry {
  readonly number: number;
  readonly label: string;
  readonly argv: readonly string[];
  readonly exitStatus: number;
  readonly text: string;
}

function entries(): Entry[] {
  const log = readFileSync(join(samples, "scenario.log"), "latin1");
  return log
    .split(/^(?=### \[)/m)
    .filter((part) => part.startsWith("###"))
    .map((part) => {
      const line = part.slice(0, part.indexOf("\n"));
      const found = /^### \[(\d+) ([^\]]+)\] nvidia-smi (.*?) ?-> rc=(\d+)/.exec(line);
      const [, number = "", label = "", words = "", exitStatus = ""] = found ?? [];
      const file = ["txt", "xml"].map((end) => join(samples, `rb-mig-${label}-550.${end}`)).find(existsSync);
      return {
        number: Number(number),
        label,
        argv: words.split(" ").filter((word) => word !== ""),
        exitStatus: Number(exitStatus),
        // The session shows only the first lines of long outputs; most are whole in a file of their own.
        text: file === undefined ? part.slice(line.length + 1) : readFileSync(file, "latin1"),
      };
    });
}

const bytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

/** What is no fact of the tool: clocks, UUIDs, stray bytes that the genuine tool printed from freed memory, the stand-in's VBIOS. */
function comparable(text: string): string {
  return text
    .replace(/^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}(?= {7}$)/gm, "TIME")
    .replace(/(Timestamp +: |<timestamp>)\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}/g, "$1TIME")
    .replace(/MIG-[0-9a-f-]{36}/g, "MIG-UUID")
    .replace(
      /(handle for GPU|handle for gpu |Problem with GPU )[^\n]*?(?=: (GPU is lost|Unknown|A GPU|Insufficient))/g,
      "$1X",
    )
    .replace(/(VBIOS Version +: |<vbios_version>)[0-9A-F.]+/g, "$1VBIOS");
}

const h100 = "NVIDIA H100 80GB HBM3";
function machineOf(model: string, layout?: { mig: number[] }): SimulatedMachine {
  const machine = simulatedMachine({
    hostName: "genuine",
    gpus: Array.from({ length: 8 }, (_, index) => ({
      model: h100,
      uuid: `GPU-01000100-0000-0000-0000-00000000000${index}`,
    })),
  });
  machine.state.zeroUtilisationUnderMig = true;
  machine.gpu(0).productName = model;
  for (const gpu of machine.state.gpus) gpu.powerWatts = 95;
  for (const index of layout?.mig ?? []) {
    machine.gpu(index).migEnabled = true;
    machine.gpu(index).migPending = true;
  }
  // The session's stand-in for an A100 took MIG mode at once.
  return machine;
}

/** The stand-in library was told to answer these instead of working. */
const planned: Readonly<Record<string, PlannedError>> = (() => {
  const plan = (operation: PlannedOperation, gpuIndex: number, error: NvmlError, pending = false): PlannedError => ({
    operation,
    gpuIndex,
    error,
    pending,
  });
  return {
    "dgi-inuse-client": plan("destroy-gpu-instance", 1, "in-use"),
    "dci-inuse-client": plan("destroy-compute-instance", 1, "in-use"),
    "cgi-noperm": plan("create-gpu-instance", 0, "no-permission"),
    "cgi-unknownerr": plan("create-gpu-instance", 0, "unknown"),
    "cgi-gpulost": plan("create-gpu-instance", 0, "gpu-lost"),
    "mig1-noperm": plan("set-mig-mode", 3, "no-permission"),
    "mig1-pending-inuse": plan("set-mig-mode", 3, "in-use", true),
    "mig1-pending-reset": plan("set-mig-mode", 4, "reset-required", true),
    "mig1-pending-notsup": plan("set-mig-mode", 5, "not-supported", true),
    "mig1-pending-unknown": plan("set-mig-mode", 6, "unknown", true),
    "cgiC-ci-fails": plan("create-compute-instance", 0, "insufficient-resources"),
  };
})();

/** Entries of which the session kept only the first lines. */
const cutShort = /^lgip-(A100-40GB|A30-24GB|H100-NVL-94GB)$/;

/** Models of the entries that look at one GPU of another kind. */
const modelOfEntry: Readonly<Record<string, string>> = {
  "m-A100-40GB": "NVIDIA A100-SXM4-40GB",
  "m-A100-80GB": "NVIDIA A100-SXM4-80GB",
  "m-A30-24GB": "NVIDIA A30",
  "m-H100-PCIe-80GB": "NVIDIA H100 PCIe",
  "m-H100-NVL-94GB": "NVIDIA H100 NVL",
  "m-GH200-96GB": "NVIDIA GH200 480GB",
  "m-H200-141GB": "NVIDIA H200",
  "m-RTX-PRO-6000-Blackwell": "NVIDIA RTX PRO 6000 Blackwell Server Edition",
  m4: "NVIDIA A30",
  m5: "NVIDIA GH200 480GB",
};

function brokenBy(label: string): NvmlError | null {
  const code = /^gpu3-err(\d+)/.exec(label)?.[1];
  const errors: Readonly<Record<string, NvmlError>> = {
    "15": "gpu-lost",
    "16": "reset-required",
    "4": "no-permission",
    "999": "unknown",
  };
  return code === undefined ? null : (errors[code] ?? null);
}

function initialisationBy(label: string): NvmlError | null {
  const code = /^init-err-(\d+)/.exec(label)?.[1];
  const errors: Readonly<Record<string, NvmlError>> = {
    "18": "version-mismatch",
    "9": "driver-not-loaded",
    "4": "no-permission",
    "999": "unknown",
    "17": "operating-system",
    "15": "gpu-lost",
  };
  return code === undefined ? null : (errors[code] ?? null);
}

describe.skipIf(!present)("the genuine tool's session, replayed in order", () => {
  let machine = machineOf(h100);
  const all = present ? entries() : [];

  it.each(all.map((entry) => [`${entry.number} ${entry.label}`, entry] as const))("%s", (_, entry) => {
    const { label } = entry;
    // Each of these began with a fresh machine.
    if (/^(m|m2|m3|m4|m5|m6|m-.*)$/.test(label)) {
      machine = machineOf(modelOfEntry[label] ?? h100);
      // The stand-in took MIG mode at once on every model, Ampere too.
      for (const word of entry.argv[1]?.split(",") ?? []) machine.gpu(Number(word)).migEnabled = true;
    }
    if (entry.number === 96) {
      machine = machineOf("NVIDIA RTX PRO 6000 Blackwell Server Edition");
      machine.gpu(0).migEnabled = true;
    }
    const plan = planned[label];
    if (plan !== undefined) machine.state.plannedErrors.push({ ...plan });
    machine.state.initialisation = initialisationBy(label) ?? "ok";
    machine.gpu(3).broken = brokenBy(label);

    const answer = nvidiaSmi(machine, entry.argv, true);
    let ours = comparable(bytes(answer.stdout));
    // The session's RTX PRO 6000 kept the name, power and memory of the card it replaced.
    if (label === "rtx-table") {
      ours = ours
        .replace("NVIDIA RTX PRO 6000 Blac...    ", "NVIDIA H100 80GB HBM3          ")
        .replace("600W", "700W")
        .replace("97887MiB", "81920MiB");
    }
    const genuine = comparable(entry.text);
    expect(answer.exitStatus).toBe(entry.exitStatus);
    if (cutShort.test(label)) expect(ours.slice(0, genuine.length)).toBe(genuine);
    else expect(ours).toBe(genuine);
  });
});
