import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { simulatedMachine } from "./describe.ts";
import { nvidiaSmi } from "./nvidia-smi.ts";

const samples = join(import.meta.dirname, "../../../../shared/samples/nvsmi/genuine-550");
const present = existsSync(samples);
if (!present) console.log(`samples.test: skipped, the genuine tool's outputs are not at ${samples}`);

/** Eight idle H100 as in the captured outputs. */
function machine() {
  const eight = simulatedMachine({
    gpus: Array.from({ length: 8 }, (_, index) => ({ uuid: `GPU-01000100-0000-0000-0000-00000000000${index}` })),
  });
  for (const gpu of eight.state.gpus) gpu.powerWatts = 95;
  return eight;
}

const withoutTime = (text: string): string =>
  text
    .replace(/^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}(?= {7}$)/gm, "TIME")
    .replace(/(Timestamp +: )\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}/g, "$1TIME");

const cases: readonly (readonly [file: string, argv: string])[] = [
  ["rb-cli-version-550.txt", "--version"],
  ["rb-cli-pm-550.txt", "-i 0 -pm 1"],
  ["rb-cli-csv-noheader-550.txt", "--query-gpu=index,name,memory.total,mig.mode.current --format=csv,noheader"],
  ["rb-cli-csv-nounits-550.txt", "--query-gpu=index,name,memory.total,mig.mode.current --format=csv,nounits"],
  ["rb-cli-ok-i-list-550.txt", "--query-gpu=index,uuid --format=csv,noheader -i 0,1"],
  ["rb-cli-err-bad-format-550.txt", "--query-gpu=index --format=nosuch"],
  ["rb-cli-err-bad-query-field-550.txt", "--query-gpu=nosuch --format=csv"],
  ["rb-cli-err-query-noformat-550.txt", "--query-gpu=index"],
  ["rb-cli-err-i-bad-550.txt", "-i 99"],
  ["rb-cli-err-i-comma-550.txt", "-L -i 0,1"],
  ["rb-cli-err-mig-bad-550.txt", "mig -nosuch"],
  ["rb-cli-err-mig-cci-noarg-550.txt", "mig -cci"],
  ["rb-cli-err-mig-cgi-noarg-550.txt", "mig -cgi"],
  ["rb-cli-err-mig-mode-2-550.txt", "-i 0 -mig 2"],
  ["rb-cli-err-mig-mode-word-550.txt", "-i 0 -mig on"],
  ["rb-cli-err-unknown-flag-550.txt", "--nosuch"],
  ["rb-cli-err-unknown-sub-550.txt", "nosuch"],
  ["rb-cli-q-d-bad-550.txt", "-q -d nosuch"],
  ["rb-cli-q-d-compute-550.txt", "-q -d COMPUTE"],
  ["rb-cli-q-d-ecc-550.txt", "-q -d ECC"],
  ["rb-cli-q-d-mem-550.txt", "-q -d MEMORY"],
  ["rb-cli-q-d-pids-550.txt", "-q -d PIDS"],
  ["rb-cli-q-d-row-remap-550.txt", "-q -d ROW_REMAPPER"],
  ["rb-cli-qx-d-mem-550.txt", "-q -x -d MEMORY"],
  ["rb-mock-h100-L-550.txt", "-L"],
  ["rb-mock-h100-table-550.txt", ""],
  ["rb-mock-h100-topo_-m-550.txt", "topo -m"],
  ["rb-mock-h100-nvlink_-s-550.txt", "nvlink -s"],
  [
    "rb-mock-h100--query-gpu_index_name_uuid_mig.mode.current-550.txt",
    "--query-gpu=index,name,uuid,mig.mode.current,mig.mode.pending,memory.total,memory.used,memory.free,utilization.gpu,temperature.gpu,power.draw,driver_version,compute_mode,ecc.mode.current,pci.bus_id --format=csv",
  ],
  [
    "rb-mock-a100--query-compute-apps_gpu_uuid_pid_process_na-550.txt",
    "--query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory --format=csv",
  ],
];

describe.skipIf(!present)("single outputs of the genuine tool", () => {
  it.each(cases)("%s", (file, argv) => {
    const answer = nvidiaSmi(
      machine(),
      argv.split(" ").filter((word) => word !== ""),
      true,
    );
    expect(withoutTime(answer.stdout)).toBe(withoutTime(readFileSync(join(samples, file), "utf8")));
  });

  it("says what a machine without the library says", () => {
    const bare = machine();
    bare.state.initialisation = "no-library";
    const answer = nvidiaSmi(bare, ["-L"], true);
    expect(answer.stdout.trim()).toBe(readFileSync(join(samples, "rb-nolib-550.txt"), "utf8").trim());
    expect(answer.exitStatus).toBe(12);
  });
});
