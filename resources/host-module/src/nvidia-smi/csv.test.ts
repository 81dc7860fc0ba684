import { describe, expect, test } from "vitest";
import { parseCsv } from "./csv.ts";
import { observeComputeApps, observeGpus } from "./csv-report.ts";
import { nothingObserved } from "./observation.ts";

function gpusOf(output: string, fields?: readonly string[]) {
  const table = parseCsv(output, fields).facts;
  return table === null ? null : observeGpus(table);
}

describe("--query-gpu", () => {
  test("with header and units", () => {
    const output = `index, uuid, name, memory.total [MiB], memory.used [MiB], utilization.gpu [%], power.draw [W], temperature.gpu, ecc.errors.uncorrected.volatile.total, remapped_rows.pending, remapped_rows.failure
0, GPU-0a, NVIDIA H100 NVL, 95830 MiB, 12 MiB, [N/A], 61.62 W, 39, 0, No, No
1, GPU-1b, NVIDIA H100 NVL, 95830 MiB, 0 MiB, [Unknown Error], [GPU is lost], [GPU is lost], [GPU is lost], [N/A], [N/A]
`;
    expect(gpusOf(output)).toEqual({
      facts: {
        driverVersion: null,
        gpus: [
          {
            ...nothingObserved,
            index: 0,
            uuid: "GPU-0a",
            name: "NVIDIA H100 NVL",
            memoryTotalMiB: 95830,
            memoryUsedMiB: 12,
            powerDrawWatts: 61.62,
            temperatureCelsius: 39,
            volatileUncorrected: 0,
            memoryRepair: "none",
          },
          {
            ...nothingObserved,
            index: 1,
            uuid: "GPU-1b",
            name: "NVIDIA H100 NVL",
            failure: { kind: "failed", reason: "lost", words: "[GPU is lost]" },
            memoryTotalMiB: 95830,
            memoryUsedMiB: 0,
          },
        ],
      },
      unread: [{ field: "gpus[1]", reason: "the driver answered with an error", raw: "[GPU is lost]" }],
    });
  });

  test("without header: by the fields that were asked for, else only what cannot be anything else", () => {
    const output = "0, NVIDIA H100 80GB HBM3, 81920 MiB, Disabled\n1, NVIDIA H100 80GB HBM3, 81920 MiB, Disabled\n";
    const asked = gpusOf(output, ["index", "name", "memory.total", "mig.mode.current"]);
    const gpu = { ...nothingObserved, name: "NVIDIA H100 80GB HBM3" };
    expect(asked?.facts.gpus).toEqual([
      { ...gpu, index: 0, memoryTotalMiB: 81920, migCurrent: "disabled" },
      { ...gpu, index: 1, memoryTotalMiB: 81920, migCurrent: "disabled" },
    ]);
    expect(gpusOf(output)?.facts.gpus).toEqual([
      { ...gpu, index: 0 },
      { ...gpu, index: 1 },
    ]);
  });

  test("a sentinel is no utilisation, and more than 100 is none either", () => {
    const output = "index, utilization.gpu [%], utilization.memory [%]\n0, 18446744073709551615 %, 120 %\n";
    expect(gpusOf(output)).toEqual({
      facts: { driverVersion: null, gpus: [{ ...nothingObserved, index: 0 }] },
      unread: [
        {
          field: "gpus[0].utilisationPercent",
          reason: "a value that the driver never filled in",
          raw: "18446744073709551615 %",
        },
        { field: "gpus[0].memoryUtilisationPercent", reason: "out of range", raw: "120 %" },
      ],
    });
  });

  test("a cut row is left out and listed", () => {
    const { facts, unread } = parseCsv("index, uuid, name\n0, GPU-0a, NVIDIA L4\n1, GPU-1");
    expect(facts?.rows).toHaveLength(1);
    expect(unread).toEqual([{ field: "row", reason: "2 values where 3 were asked for", raw: "1, GPU-1" }]);
  });

  test("names of fields one below another are no table", () => {
    expect(parseCsv("timestamp\ndriver_version\nmemory.total\n").facts).toBeNull();
  });
});

test("--query-compute-apps: names may hold commas; an empty listing proves nothing about graphics", () => {
  const output = `gpu_uuid, pid, process_name, used_gpu_memory [MiB]
GPU-0a, 21180, python train.py --lr=1, 2, 2296 MiB
GPU-1b, [N/A], [N/A], [N/A]
`;
  const table = parseCsv(output).facts;
  expect(table === null ? null : observeComputeApps(table).facts).toEqual([
    {
      ...nothingObserved,
      uuid: "GPU-0a",
      processes: [
        {
          pid: 21180,
          name: "python train.py --lr=1, 2",
          kind: "compute",
          usedMemoryMiB: 2296,
          gpuInstanceId: null,
          computeInstanceId: null,
        },
      ],
    },
    { ...nothingObserved, uuid: "GPU-1b" },
  ]);
});

test.each([
  ["gpu_uuid, pid, gpu_utilization [%], max_memory_usage [MiB], time [ms]", "query-accounted-apps"],
  ["gpu_name, gpu_uuid, retired_pages.address, retired_pages.cause", "query-retired-pages"],
  ["gpu_name, pid, used_gpu_memory [MiB]", "query-compute-apps"],
  ["index, retired_pages.pending", "query-gpu"],
])("%s is %s", (header, query) => {
  expect(parseCsv(`${header}\n`).facts?.query).toBe(query);
});
