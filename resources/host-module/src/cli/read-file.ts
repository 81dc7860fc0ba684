import { constants } from "node:fs";
import { fileSystem } from "../operating-system/builtin.ts";

/** The text of a plain file. A device, a pipe or something huge must not hold or fill a process of root's: it throws. */
export async function readPlainFile(path: string, mostBytes: number): Promise<string> {
  const file = await fileSystem().open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const status = await file.stat();
    if (!status.isFile() || status.size > mostBytes) throw new Error("no file of a sensible size");
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
