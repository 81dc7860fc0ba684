import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { quoteArguments } from "./quote.ts";

test.skipIf(process.platform === "win32")("a shell takes the words apart as they were put in", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: "binary" }).map((text) => text.replaceAll("\0", "").toWellFormed()),
        { maxLength: 5 },
      ),
      (argv) => {
        const command = `printf '%s\\0' ${quoteArguments(["first", ...argv])}`;
        const printed = execFileSync("sh", ["-c", command], { encoding: "utf8" });
        expect(printed.split("\0").slice(0, -1)).toEqual(["first", ...argv]);
      },
    ),
    { numRuns: 20 },
  );
});

test("plain words stay readable", () => {
  expect(quoteArguments(["nvidia-smi", "--query-gpu=index", "a b", "~", "=x", ""])).toBe(
    "nvidia-smi --query-gpu=index 'a b' '~' '=x' ''",
  );
});
