import { expect, test } from "vitest";
import { parseMigModes } from "./mig-mode.ts";

const gpu3 = { gpuIndex: 3, uuid: "GPU-0a", pciBusId: null, current: "disabled", pending: "enabled" };

test("a pending mode is told apart from the current one", () => {
  const output = "index, uuid, mig.mode.current, mig.mode.pending\r\n3, GPU-0a, Disabled, Enabled\r\n";
  expect(parseMigModes(output)).toEqual({ facts: [gpu3], unread: [] });
});

test("without header the columns are the ones we ask for", () => {
  expect(parseMigModes("3, GPU-0a, Disabled, Enabled\n").facts).toEqual([gpu3]);
});

test("[N/A] is a GPU without MIG, an error word is unknown and listed", () => {
  const output = "index, mig.mode.current, mig.mode.pending\n0, [N/A], [N/A]\n1, [Unknown Error], Enabled\n";
  expect(parseMigModes(output)).toEqual({
    facts: [
      { gpuIndex: 0, uuid: null, pciBusId: null, current: "not-supported", pending: "not-supported" },
      { gpuIndex: 1, uuid: null, pciBusId: null, current: null, pending: "enabled" },
    ],
    unread: [{ field: "mig.mode.current", reason: "the driver answered with an error", raw: "[Unknown Error]" }],
  });
});

test("a failure has no rows", () => {
  expect(parseMigModes("Unable to determine the device handle for GPU0: GPU is lost.\n").facts).toEqual([]);
});
