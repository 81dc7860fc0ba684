import { describe, expect, test } from "vitest";
import { nvlinkStatus, topologyMatrix } from "../testing/reports.ts";
import { parseDeviceMonitor, parseProcessMonitor } from "./monitor.ts";
import { parseNvlinks } from "./nvlink.ts";
import { nothingObserved } from "./observation.ts";
import { parseTopology } from "./topology.ts";
import { parseVersion } from "./version.ts";

describe("topo -m", () => {
  test("each pair once, NICs by their name, escape sequences gone", () => {
    expect(parseTopology(topologyMatrix)).toEqual({
      facts: {
        links: [
          { a: "GPU0", b: "GPU1", kind: "NVLINK", nvlinkCount: 18 },
          { a: "GPU0", b: "mlx5_0", kind: "PIX", nvlinkCount: null },
          { a: "GPU1", b: "mlx5_0", kind: "SYS", nvlinkCount: null },
        ],
        gpus: [
          { index: 0, cpuAffinity: "0-31", numaNode: 0 },
          { index: 1, cpuAffinity: "32-63", numaNode: 1 },
        ],
        nics: ["mlx5_0"],
      },
      unread: [],
    });
  });

  test("a single GPU without NUMA", () => {
    const { facts } = parseTopology(
      "\t\u001b[4mGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u001b[0m\nGPU0\t X \t\t\t\tN/A\n",
    );
    expect(facts).toEqual({ links: [], gpus: [{ index: 0, cpuAffinity: null, numaNode: null }], nics: [] });
  });

  test("a cut row keeps the links that it names", () => {
    const cut = "\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4";
    const { facts, unread } = parseTopology(cut);
    expect(facts.links).toEqual([{ a: "GPU0", b: "GPU1", kind: "NVLINK", nvlinkCount: 4 }]);
    expect(unread).toEqual([{ field: "links of GPU0", reason: "the row is cut", raw: "GPU0\t X \tNV4" }]);
  });
});

describe("nvlink", () => {
  test("-s: links that are up, and a GPU in MIG mode that does not tell", () => {
    expect(parseNvlinks(nvlinkStatus).facts).toEqual([
      { index: 0, uuid: "GPU-0a", active: null, total: null, errors: null },
      { index: 1, uuid: "GPU-1b", active: 1, total: 2, errors: null },
    ]);
  });

  test("-c, -e: the number of links, and errors summed up", () => {
    const counters =
      "GPU 0: X (UUID: GPU-0a)\n\t Link 0: Replay Errors: 1\n\t Link 0: CRC Errors: 2\n\t Link 1: CRC Errors: 0\n";
    expect(parseNvlinks(counters).facts).toEqual([{ index: 0, uuid: "GPU-0a", active: null, total: 2, errors: 3 }]);
    const capabilities =
      "GPU 0: X (UUID: GPU-0a)\n\t Link 0, P2P is supported: true\n\t Link 0, Link is supported: true\n";
    expect(parseNvlinks(capabilities).facts).toEqual([
      { index: 0, uuid: "GPU-0a", active: null, total: 1, errors: null },
    ]);
  });

  test("a GPU that has none has none", () => {
    expect(parseNvlinks("GPU 0: X (UUID: GPU-0a)\nDevice does not have or support Nvlink\n").facts).toEqual([
      { index: 0, uuid: "GPU-0a", active: 0, total: 0, errors: null },
    ]);
  });
});

describe("dmon and pmon", () => {
  test("dmon: the newest sample of each GPU; a dash is unknown", () => {
    const samples = `# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec
# Idx      W      C      C      %      %      %      %
    0     69     41     45     12      3      0      0
    1    439     55     61      -      -      -      -
    0     70     42     45     99      4      0      0
    1    440     5
`;
    expect(parseDeviceMonitor(samples)).toEqual({
      facts: [
        {
          ...nothingObserved,
          index: 0,
          powerDrawWatts: 70,
          temperatureCelsius: 42,
          utilisationPercent: 99,
          memoryUtilisationPercent: 4,
        },
        { ...nothingObserved, index: 1, powerDrawWatts: 439, temperatureCelsius: 55 },
      ],
      unread: [{ field: "sample", reason: "the row is cut", raw: "    1    440     5" }],
    });
  });

  test("pmon: each process once, names with blanks", () => {
    const samples = `# gpu         pid   type     sm    mem    enc    dec    jpg    ofa    command
# Idx           #    C/G      %      %      %      %      %      %    name
    0      21180     C     10      -      -      -      -      -    NVIDIA Share.exe
    0      21180     C     20      -      -      -      -      -    NVIDIA Share.exe
    1          -     -      -      -      -      -      -      -    -
`;
    const process = { kind: "compute", usedMemoryMiB: null, gpuInstanceId: null, computeInstanceId: null };
    expect(parseProcessMonitor(samples).facts).toEqual([
      { ...nothingObserved, index: 0, processes: [{ pid: 21180, name: "NVIDIA Share.exe", ...process }] },
      { ...nothingObserved, index: 1, processes: [] },
    ]);
  });
});

test("--version, before and since the old names were deprecated", () => {
  expect(
    parseVersion("NVIDIA-SMI version  : 595.80\nDRIVER version      : 595.80\nCUDA Version        : 13.2\n"),
  ).toEqual({
    driverVersion: "595.80",
    cudaVersion: "13.2",
  });
  const deprecated = `NVIDIA-SMI version  : 610.62
DRIVER version      : Deprecated, see "KMD version" instead
CUDA version        : Deprecated, see "CUDA UMD version" instead
KMD version         : 610.62
CUDA UMD version    : 13.3
`;
  expect(parseVersion(deprecated)).toEqual({ driverVersion: "610.62", cudaVersion: "13.3" });
});
