/** Goals as words: `free-gpus`, `free-gpus:12`, `price:3`, `fit:1x7g.80gb,2x3g.40gb`, `fit@host:...`, `hosts`. */
import { AppError } from "../errors.ts";
import type { FitScope, Goal, WantedProfile } from "./types.ts";

const mostOfOneProfile = 100_000;

function wrongGoal(text: string, reason: string): AppError {
  return new AppError({
    code: "bad-request",
    message: `The goal ${JSON.stringify(text.slice(0, 60))} cannot be read: ${reason}.`,
    remedy: "Say free-gpus, price:3, fit:1x7g.80gb,2x3g.40gb or hosts.",
  });
}

function wantedProfiles(text: string, list: string): readonly WantedProfile[] {
  const counts = new Map<string, number>();
  for (const item of list.split(",").map((part) => part.trim())) {
    const match = /^(?:(\d{1,6})x)?(\d+g(?:\.\d+gb)?(?:[+-][a-z.]+)*)$/i.exec(item);
    if (match === null) throw wrongGoal(text, `${JSON.stringify(item)} is no profile with a number`);
    const [, number = "1", profile = ""] = match;
    const count = (counts.get(profile) ?? 0) + Number(number);
    if (Number(number) === 0 || count > mostOfOneProfile) {
      throw wrongGoal(text, `of one profile 1 to ${mostOfOneProfile} may be asked for`);
    }
    counts.set(profile, count);
  }
  return [...counts].map(([profile, count]) => ({ profile, count }));
}

const scopes: ReadonlyMap<string | undefined, FitScope> = new Map<string | undefined, FitScope>([
  [undefined, "anywhere"],
  ["host", "host"],
  ["nvlink-group", "nvlink-group"],
]);

/** Throws AppError `bad-request`. */
export function parseGoal(text: string): Goal {
  const [, name = "", scopeName, rest] = /^([a-z-]+)(?:@([a-z-]+))?(?::(.*))?$/s.exec(text.trim()) ?? [];
  const scope = scopes.get(scopeName);
  if (scope === undefined) throw wrongGoal(text, `there is no place ${JSON.stringify(scopeName)}`);
  if (name === "fit") {
    if (rest === undefined) throw wrongGoal(text, "it names no profile");
    return { kind: "fit", profiles: wantedProfiles(text, rest), scope };
  }
  if (scopeName !== undefined) throw wrongGoal(text, "only fit has a place");
  if (name === "hosts" && rest === undefined) return { kind: "hosts" };
  if (name === "free-gpus" && rest === undefined) return { kind: "free-gpus", count: null };
  if (name === "free-gpus" && rest !== undefined && /^\d{1,6}$/.test(rest)) {
    return { kind: "free-gpus", count: Number(rest) };
  }
  if (name === "price" && rest !== undefined && /^\d{1,9}(\.\d{1,6})?$/.test(rest)) {
    return { kind: "price", price: Number(rest) };
  }
  throw wrongGoal(text, "there is no such goal, or its number is missing");
}

/** The words that `parseGoal` reads back as the same goal. */
export function goalText(goal: Goal): string {
  switch (goal.kind) {
    case "free-gpus":
      return goal.count === null ? "free-gpus" : `free-gpus:${goal.count}`;
    case "price":
      return `price:${goal.price}`;
    case "fit": {
      const list = goal.profiles.map(({ profile, count }) => `${count}x${profile}`).join(",");
      return `fit${goal.scope === "anywhere" ? "" : `@${goal.scope}`}:${list}`;
    }
    case "hosts":
      return "hosts";
  }
}
