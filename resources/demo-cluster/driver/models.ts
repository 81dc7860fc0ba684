/** The GPU models that a simulated machine can hold, with the facts the driver prints about them. */
import type { GpuGeometry } from "../../../shared/mig/types.ts";
import { siliconGeometry } from "./geometry.ts";

export interface SimulatedModel {
  readonly productName: string;
  readonly architecture: "Ampere" | "Hopper" | "Ada Lovelace" | "Blackwell";
  readonly silicon: string | null;
  readonly memoryMiB: number;
  readonly reservedMiB: number;
  readonly powerLimitWatts: number;
  readonly idleWatts: number;
  /** NVLink links and the speed the driver reports for each; 0 where there is none. */
  readonly nvlinkCount: number;
  readonly nvlinkGigabytesPerSecond: string;
  readonly pciDeviceId: string;
  readonly computeCapability: string;
  readonly graphicsClockMhz: number;
  readonly memoryClockMhz: number;
  readonly vbios: string;
  readonly partNumber: string;
  readonly imageVersion: string;
  /** Ampere: a changed MIG mode waits for a GPU reset. Hopper and newer take it at once. */
  readonly migModeNeedsReset: boolean;
  /** Hopper and newer also forget the mode itself at a reboot. */
  readonly forgetsMigModeAtReboot: boolean;
}

function model(
  productName: string,
  architecture: SimulatedModel["architecture"],
  silicon: string | null,
  memoryMiB: number,
  powerLimitWatts: number,
  idleWatts: number,
  nvlinkCount: number,
  pciDeviceId: string,
  computeCapability: string,
): SimulatedModel {
  const ampere = architecture === "Ampere";
  const short = productName.replace("NVIDIA ", "").split(/[ -]/)[0] ?? "GPU";
  return {
    productName,
    architecture,
    silicon,
    memoryMiB,
    reservedMiB: ampere ? 512 : 1024,
    powerLimitWatts,
    idleWatts,
    nvlinkCount,
    nvlinkGigabytesPerSecond: ampere ? "25" : "26.562",
    pciDeviceId,
    computeCapability,
    graphicsClockMhz: ampere ? 1410 : 1980,
    memoryClockMhz: 1593,
    vbios: ampere ? "92.00.9E.00.01" : "96.00.74.00.09",
    partNumber: ampere ? "692-2G506-0210-002" : "699-21010-0200-000",
    imageVersion: ampere ? "G506.0210.00.04" : `${short}.0200.00.04`,
    migModeNeedsReset: ampere,
    forgetsMigModeAtReboot: !ampere,
  };
}

const models: readonly SimulatedModel[] = [
  model("NVIDIA A100-SXM4-40GB", "Ampere", "A100-40GB", 40960, 400, 46, 12, "20B010DE", "8.0"),
  model("NVIDIA A100-SXM4-80GB", "Ampere", "A100-80GB", 81920, 400, 58, 12, "20B210DE", "8.0"),
  model("NVIDIA A30", "Ampere", "A30-24GB", 24576, 165, 28, 0, "20B710DE", "8.0"),
  model("NVIDIA H100 PCIe", "Hopper", "H100-PCIe-80GB", 81559, 350, 48, 0, "233110DE", "9.0"),
  model("NVIDIA H100 80GB HBM3", "Hopper", "H100-SXM5-80GB", 81920, 700, 70, 18, "233010DE", "9.0"),
  model("NVIDIA H100 NVL", "Hopper", "H100-NVL-94GB", 95830, 400, 62, 0, "232110DE", "9.0"),
  model("NVIDIA GH200 480GB", "Hopper", "GH200-96GB", 97871, 900, 84, 0, "234210DE", "9.0"),
  model("NVIDIA H200", "Hopper", "H200-141GB", 143771, 700, 76, 18, "233510DE", "9.0"),
  model(
    "NVIDIA RTX PRO 6000 Blackwell Server Edition",
    "Blackwell",
    "RTX-PRO-6000-Blackwell",
    97887,
    600,
    32,
    0,
    "2BB510DE",
    "12.0",
  ),
  model("NVIDIA L40S", "Ada Lovelace", null, 46068, 350, 35, 0, "26B910DE", "8.9"),
];

export const simulatedModelNames: readonly string[] = models.map((candidate) => candidate.productName);

/** Throws RangeError for a product name that is not simulated. */
export function simulatedModel(productName: string): SimulatedModel {
  const found = models.find((candidate) => candidate.productName === productName);
  if (found === undefined) throw new RangeError(`no simulated GPU model is called ${productName}`);
  return found;
}

/** What the model can be divided into; null where it knows no MIG. */
export function geometryOf(candidate: SimulatedModel): GpuGeometry | null {
  return candidate.silicon === null ? null : siliconGeometry(candidate.silicon);
}
