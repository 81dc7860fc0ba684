import { capturedSystem } from "../../inventory/captured-system.ts";
import { runCommandLine } from "../run.ts";

/** One command of `tessera-host`, with what it wrote. */
export async function run(...args: readonly string[]) {
  const out: string[] = [];
  const error: string[] = [];
  const status = await runCommandLine(
    args,
    capturedSystem({ hostName: "gpu1" }),
    {
      out: (text) => void out.push(text),
      error: (text) => void error.push(text),
      readInput: async () => "{}",
      signal: new AbortController().signal,
    },
    { bundle: "/checkout/main.ts", runtime: "/usr/bin/node" },
  );
  return { status, out: out.join("\n"), error: error.join("\n") };
}
