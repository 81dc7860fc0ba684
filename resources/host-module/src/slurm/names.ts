/**
 * Names that Slurm's accounting is given. sacctmgr has no quoting of its own: it folds letters to lower case, splits at
 * commas, expands `a[1-2]` to two names, writes a backquote for an apostrophe and strips double quotes (22.05, tried), and
 * takes a bare `set` or `where` for its own word. So what it would change or split is refused, with the reason, and never
 * quoted away. Everything is passed as `name=VALUE`.
 */

export type NameKind = "account" | "user" | "qos" | "cluster";

/** Longest that is taken: account, QOS and cluster ids are ours and short, user names come from LDAP. */
const longest: Readonly<Record<NameKind, number>> = { account: 40, user: 64, qos: 40, cluster: 40 };

/** Slurm's own account: it has no limits that are ours to set, and cannot be removed. */
export const rootAccount = "root";

/** Why a name is refused, one sentence; null where it is good. */
export function refuseName(kind: NameKind, name: string): string | null {
  const quoted = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}...` : name);
  const refuse = (why: string) => `The ${kind} name ${quoted} ${why}.`;
  if (name === "") return `The ${kind} name is empty.`;
  if (name.length > longest[kind]) return refuse(`is longer than ${longest[kind]} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(name)) return refuse("holds a control character");
  if (/\s/.test(name)) return refuse("holds a space");
  if (/["'`\\]/.test(name)) return refuse("holds a quote or a backslash");
  if (/[,=|]/.test(name)) return refuse("holds a comma, '=' or '|', which part values in Slurm");
  if (/[[\](){}*%]/.test(name)) return refuse("holds brackets or a wildcard, which Slurm expands");
  if (/[A-Z]/.test(name)) return refuse("has upper case letters, which Slurm folds to lower case");
  if (/^[-+]/.test(name)) return refuse("begins with a sign that Slurm or its options would take for their own");
  const allowed = kind === "user" ? /^[a-z0-9_][a-z0-9_.@+-]*$/ : /^[a-z0-9_][a-z0-9_.-]*$/;
  if (!allowed.test(name)) {
    const others = kind === "user" ? "letters a to z, digits and . _ @ + -" : "letters a to z, digits and . _ -";
    return refuse(`holds other characters than ${others}`);
  }
  return null;
}
