import { en } from "./en.ts";

type Messages = typeof en;
type Stem<K> = K extends `${infer S}_one` | `${infer S}_other` ? S : K;
/** `area.name`, without plural endings. */
export type MessageKey = {
  [Area in keyof Messages & string]: `${Area}.${Stem<keyof Messages[Area] & string> & string}`;
}[keyof Messages & string];

export type MessageValues = Readonly<Record<string, string | number>>;

export function t(key: MessageKey, values: MessageValues = {}): string {
  const dot = key.indexOf(".");
  const area: Readonly<Record<string, string>> =
    (en as Readonly<Record<string, Readonly<Record<string, string>>>>)[key.slice(0, dot)] ?? {};
  const name = key.slice(dot + 1);
  const text = area[name] ?? area[`${name}_${values.count === 1 ? "one" : "other"}`] ?? key;
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_match, value: string) => String(values[value] ?? ""));
}
