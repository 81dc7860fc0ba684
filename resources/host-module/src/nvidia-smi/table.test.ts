import { describe, expect, test } from "vitest";
import { nothingObserved } from "./observation.ts";
import { parseTable } from "./table.ts";

const table = `Sun Mar  1 12:00:00 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 590.48.01              Driver Version: 590.48.01      CUDA Version: 13.1     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:00:09.0 Off |                   On |
| N/A   52C    P0            432W /  700W |   11125MiB /  81559MiB |     N/A      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA RTX 4000 Ada Gene...   Off  |   00000000:CC:00.0 Off |                    2 |
|ERR!   68C    P2             99W /  130W |       1MiB /  20475MiB |     93%   E. Process |
|                                         |                        |             Enabled* |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| MIG devices:                                                                            |
+------------------+----------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |
|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |
|==================+==================================+===========+=======================|
|  0    2   0   0  |           11091MiB / 40448MiB    | 60      0 |  3   0    3    0    3 |
|                  |               0MiB / 24739MiB    |           |                       |
+------------------+----------------------------------+-----------+-----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0    2    0            21180      C   /root/tools/mem hog                    2296MiB |
|    1   N/A  N/A             404    C+G   ...A App\\CEF\\NVIDIA Overlay.exe        N/A      |
+-----------------------------------------------------------------------------------------+
`;

const divided = {
  ...nothingObserved,
  index: 0,
  pciBusId: "00000000:00:09.0",
  name: "NVIDIA H100 80GB HBM3",
  migCurrent: "enabled",
  migPending: "enabled",
  memoryTotalMiB: 81559,
  memoryUsedMiB: 11125,
  powerDrawWatts: 432,
  powerLimitWatts: 700,
  temperatureCelsius: 52,
  eccEnabled: true,
  persistenceMode: true,
  computeMode: "Default",
};

describe("the table", () => {
  test("says GPUs, MIG devices and processes", () => {
    expect(parseTable(table)).toEqual({
      facts: {
        driverVersion: "590.48.01",
        cudaVersion: "13.1",
        gpus: [
          {
            ...divided,
            migDevices: [
              {
                deviceIndex: 0,
                gpuInstanceId: 2,
                computeInstanceId: 0,
                multiprocessors: 60,
                memoryTotalMiB: 40448,
                memoryUsedMiB: 11091,
                uuid: null,
                profile: null,
              },
            ],
            processes: [
              {
                pid: 21180,
                name: "/root/tools/mem hog",
                kind: "compute",
                usedMemoryMiB: 2296,
                gpuInstanceId: 2,
                computeInstanceId: 0,
              },
            ],
          },
          {
            ...nothingObserved,
            index: 1,
            pciBusId: "00000000:CC:00.0",
            name: "NVIDIA RTX 4000 Ada Gene...",
            nameIsCut: true,
            migCurrent: "disabled",
            migPending: "enabled",
            memoryTotalMiB: 20475,
            memoryUsedMiB: 1,
            utilisationPercent: 93,
            powerDrawWatts: 99,
            powerLimitWatts: 130,
            temperatureCelsius: 68,
            eccEnabled: true,
            volatileUncorrected: 2,
            persistenceMode: false,
            computeMode: "Exclusive_Process",
            migDevices: [],
            processes: [
              {
                pid: 404,
                name: "...A App\\CEF\\NVIDIA Overlay.exe",
                kind: "both",
                usedMemoryMiB: null,
                gpuInstanceId: null,
                computeInstanceId: null,
              },
            ],
          },
        ],
      },
      unread: [{ field: "gpus[1].fanPercent", reason: "the driver answered with an error", raw: "ERR!" }],
    });
  });

  test("its head alone leaves devices and processes unknown", () => {
    const head = table.slice(0, table.indexOf("|   1  NVIDIA"));
    expect(parseTable(head).facts.gpus).toEqual([divided]);
  });

  test("the narrow layout of 450, indented in a document", () => {
    const old = `    | NVIDIA-SMI 470.82.01    Driver Version: 470.82.01    CUDA Version: 11.4     |
    |   0  Tesla P100-PCIE...  On   | 00000000:0B:00.0 Off |                  Off |
    | N/A   42C    P0    29W / 250W |      0MiB / 16280MiB |      0%      Default |
    |                               |                      |                  N/A |
`;
    expect(parseTable(old).facts).toMatchObject({
      driverVersion: "470.82.01",
      gpus: [{ index: 0, migCurrent: "not-supported", eccEnabled: false, memoryTotalMiB: 16280, processes: null }],
    });
  });
});
