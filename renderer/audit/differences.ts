/** What an audit row changed, field by field, from its JSON texts. */

export interface Difference {
  /** `limits.cards`; empty where the whole is one value. */
  readonly field: string;
  /** As JSON; null where it is not there. */
  readonly before: string | null;
  readonly after: string | null;
}

/** The fields that differ, in the order of `before`, then those that are new. Text that is no JSON is compared as it is. */
export function differencesOf(before: string | null, after: string | null): readonly Difference[] {
  const [earlier, later] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...earlier.keys(), ...later.keys()])]
    .map((field) => ({ field, before: earlier.get(field) ?? null, after: later.get(field) ?? null }))
    .filter((one) => one.before !== one.after);
}

function fieldsOf(text: string | null): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  if (text === null) return fields;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fields.set("", text);
  }
  gather(value, "", fields);
  return fields;
}

/** Lists are one value: an element that moved is no change of its own. */
function gather(value: unknown, path: string, fields: Map<string, string>): void {
  // A fraction is one number.
  const isObject =
    typeof value === "object" && value !== null && !Array.isArray(value) && !Object.hasOwn(value, "numerator");
  const entries = isObject ? Object.entries(value) : [];
  if (entries.length === 0) {
    fields.set(path, JSON.stringify(value));
    return;
  }
  for (const [key, one] of entries) gather(one, path === "" ? key : `${path}.${key}`, fields);
}
