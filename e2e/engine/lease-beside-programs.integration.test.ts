/** A lease by command on an instance where somebody's program runs, as the driver says it at that moment. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { simulatedMachine } from "../../resources/demo-cluster/driver/describe.ts";
import type { SimulatedMachine } from "../../resources/demo-cluster/driver/machine.ts";
import { SimulatedSystem } from "../../resources/demo-cluster/system/simulated-system.ts";
import { accessOf } from "../../resources/host-module/src/access/access.ts";
import { listLeases, takeLease } from "../../resources/host-module/src/control/leases.ts";
import { asOps, noon, type TemporaryLedger, temporaryLedger } from "../../resources/host-module/src/testing/ledger.ts";
import { addMember, addProject, createTenant } from "../../resources/host-module/src/testing/tenants.ts";
import type { Roles } from "../../shared/protocol/control.ts";

const max = { uid: 1003, user: "max" };
const mia = { uid: 1005, user: "mia" };

let temporary: TemporaryLedger;
let machine: SimulatedMachine;
let projectId: string;
let roles: Roles;

beforeEach(() => {
  temporary = temporaryLedger();
  const { ledger } = temporary;
  const tenantId = createTenant(ledger, asOps, { displayName: "T" }, noon).id;
  projectId = addProject(ledger, asOps, { tenantId, displayName: "P" }, noon).id;
  addMember(ledger, asOps, { projectId, account: max }, noon);
  const project = { id: projectId, displayName: "P", members: [max.uid] };
  roles = {
    revision: 1,
    administrators: [1],
    tenants: [{ id: tenantId, displayName: "T", leads: [], projects: [project] }],
  };
  machine = simulatedMachine({ gpus: [{ instances: ["3g.40gb", "2g.20gb"].map((profile) => ({ profile })) }] });
  for (const { uid, user } of [max, mia]) machine.state.users.push({ uid, gid: uid, name: user });
});
afterEach(() => temporary[Symbol.dispose]());

/** `max` as a member, or with an administrator's rights beside. */
function take(place: number, options: { administrator?: boolean; besidePrograms?: boolean } = {}) {
  const system = new SimulatedSystem(machine, { ledgerPath: temporary.path, caller: max });
  const administrators = options.administrator === true ? [1, max.uid] : [1];
  const access = accessOf(max.uid, { ...roles, administrators });
  const besidePrograms = options.besidePrograms === true;
  const input = { projectId, gpuUuid: machine.gpu(0).uuid, gpuInstanceId: instance(place), besidePrograms };
  return { taken: takeLease(system, access, input), leases: () => listLeases(system, access) };
}

function instance(place: number): number {
  const found = machine.gpu(0).instances.toSorted((a, b) => a.start - b.start)[place];
  if (found === undefined) throw new Error("the GPU has two instances");
  return found.id;
}

function run(uid: number, place: number): number {
  const gpu = { uuid: machine.gpu(0).uuid, gpuInstanceId: instance(place), computeInstanceId: 0, usedMemoryMiB: 800 };
  return machine.startProcess({ uid, command: ["python3", "train.py"], startedAtMs: 0, gpu }).pid;
}

test("refused while another's program runs there, and nothing is written; the instance beside it is free", async () => {
  const pid = run(mia.uid, 0);
  const { taken, leases } = take(0);
  await expect(taken).rejects.toMatchObject({
    code: "in-use",
    message: expect.stringContaining("runs on GPU instance"),
    remedy: expect.stringContaining("Have it ended"),
  });
  expect(leases()).toEqual([]);
  await expect(take(1).taken).resolves.toMatchObject({ gpuInstanceId: instance(1) });
  machine.endProcess(pid);
  await expect(take(0).taken).resolves.toMatchObject({ gpuInstanceId: instance(0) });
});

test("the taker's own program is no obstacle, and a leased place is said to be leased", async () => {
  run(max.uid, 0);
  await take(0).taken;
  run(mia.uid, 0);
  await expect(take(0).taken).rejects.toMatchObject({ message: "This GPU instance is leased already." });
});

test("an administrator reads whose it is, and takes it by confirming; a member's confirmation counts nothing", async () => {
  const pid = run(mia.uid, 0);
  await expect(take(0, { besidePrograms: true }).taken).rejects.toMatchObject({ code: "in-use" });
  await expect(take(0, { administrator: true }).taken).rejects.toMatchObject({
    evidence: { details: expect.stringContaining(`(pid ${pid}), user mia`) },
  });
  await expect(take(0, { administrator: true, besidePrograms: true }).taken).resolves.toMatchObject({ user: "max" });
});
