import { describe, expect, test } from "vitest";
import { firstGpu, secondGpu, xmlReport } from "../testing/reports.ts";
import { nothingObserved } from "./observation.ts";
import { parseQueryTextReport, parseQueryXmlReport } from "./query.ts";

const text = `
==============NVSMI LOG==============

Timestamp                                              : Sun Mar  1 12:00:00 2026
Driver Version                                         : 610.57.04 [Deprecated; will be removed in CUDA 14.0. Use KMD Version instead]
CUDA Version                                           : 13.3 [Deprecated; will be removed in CUDA 14.0. Use CUDA UMD Version instead]
KMD Version                                            : 610.57.04
CUDA UMD Version                                       : 13.3

Attached GPUs                                          : 1
GPU 00000000:00:09.0
    Product Name                                       : NVIDIA H100 80GB HBM3
    Persistence Mode                                   : Disabled
    MIG Mode
        Current                                        : Enabled
        Pending                                        : Disabled
    MIG Device
        Index                                          : 0
        GPU Instance ID                                : 2
        Compute Instance ID                            : 1
        Device Attributes
            Shared
                Multiprocessor count                   : 60
        Shared FB Memory Usage
            Total                                      : 40448 MiB
            Used                                       : 11091 MiB
    GPU UUID                                           : GPU-2c
    Minor Number                                       : 3
    PCI
        Device Id                                      : 0x233010DE
        Bus Id                                         : 00000000:00:09.0
    Fan Speed                                          : 38 %
    FB Memory Usage
        Total                                          : 81559 MiB
        Used                                           : 11125 MiB
    BAR1 Memory Usage
        Total                                          : 131072 MiB
    Compute Mode                                       : Exclusive_Process
    Utilization
        GPU                                            : N/A
        Memory                                         : 9223372036854775807 %
    ECC Mode
        Current                                        : Enabled
    ECC Errors
        Volatile
            SRAM Uncorrectable Parity                  : 0
            SRAM Uncorrectable SEC-DED                 : 1
            DRAM Uncorrectable                         : 0
        Aggregate
            DRAM Correctable                           : 18446744073709551615
            DRAM Uncorrectable                         : 18446744073709551615
    Remapped Rows
        Pending                                        : Yes
        Remapping Failure Occurred                     : No
    Temperature
        GPU Current Temp                               : 52 C
        GPU Shutdown Temp                              : 92 C
    GPU Power Readings
        Average Power Draw                             : N/A
        Instantaneous Power Draw                       : 97.75 W
        GPU Ceiling Power Limit
            Current Power Limit                        : 250.00 W
    Processes
        GPU instance ID                                : 2
        Compute instance ID                            : 1
        Process ID                                     : 21180
            Type                                       : C
            Name                                       : /root/tools/mem hog: x
            Used GPU Memory                            : 2296 MiB
        GPU instance ID                                : N/A
        Compute instance ID                            : N/A
        Process ID                                     : 99
            Type                                       : C+G
            Name                                       : [Insufficient Permissions]
            Used GPU Memory                            : N/A
`;

describe("-q", () => {
  test("says the whole of a GPU", () => {
    expect(parseQueryTextReport(text)).toEqual({
      facts: {
        driverVersion: "610.57.04",
        cudaVersion: "13.3",
        attachedGpus: 1,
        gpus: [
          {
            ...nothingObserved,
            minorNumber: 3,
            uuid: "GPU-2c",
            pciBusId: "00000000:00:09.0",
            pciDeviceId: "233010DE",
            name: "NVIDIA H100 80GB HBM3",
            migCurrent: "enabled",
            migPending: "disabled",
            memoryTotalMiB: 81559,
            memoryUsedMiB: 11125,
            powerDrawWatts: 97.75,
            powerLimitWatts: 250,
            temperatureCelsius: 52,
            fanPercent: 38,
            eccEnabled: true,
            volatileUncorrected: 1,
            memoryRepair: "pending",
            persistenceMode: false,
            computeMode: "Exclusive_Process",
            migDevices: [
              {
                deviceIndex: 0,
                gpuInstanceId: 2,
                computeInstanceId: 1,
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
                name: "/root/tools/mem hog: x",
                kind: "compute",
                usedMemoryMiB: 2296,
                gpuInstanceId: 2,
                computeInstanceId: 1,
              },
              { pid: 99, name: null, kind: "both", usedMemoryMiB: null, gpuInstanceId: null, computeInstanceId: null },
            ],
          },
        ],
      },
      // N/A is an answer; sentinels and error words are values that should have been there.
      unread: [
        {
          field: "gpus[0].memoryUtilisationPercent",
          reason: "a value that the driver never filled in",
          raw: "9223372036854775807 %",
        },
        {
          field: "gpus[0].ecc.aggregateUncorrected",
          reason: "a value that the driver never filled in",
          raw: "18446744073709551615",
        },
        {
          field: "gpus[0].processes[1].name",
          reason: "the driver answered with an error",
          raw: "[Insufficient Permissions]",
        },
      ],
    });
  });

  test("a line without its end is not believed", () => {
    const cut = text.slice(0, text.indexOf("81559 MiB") + 3);
    const { facts, unread } = parseQueryTextReport(cut);
    expect(facts.gpus[0]?.memoryTotalMiB).toBeNull();
    expect(facts.gpus[0]?.fanPercent).toBe(38);
    expect(unread).toEqual([{ field: "", reason: "the output stops before its end", raw: "/gpu/fb_memory_usage" }]);
  });

  test("only a part of it, as with -d", () => {
    const part = `==============NVSMI LOG==============

Attached GPUs                             : 2
GPU 00000001:00:00.0
    Retired Pages
        Single Bit ECC                    : 60
        Double Bit ECC                    : 5
        Pending Page Blacklist            : Yes

GPU 00000002:00:00.0
    Retired Pages
        Pending Page Blacklist            : No
`;
    expect(parseQueryTextReport(part).facts.gpus).toEqual([
      { ...nothingObserved, pciBusId: "00000001:00:00.0", memoryRepair: "pending" },
      { ...nothingObserved, pciBusId: "00000002:00:00.0", memoryRepair: "none" },
    ]);
  });
});

