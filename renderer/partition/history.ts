/** Undo and redo over immutable values. */

export interface History<Value> {
  readonly past: readonly Value[];
  readonly present: Value;
  readonly future: readonly Value[];
}

const limit = 500;

export function startHistory<Value>(present: Value): History<Value> {
  return { past: [], present, future: [] };
}

/** One more step; what was undone before can no longer be redone. */
export function commit<Value>(history: History<Value>, next: Value): History<Value> {
  if (Object.is(next, history.present)) return history;
  return { past: [...history.past, history.present].slice(-limit), present: next, future: [] };
}

export function undo<Value>(history: History<Value>): History<Value> {
  const index = history.past.length - 1;
  if (index < 0) return history;
  const [previous] = history.past.slice(index);
  if (previous === undefined) return history;
  return { past: history.past.slice(0, index), present: previous, future: [history.present, ...history.future] };
}

export function redo<Value>(history: History<Value>): History<Value> {
  const [next, ...rest] = history.future;
  if (next === undefined) return history;
  return { past: [...history.past, history.present], present: next, future: rest };
}
