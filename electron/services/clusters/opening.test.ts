import { expect, test } from "vitest";
import { Opening } from "./opening.ts";

test("the rest is asked for once every host has shown its GPUs or failed", () => {
  const opening = new Opening();
  const asked: string[] = [];
  const seen = (hostId: string) => opening.seen(hostId, () => asked.push(hostId));
  for (const hostId of ["a", "b", "c"]) opening.begin(hostId);
  seen("a");
  seen("b");
  expect(asked).toEqual([]);
  // It went away again before the last one came.
  opening.left("b");
  opening.left("c");
  expect(asked).toEqual(["a"]);
  opening.begin("c");
  seen("c");
  expect(asked).toEqual(["a", "c"]);
});