describe("-q -x", () => {
  test("says the whole of each GPU", () => {
    const { facts, unread } = parseQueryXmlReport(xmlReport([firstGpu, secondGpu]));
    expect(unread).toEqual([]);
    expect(facts.gpus[1]).toEqual({
      ...nothingObserved,
      minorNumber: 1,
      uuid: "GPU-1b",
      pciBusId: "00000000:3B:00.0",
      pciDeviceId: "233010DE",
      name: "NVIDIA H100 80GB HBM3",
      migCurrent: "disabled",
      migPending: "disabled",
      memoryTotalMiB: 81559,
      memoryUsedMiB: 1024,
      utilisationPercent: 41,
      memoryUtilisationPercent: 7,
      powerDrawWatts: 95.2,
      powerLimitWatts: 700,
      temperatureCelsius: 34,
      eccEnabled: true,
      volatileUncorrected: 3,
      aggregateUncorrected: 4,
      memoryRepair: "none",
      persistenceMode: true,
      computeMode: "Default",
      migDevices: [],
      processes: [],
    });
    expect(facts.gpus[0]?.migDevices?.map((device) => [device.deviceIndex, device.gpuInstanceId])).toEqual([
      [0, 2],
      [1, 7],
    ]);
    expect(facts.gpus[0]?.processes).toEqual([
      {
        pid: 4711,
        name: "/usr/bin/python3",
        kind: "compute",
        usedMemoryMiB: 512,
        gpuInstanceId: 2,
        computeInstanceId: 0,
      },
    ]);
  });

  test("an element that was not closed has no value, what stands before it has", () => {
    const whole = xmlReport([firstGpu, secondGpu]);
    const { facts, unread } = parseQueryXmlReport(whole.slice(0, whole.lastIndexOf("81559 MiB") + 3));
    expect(facts.gpus).toHaveLength(2);
    expect(facts.gpus[1]).toMatchObject({ uuid: "GPU-1b", memoryTotalMiB: null, temperatureCelsius: null });
    expect(unread).toEqual([
      { field: "", reason: "the output stops before its end", raw: "nvidia_smi_log/gpu/fb_memory_usage/total" },
    ]);
  });

  test("a name that is not escaped does not hide the rest", () => {
    const name = "run --a <b & c";
    const { facts } = parseQueryXmlReport(xmlReport([{ ...firstGpu, processes: [{ pid: 5, name }] }, secondGpu]));
    expect(facts.gpus.map((gpu) => gpu.uuid)).toEqual(["GPU-0a", "GPU-1b"]);
  });

  test("a GPU that is lost says so once", () => {
    const lost = xmlReport([{ ...secondGpu, temperature: "GPU is lost", utilisation: "GPU is lost" }]);
    const { facts, unread } = parseQueryXmlReport(lost);
    expect(facts.gpus[0]).toMatchObject({
      failure: { kind: "failed", reason: "lost", words: "GPU is lost" },
      temperatureCelsius: null,
      utilisationPercent: null,
    });
    expect(unread).toEqual([{ field: "gpus[0]", reason: "the driver answered with an error", raw: "GPU is lost" }]);
  });

  test("a fan that cannot be read is no failed GPU", () => {
    const { facts, unread } = parseQueryXmlReport(xmlReport([{ ...secondGpu, temperature: "Unknown Error" }]));
    expect(facts.gpus[0]).toMatchObject({ failure: null, temperatureCelsius: null, powerDrawWatts: 95.2 });
    expect(unread).toEqual([
      {
        field: "gpus[0].temperatureCelsius",
        reason: "the driver answered with an error",
        raw: "Unknown Error",
      },
    ]);
  });
});
