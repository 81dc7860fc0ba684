/** `nvidia-smi topo -m` and `nvidia-smi nvlink -s`. */
import { type Answer, EarlyEnd, selectGpus } from "./answer.ts";
import type { SimulatedMachine } from "./machine.ts";

const legend = `
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
`;

export function topologyCommand(machine: SimulatedMachine, argv: readonly string[]): Answer {
  if (argv[0] !== "-m" && argv[0] !== "--matrix") throw new EarlyEnd("Invalid combination of input arguments.\n", 255);
  const { gpus, nics } = machine.state;
  if (gpus.some((gpu) => gpu.broken !== null && gpu.broken !== "no-permission")) {
    return { stdout: "Failed to run topology matrix\n\n", exitStatus: 255 };
  }
  const shown = selectGpus(machine, null);
  const names = [...shown.map((index) => `GPU${index}`), ...nics.map((_, at) => `NIC${at}`)];
  // The ANSI codes are there even when the output is a pipe.
  const lines = [`\t\u001b[4m${names.join("\t")}\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u001b[0m`];
  const nodeOf = (at: number): number => {
    const gpu = shown[at];
    return gpu === undefined ? (nics[at - shown.length]?.numaNode ?? 0) : machine.gpu(gpu).numaNode;
  };
  for (const [a, name] of names.entries()) {
    const cells = names.map((_, b) => between(machine, shown, a, b, nodeOf(a) === nodeOf(b)));
    const gpu = shown[a];
    if (gpu === undefined) lines.push(`${name}\t${cells.join("\t")}\t\t\t\t`);
    else {
      const node = machine.state.numaNodes.find(({ id }) => id === machine.gpu(gpu).numaNode);
      lines.push(`${name}\t${cells.join("\t")}\t${node?.cpus ?? "N/A"}\t${node?.id ?? "N/A"}\t\t${node?.id ?? "N/A"}`);
    }
  }
  const cards =
    nics.length === 0 ? "" : `\nNIC Legend:\n\n${nics.map((nic, at) => `  NIC${at}: ${nic.name}\n`).join("")}\n`;
  return { stdout: `${lines.map((line) => `${line}\n`).join("")}${legend}${cards}`, exitStatus: 0 };
}

function between(machine: SimulatedMachine, shown: readonly number[], a: number, b: number, sameNode: boolean): string {
  if (a === b) return " X ";
  const far = sameNode ? "NODE" : "SYS";
  const first = shown[a];
  const second = shown[b];
  if (first !== undefined && second !== undefined) {
    const links = Math.min(machine.model(first).nvlinkCount, machine.model(second).nvlinkCount);
    return links > 0 ? `NV${links}` : far;
  }
  const nic = machine.state.nics[(first === undefined ? a : b) - shown.length];
  const gpu = first ?? second;
  return gpu !== undefined && nic !== undefined && nic.nearGpu === gpu ? "PIX" : far;
}

export function nvlinkCommand(machine: SimulatedMachine, argv: readonly string[]): Answer {
  const at = argv.findIndex((word) => word === "-i" || word === "--id");
  const selected = selectGpus(machine, at === -1 ? null : (argv[at + 1] ?? null));
  if (!argv.some((word) => word === "-s" || word === "--status")) {
    throw new EarlyEnd("Invalid combination of input arguments.\n", 255);
  }
  const lines = selected.flatMap((index) => {
    const gpu = machine.gpu(index);
    const { nvlinkCount, nvlinkGigabytesPerSecond } = machine.model(index);
    return [
      `GPU ${index}: ${gpu.productName} (UUID: ${gpu.uuid})`,
      ...Array.from({ length: nvlinkCount }, (_, link) =>
        gpu.inactiveLinks.includes(link)
          ? `\t Link ${link}: <inactive>`
          : `\t Link ${link}: ${nvlinkGigabytesPerSecond} GB/s`,
      ),
    ];
  });
  return { stdout: lines.map((line) => `${line}\n`).join(""), exitStatus: 0 };
}
