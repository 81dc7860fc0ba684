import { expect, test } from "vitest";
import { capturedSystem } from "../testing/captured-system.ts";
import { inTurn, runNvidiaSmi } from "./run.ts";

test("one command at a time on a host, also after one that failed", async () => {
  const system = capturedSystem({ runs: { "nvidia-smi -L": "GPU 0: X (UUID: GPU-0a)\n" } });
  const order: string[] = [];
  let finish = () => {};
  const first = inTurn(
    system,
    () =>
      new Promise<void>((resolve) => {
        order.push("first begins");
        finish = () => {
          order.push("first ends");
          resolve();
        };
      }),
  );
  const broken = inTurn(system, () => Promise.reject(new Error("broken"))).catch(() => order.push("broken"));
  const list = runNvidiaSmi(system, ["-L"]).then((result) => order.push(`list ${result.exitStatus}`));
  await new Promise((resolve) => setImmediate(resolve));
  expect(system.calls).toEqual([]);
  finish();
  await Promise.all([first, broken, list]);
  expect(order).toEqual(["first begins", "first ends", "broken", "list 0"]);
});
