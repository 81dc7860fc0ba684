import { beforeEach, expect, test, vi } from "vitest";
import type { ControlState } from "../../shared/api/contract.ts";
import type { Client } from "../client/index.ts";
import { followControl, useControlStore } from "./control.ts";

const ready: ControlState = {
  controlHostId: "a",
  state: "ready",
  me: null,
  error: null,
  ledgerRevision: 1,
  usageRevision: 1,
  rolesBehind: [],
};
let tell: (state: ControlState) => void;
let close: () => void;
const request = vi.fn();
beforeEach(() => {
  request.mockReset();
  let revision = 0;
  request.mockImplementation(async () => {
    revision += 1;
    return { revision, tenants: [], administrators: [] };
  });
  const subscribe = (_name: string, _input: unknown, onEvent: (state: ControlState) => void) => {
    tell = onEvent;
    return () => undefined;
  };
  close = followControl("lab", { request, subscribe } as unknown as Client);
});

test("the organisation is fetched anew when the ledger changes, and not when only usage does", async () => {
  tell(ready);
  await vi.waitFor(() => expect(useControlStore.getState().organisation).toMatchObject({ revision: 1 }));
  tell({ ...ready, usageRevision: 2 });
  expect(request).toHaveBeenCalledTimes(1);
  tell({ ...ready, ledgerRevision: 2 });
  await vi.waitFor(() => expect(useControlStore.getState().organisation).toMatchObject({ revision: 2 }));
  expect(request).toHaveBeenCalledTimes(2);
});

test("without a ledger nothing is asked for; closing forgets what was held", async () => {
  tell({ ...ready, state: "no-ledger" });
  expect(request).not.toHaveBeenCalled();
  tell(ready);
  await vi.waitFor(() => expect(useControlStore.getState().organisation).not.toBeNull());
  close();
  expect(useControlStore.getState()).toEqual({ control: null, organisation: null, error: null });
});
