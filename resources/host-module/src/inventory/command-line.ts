/** What a command line of nvidia-smi asked for. */

/** The GPU of `-i N`; null without `-i`, and where it is a UUID, a bus id or a list. */
export function askedIndex(argv: readonly string[] | null): number | null {
  if (argv === null) return null;
  const at = argv.findIndex((word) => word === "-i" || word === "--id");
  const value = at >= 0 ? argv[at + 1] : argv.find((word) => word.startsWith("--id="))?.slice(5);
  return value !== undefined && /^\d{1,4}$/.test(value) ? Number(value) : null;
}

/** The fields of `--query-gpu=a,b`, for output without header. */
export function queriedFields(argv: readonly string[] | null): readonly string[] | null {
  const query = argv?.find((word) => /^--query-[\w-]+=/.test(word));
  return query === undefined
    ? null
    : query
        .slice(query.indexOf("=") + 1)
        .split(",")
        .map((field) => field.trim());
}
