/** A draft that outlasts the page: kept for one cluster and one user, with the versions that it was based on. */
import { parseLimits } from "../../shared/quota/index.ts";
import { type DraftedLimits, emptyDraft, type QuotaDraft } from "./draft.ts";

export interface DraftKeeper {
  read(): QuotaDraft;
  /** Answers whether it is kept now. */
  write(draft: QuotaDraft): boolean;
}

type Entry = readonly [string, DraftedLimits];

function entryOf(value: unknown): Entry | null {
  if (!Array.isArray(value)) return null;
  const [subject, limits, basedOn]: readonly unknown[] = value;
  if (typeof subject !== "string" || typeof basedOn !== "number") return null;
  const parsed = parseLimits(limits);
  return parsed.ok ? [subject, { limits: parsed.value, basedOn }] : null;
}

/** The draft as text; null where it is empty. */
export function draftText(draft: QuotaDraft): string | null {
  if (draft.size === 0) return null;
  return JSON.stringify([...draft].map(([subject, { limits, basedOn }]) => [subject, limits, basedOn]));
}

/** What `draftText` wrote; what cannot be read is left out. */
export function draftOf(text: string | null): QuotaDraft {
  if (text === null) return emptyDraft;
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value)) return emptyDraft;
    return new Map(value.map(entryOf).filter((entry) => entry !== null));
  } catch {
    return emptyDraft;
  }
}

/** In the page's storage. A storage that is full or forbidden keeps nothing. */
export function draftKeeper(storage: () => Storage, clusterId: string, uid: number): DraftKeeper {
  const key = `tessera.quota-draft ${clusterId} ${uid}`;
  return {
    read: () => {
      try {
        return draftOf(storage().getItem(key));
      } catch {
        return emptyDraft;
      }
    },
    write: (draft) => {
      const text = draftText(draft);
      try {
        if (text === null) storage().removeItem(key);
        else storage().setItem(key, text);
        return true;
      } catch {
        return text === null;
      }
    },
  };
}
