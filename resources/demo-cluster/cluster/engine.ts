/** The embedded engine of the demo cluster: its leases, and the simulated work of all hosts as if it were leased. */
import { periodsAbove } from "../../host-module/src/engine/quota-tree.ts";
import type { System } from "../../host-module/src/system.ts";
import type { SimulatedMachine } from "../driver/machine.ts";
import { type Governance, jobOf, usageOf, workOf } from "./governance.ts";

export function demoEngine(
  machines: readonly SimulatedMachine[],
  governance: Pick<Governance, "subjectOf">,
): NonNullable<System["engine"]> {
  return async (ledger) => {
    const { localEngine } = await import("../../host-module/src/engine/local/local-engine.ts");
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
        const work = usageOf(workOf(machines, governance), (subject) => periodsAbove(subject, periodOf), now());
        return new Map([...leased, ...work]);
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
