import { afterEach, expect, test } from "vitest";
import type { ControlState } from "../../shared/api/contract.ts";
import type { Me } from "../../shared/protocol/control.ts";
import { useControlStore } from "../stores/control.ts";
import { decideMayPartition, mayPartition } from "./may-partition.ts";

const as = (role: Me["role"], open = false): Pick<ControlState, "state" | "me"> => ({
  state: "ready",
  me: {
    ...{ uid: 1, user: "a", role, leads: [], projects: [], open },
    ...{ ledger: true, rolesRevision: 1, rolesConfirmedAt: null, engine: "slurm" },
  },
});

afterEach(() => useControlStore.setState({ control: null }));

test("partitioning is an administrator's, and everybody's where nobody has been named one or there is no ledger", () => {
  expect(
    (["administrator", "lead", "member", "none"] as const).map((role) => decideMayPartition(as(role), true)),
  ).toEqual([true, false, false, false]);
  expect(decideMayPartition(as("none", true), false)).toBe(true);
  expect(
    (["none", "no-ledger", "failed"] as const).map((state) => decideMayPartition({ state, me: null }, false)),
  ).toEqual([true, true, true]);
});

test("nothing is offered before the role is known; what was known goes on while the ledger's host is connected anew", () => {
  const tell = (control: Pick<ControlState, "state" | "me">) =>
    useControlStore.setState({
      control: { controlHostId: "a", error: null, ledgerRevision: 1, usageRevision: 1, rolesBehind: [], ...control },
    });
  const connecting = { state: "connecting", me: null } as const;
  tell(connecting);
  expect(mayPartition()).toBe(false);
  tell(as("administrator"));
  tell(connecting);
  expect(mayPartition()).toBe(true);
  tell(as("member"));
  tell(connecting);
  expect(mayPartition()).toBe(false);
});
