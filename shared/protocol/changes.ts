/**
 * The difference between two plain JSON values, and its application: how `watch` sends only what changed.
 * A path is a list of object keys and array indexes. Arrays of another length are replaced whole.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type Change =
  | { readonly path: readonly (string | number)[]; readonly value: Json }
  /** The key is gone. */
  | { readonly path: readonly (string | number)[]; readonly removed: true };

type JsonObject = { readonly [key: string]: Json };

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The changes that turn `before` into `after`; empty when they are equal. */
export function changesBetween(before: Json, after: Json): Change[] {
  const changes: Change[] = [];
  collect(before, after, [], changes);
  return changes;
}

function collect(before: Json, after: Json, path: readonly (string | number)[], changes: Change[]): void {
  if (Object.is(before, after)) return;
  if (isArray(before) && isArray(after) && before.length === after.length) {
    for (const [index, value] of after.entries()) collect(before[index] ?? null, value, [...path, index], changes);
    return;
  }
  if (isObject(before) && isObject(after)) {
    for (const key of Object.keys(before)) {
      if (!Object.hasOwn(after, key)) changes.push({ path: [...path, key], removed: true });
    }
    for (const [key, value] of Object.entries(after)) {
      const old = Object.hasOwn(before, key) ? before[key] : undefined;
      if (old === undefined) changes.push({ path: [...path, key], value });
      else collect(old, value, [...path, key], changes);
    }
    return;
  }
  changes.push({ path: [...path], value: after });
}

/** `target` with the changes applied; shares what did not change. Throws RangeError on a path that leads nowhere. */
export function withChanges(target: Json, changes: readonly Change[]): Json {
  let value = target;
  for (const change of changes) value = withChange(value, change, 0);
  return value;
}

function withChange(target: Json, change: Change, depth: number): Json {
  const key = change.path[depth];
  if (key === undefined) {
    if ("removed" in change) throw new RangeError("the root cannot be removed");
    return change.value;
  }
  const last = depth === change.path.length - 1;
  if (typeof key === "number") {
    const element = isArray(target) ? target[key] : undefined;
    if (!isArray(target) || element === undefined || ("removed" in change && last)) {
      throw new RangeError(`no element at ${change.path.join(".")}`);
    }
    return target.with(key, withChange(element, change, depth + 1));
  }
  if (!isObject(target)) throw new RangeError(`no object at ${change.path.join(".")}`);
  if (last && "removed" in change) {
    const { [key]: _gone, ...rest } = target;
    return rest;
  }
  const old = Object.hasOwn(target, key) ? target[key] : undefined;
  if (old === undefined && !last) throw new RangeError(`no member at ${change.path.join(".")}`);
  return { ...target, [key]: withChange(old ?? null, change, depth + 1) };
}
