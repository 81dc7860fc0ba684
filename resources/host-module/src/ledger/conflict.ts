import { AppError, type FieldChange } from "../../../../shared/errors.ts";
import type { Prepare } from "./prepare.ts";

/**
 * The later of two edits is refused with what was changed since the version it was made against: which fields, from what
 * to what, by whom and when. All of that is in the audit.
 */
export function conflict(prepare: Prepare, name: string, basedOn: number): AppError {
  const changes = changesSince(prepare, name, basedOn);
  const removed = changes.at(-1)?.after === null;
  return new AppError({
    code: "conflict",
    message: `${thing(prepare, name)} ${removed ? "removed" : "changed"} since you opened it.`,
    remedy: "Nothing was changed. Look at what changed, then make your edit again on top of it.",
    evidence: { details: changes.map(inWords).join("\n"), changedMeanwhile: changes },
  });
}

/** An object was there already that somebody wanted to add. */
export function alreadyThere(prepare: Prepare, name: string): AppError {
  const changes = changesSince(prepare, name, 0).slice(-1);
  return new AppError({
    code: "conflict",
    message: `${thing(prepare, name)} there already.`,
    remedy: "Nothing was changed. Edit the one that is there.",
    evidence: {
      details: changes.map((change) => `Last changed by ${change.by} at ${change.at}.`).join("\n"),
    },
  });
}

/** `The project Detection was`, by the name that people know; by its id where it has none. */
function thing(prepare: Prepare, name: string): string {
  const [kind = "", id = "", ...rest] = name.split("/");
  const called = [displayNameOf(prepare, id) ?? id, ...rest].filter((part) => part !== "").join("/");
  return kind === "limits" ? `The limits of ${called} were` : `The ${kind} ${called} was`;
}

function displayNameOf(prepare: Prepare, id: string): string | null {
  for (const table of ["tenants", "projects"]) {
    const row = prepare(`SELECT "displayName" FROM "${table}" WHERE "id" = ?`).get(id);
    if (typeof row?.displayName === "string") return row.displayName;
  }
  return null;
}

const rowsSince = `SELECT "at", "uid", "user", "before", "after" FROM audit
  WHERE "object" = ? AND "seq" > ? AND "outcome" = 'done' ORDER BY "seq"`;

function changesSince(prepare: Prepare, name: string, version: number): readonly FieldChange[] {
  return prepare(rowsSince)
    .all(name, version)
    .flatMap((row) => {
      const by = typeof row.user === "string" ? row.user : String(row.uid);
      const before = fieldsOf(row.before);
      const after = fieldsOf(row.after);
      return [...new Set([...before.keys(), ...after.keys()])]
        .filter((field) => before.get(field) !== after.get(field))
        .map((field) => ({
          field,
          before: before.get(field) ?? null,
          after: after.get(field) ?? null,
          by,
          at: String(row.at),
        }));
    });
}

/** Each field with its value as JSON; the version is no field that anybody edits. */
function fieldsOf(text: unknown): ReadonlyMap<string, string> {
  const value: unknown = typeof text === "string" ? JSON.parse(text) : null;
  if (typeof value !== "object" || value === null) return new Map();
  return new Map(
    Object.entries(value)
      .filter(([field]) => field !== "version")
      .map(([field, content]) => [field, JSON.stringify(content)]),
  );
}

function inWords(change: FieldChange): string {
  return `${change.field}: ${change.before ?? "nothing"} -> ${change.after ?? "nothing"}, by ${change.by} at ${change.at}`;
}
