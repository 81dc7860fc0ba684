import { type ParseArgsConfig, parseArgs } from "node:util";

/** Wrong usage: exit status 2, the sentence, and how the command is used. */
export class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig["options"]>;

/** parseArgs with its complaints as UsageError, and with as many words as the command takes. */
export function parseCommand<const O extends Options>(
  args: readonly string[],
  options: O,
  words: { readonly least: number; readonly most: number; readonly what?: string } = { least: 0, most: 0 },
) {
  const parsed = strictly(args, options);
  const count = parsed.positionals.length;
  if (count < words.least) throw new UsageError(`${words.what ?? "A word"} is missing.`);
  if (count > words.most) throw new UsageError(`What is ${JSON.stringify(parsed.positionals[words.most])} for?`);
  return parsed;
}

function strictly<const O extends Options>(args: readonly string[], options: O) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new UsageError(text.split(". To specify")[0] ?? text);
  }
}

/** Of a request in a file or on standard input: 64 GPUs with all their compute instances are a tenth of it. */
export const largestWishBytes = 4 * 1024 * 1024;
