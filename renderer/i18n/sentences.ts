/**
 * Sentences taken apart once. i18next chooses the sentence of a key and its plural form; putting the values in is left to
 * us, since its own way costs tens of microseconds a call and a table has hundreds of calls.
 */

/** Texts and the names of values in turn: a text stands first and last. */
type Sentence = readonly string[];

export type Values = Readonly<Record<string, string | number>>;

const placeholder = /\{\{(\w+)\}\}/;

function fill(sentence: Sentence, values: Values): string {
  let text = sentence[0] ?? "";
  for (let at = 1; at < sentence.length; at += 2) {
    const name = sentence[at] ?? "";
    text += `${Object.hasOwn(values, name) ? values[name] : `{{${name}}}`}${sentence[at + 1] ?? ""}`;
  }
  return text;
}

const none: Values = {};

/** `choose` gives the sentence of a key with its placeholders, in the plural form of `count` where there is one. */
export function sentencesOf<Key extends string>(
  language: string,
  choose: (key: Key, count: number | undefined) => string,
): (key: Key, values?: Values) => string {
  const plurals = new Intl.PluralRules(language);
  const taken = new Map<string, Sentence>();
  const sentenceOf = (key: Key, count: number | undefined): Sentence => {
    const form = count === undefined ? key : `${key}_${plurals.select(count)}`;
    const known = taken.get(form);
    if (known !== undefined) return known;
    const sentence = choose(key, count).split(placeholder);
    taken.set(form, sentence);
    return sentence;
  };
  return (key, values = none) => {
    const { count } = values;
    return fill(sentenceOf(key, typeof count === "number" ? count : undefined), values);
  };
}
