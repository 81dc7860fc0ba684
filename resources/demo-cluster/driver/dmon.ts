/** `nvidia-smi dmon`: one sample of each GPU. Divided GPUs have no shares to show. */
import { type Answer, selectGpus } from "./answer.ts";
import type { SimulatedMachine } from "./machine.ts";

export function dmonCommand(machine: SimulatedMachine, argv: readonly string[]): Answer {
  const at = argv.findIndex((word) => word === "-i" || word === "--id");
  const selected = selectGpus(machine, at === -1 ? null : (argv[at + 1] ?? null));
  const lines = [
    "# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk ",
    "# Idx      W      C      C      %      %      %      %      %      %    MHz    MHz ",
  ];
  for (const index of selected) {
    const gpu = machine.gpu(index);
    const model = machine.model(index);
    const shares = gpu.migEnabled
      ? ["-", "-", "-", "-", "-", "-"]
      : [gpu.utilisationPercent, gpu.memoryUtilisationPercent, 0, 0, 0, 0];
    const cells = [
      Math.round(gpu.powerWatts),
      gpu.temperatureCelsius,
      gpu.temperatureCelsius - 2,
      ...shares,
      model.memoryClockMhz,
      model.graphicsClockMhz,
    ];
    lines.push(`${String(index).padStart(5)}${cells.map((value) => String(value).padStart(7)).join("")} `);
  }
  return { stdout: lines.map((line) => `${line}\n`).join(""), exitStatus: 0 };
}
