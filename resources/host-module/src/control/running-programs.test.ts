import { expect, test } from "vitest";
import { toErrorData } from "../../../../shared/errors.ts";
import type { GpuProcess, HostInventory } from "../../../../shared/protocol/inventory.ts";
import { readInventory } from "../inventory/read.ts";
import { capturedSystem } from "../testing/captured-system.ts";
import { hostFiles, hostRuns } from "../testing/reports.ts";
import { refuseBesideOthers, type TakingPerson } from "./running-programs.ts";

const program = (
  user: string | null,
  gpuInstanceId: number | null,
  kind: GpuProcess["kind"] = "compute",
): GpuProcess => ({
  ...{ pid: 4242, name: "python3", user, gpuInstanceId, computeInstanceId: null },
  ...{ usedMemoryMiB: null, kind, startedAt: null },
});

const member: TakingPerson = { user: "max", administrator: false };
const administrator: TakingPerson = { user: "ops", administrator: true };

async function taking(process: GpuProcess, gpuInstanceId: number | null, person = member, confirmed = false) {
  const inventory = await readInventory(capturedSystem({ runs: hostRuns, files: hostFiles }));
  const busy: HostInventory = { ...inventory, gpus: inventory.gpus.map((gpu) => ({ ...gpu, processes: [process] })) };
  try {
    refuseBesideOthers(busy, { gpuUuid: busy.gpus[0]?.uuid ?? "", gpuInstanceId }, person, confirmed);
    return null;
  } catch (error) {
    return toErrorData(error);
  }
}

test("a member is refused with what is the matter, and not told whose it is", async () => {
  expect(await taking(program("mia", 1), 1)).toEqual({
    code: "in-use",
    message: "A program of somebody else runs on GPU instance 1 without a lease. Nothing was taken.",
    remedy: "Have it ended, or take another place. A platform administrator sees whose it is.",
  });
});

test.each([
  ["in another instance", program("mia", 2), 1, null],
  ["in an instance that the driver does not tell", program("mia", null), 1, "in-use"],
  ["in an instance of the GPU that is taken whole", program("mia", 1), null, "in-use"],
  ["that is the taker's own", program("max", 1), 1, null],
  ["of somebody who has no name here", program(null, 1), 1, "in-use"],
  ["of a desktop", program("mia", 1, "graphics"), 1, null],
] as const)("a program %s", async (_name, process, gpuInstanceId, code) => {
  expect((await taking(process, gpuInstanceId))?.code ?? null).toBe(code);
});

test("an administrator is told whose it is, and takes it by a second word; a member's second word counts nothing", async () => {
  expect((await taking(program("mia", 1), 1, administrator))?.evidence?.details).toBe("python3 (pid 4242), user mia");
  expect(await taking(program("mia", 1), 1, administrator, true)).toBeNull();
  expect((await taking(program("mia", 1), 1, member, true))?.code).toBe("in-use");
});
