/** The embedded engine of the demo cluster: its leases, and the simulated work of all hosts as if it were leased. */
import type { AllocationView } from "../../../shared/protocol/control.ts";
import { periodsAbove } from "../../host-module/src/engine/quota-tree.ts";
import type { System } from "../../host-module/src/system.ts";
import type { SimulatedMachine } from "../driver/machine.ts";
import { type Governance, jobOf, type PastWork, usageOf, workOf } from "./governance.ts";

export function demoEngine(
  machines: readonly SimulatedMachine[],
  governance: Pick<Governance, "subjectOf">,
): NonNullable<System["engine"]> {
  const look = lookingBack(() => workOf(machines, governance));
  return async (ledger) => {
    const [{ localEngine }, { sumOf }] = await Promise.all([
      import("../../host-module/src/engine/local/local-engine.ts"),
      import("../../host-module/src/engine/local/leases.ts"),
    ]);
    const [first] = machines;
    const now = () => first?.now() ?? new Date();
    // Of the system it asks for the time and the name only, and for who gives leases back.
    const engine = localEngine(ledger, {
      now,
      hostName: first?.state.hostName ?? "",
      caller: { uid: 0, user: "root" },
    });
    return {
      ...engine,
      allocations: async (people) => [...(await engine.allocations(people)), ...workOf(machines, governance)],
      usage: async (people, periodOf) => {
        const leased = await engine.usage(people, periodOf);
        const { work, past } = look(now().getTime());
        const simulated = usageOf(work, past, (subject) => periodsAbove(subject, periodOf), now());
        const subjects = new Set([...leased.keys(), ...simulated.keys()]);
        return new Map(
          [...subjects].map((id) => {
            const { cardHours = [], ...amounts } = simulated.get(id) ?? {};
            return [id, sumOf(leased.get(id) ?? {}, amounts, cardHours)];
          }),
        );
      },
      // A cancelled program has ended.
      cancel: async (ids) => {
        const jobs = new Set(ids);
        for (const machine of machines) {
          for (const process of [...machine.state.processes]) {
            if (jobs.has(jobOf(process.environment) ?? String(process.pid))) machine.endProcess(process.pid);
          }
        }
        await engine.cancel(ids.filter((id) => id.startsWith("l")));
      },
    };
  };
}

/** What was there at the last look and is there no more has ended. */
function lookingBack(
  work: () => readonly AllocationView[],
): (atMs: number) => { readonly work: readonly AllocationView[]; readonly past: readonly PastWork[] } {
  let before: readonly AllocationView[] = [];
  const past: PastWork[] = [];
  return (atMs) => {
    const now = work();
    const running = new Set(now.map(keyOf));
    past.push(
      ...before.filter((each) => !running.has(keyOf(each))).map((allocation) => ({ allocation, endedAtMs: atMs })),
    );
    before = now;
    return { work: now, past };
  };
}

function keyOf({ id, hosts, startedAt }: AllocationView): string {
  return `${id} ${hosts} ${startedAt}`;
}
