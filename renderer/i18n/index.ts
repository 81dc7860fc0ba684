/**
 * Words on the screen. `useText()` gives the translate function of the current language and re-renders when it
 * changes; `t()` is the same for code outside components. Keys are typed: a missing one does not compile.
 *
 * A tree whose root is keyed by `useLanguage()` may use `t()` in its components as well.
 *
 * Catalogs are one file an area, the same in every language (`en/partition.ts`, `zh-CN/partition.ts`). A counted
 * sentence has `key_one` and `key_other` in English and `key_other` in Chinese, and is called as `key` with `count`.
 */
import i18next, { type i18n } from "i18next";
import { create } from "zustand";
import { english } from "./en/index.ts";
import { sentencesOf, type Values } from "./sentences.ts";
import { chinese } from "./zh-CN/index.ts";

export type Language = "en" | "zh-CN";
export type LanguageChoice = "system" | Language;

type BaseKey<Key extends string> = Key extends `${infer Base}_one` | `${infer Base}_other` ? Base : Key;
export type MessageKey = BaseKey<keyof typeof english>;
export type MessageValues = Values;
export type Translate = (key: MessageKey, values?: MessageValues) => string;

const instance: i18n = i18next.createInstance();
void instance.init({
  lng: "en",
  fallbackLng: "en",
  initAsync: false,
  keySeparator: false,
  nsSeparator: false,
  // React escapes what it renders.
  interpolation: { escapeValue: false },
  resources: { en: { translation: english }, "zh-CN": { translation: chinese } },
});

function translatorOf(language: Language): Translate {
  const fixed = instance.getFixedT(language);
  return sentencesOf<MessageKey>(language, (key, count) =>
    fixed(key, { skipInterpolation: true, ...(count === undefined ? {} : { count }) }),
  );
}

const translators: Readonly<Record<Language, Translate>> = { en: translatorOf("en"), "zh-CN": translatorOf("zh-CN") };

interface LanguageState {
  readonly choice: LanguageChoice;
  readonly language: Language;
}

export const useLanguageStore = create<LanguageState>(() => ({
  choice: "system",
  language: resolveLanguage("system", systemLanguages()),
}));

function systemLanguages(): readonly string[] {
  return typeof navigator === "undefined" ? [] : navigator.languages;
}

/** The language to show: the operator's choice, or the first of the system's that we speak. */
export function resolveLanguage(choice: LanguageChoice, preferred: readonly string[]): Language {
  if (choice !== "system") return choice;
  for (const tag of preferred) {
    const lower = tag.toLowerCase();
    if (lower.startsWith("zh")) return "zh-CN";
    if (lower.startsWith("en")) return "en";
  }
  return "en";
}

export function setLanguage(choice: LanguageChoice): void {
  const language = resolveLanguage(choice, systemLanguages());
  if (typeof document !== "undefined") document.documentElement.lang = language;
  useLanguageStore.setState({ choice, language });
}

export function useLanguage(): Language {
  return useLanguageStore((state) => state.language);
}

export function useText(): Translate {
  return translators[useLanguage()];
}

/** Translates in the language of the moment, for code that is no component (drag previews, canvas, exports). */
export const t: Translate = (key, values) => translators[useLanguageStore.getState().language](key, values);

export function textIn(language: Language): Translate {
  return translators[language];
}
