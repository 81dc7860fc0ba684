/** The language of the find field: words that must all occur, each perhaps only in one kind of name. */

export const fields = [
  "host",
  "rack",
  "gpu",
  "model",
  "tenant",
  "project",
  "user",
  "job",
  "profile",
  "process",
  "state",
] as const;
export type Field = (typeof fields)[number];

export interface Term {
  /** Null: anywhere. */
  readonly field: Field | null;
  /** Lower case. */
  readonly word: string;
}

export type Query = readonly Term[];

function isField(name: string): name is Field {
  return fields.some((field) => field === name);
}

/** `nlp job:48211 "li wei"`; null where nothing is asked. */
export function parseQuery(text: string): Query | null {
  const terms: Term[] = [];
  for (const [, prefix, quoted, plain] of text.matchAll(/(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi)) {
    const name = prefix?.toLowerCase() ?? "";
    const word = (quoted ?? plain ?? "").toLowerCase();
    if (prefix !== undefined && !isField(name)) {
      // Not one of our fields: a colon belongs to the word, as in a PCI address.
      terms.push({ field: null, word: `${name}:${word}` });
    } else if (word !== "") terms.push({ field: isField(name) ? name : null, word });
  }
  return terms.length === 0 ? null : terms;
}
