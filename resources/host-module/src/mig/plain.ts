/**
 * Plain data without `undefined` members. zod types an optional member as `T | undefined`, our own types do not allow the
 * `undefined`; data that came out of JSON never has it, and this makes sure of it.
 */
export function withoutUndefined<T>(data: unknown): T {
  return JSON.parse(JSON.stringify(data)) as T;
}
