import type { Gpu } from "../inventory.ts";

/** A GPU in MIG mode on which nothing stands and nothing runs. */
export const quietGpu: Gpu = {
  index: 0,
  uuid: "GPU-0",
  name: "NVIDIA H100 80GB HBM3",
  pciBusId: null,
  numaNode: null,
  cpuAffinity: null,
  state: { kind: "ok" },
  mig: { current: "enabled", pending: "enabled" },
  geometry: "H100-SXM5-80GB",
  holder: null,
  instances: [],
  memory: { totalMiB: null, usedMiB: null },
  utilisationPercent: null,
  memoryUtilisationPercent: null,
  power: { drawWatts: null, limitWatts: null },
  temperatureCelsius: null,
  fanPercent: null,
  ecc: { enabled: null, volatileUncorrected: null, aggregateUncorrected: null },
  memoryRepair: null,
  xids: [],
  nvlinks: { active: null, total: null },
  persistenceMode: null,
  computeMode: null,
  processes: [],
};
