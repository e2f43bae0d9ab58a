import { create } from "zustand";
import { formatBytes, formatNumber } from "@/lib/format";
import { recall, remember } from "@/lib/storage";
import { en } from "./en";
import { zh, type Key } from "./zh";

export type Lang = "zh" | "en";
export type { Key };
export type Params = Readonly<Record<string, unknown>>;

const WORDS: Record<Lang, Record<Key, string>> = { zh, en };
const PLURALS = new Intl.PluralRules("en");

/** How a number is written: `{limit.bytes}`. */
const FORMS: Readonly<Record<string, (value: number, lang: Lang) => string>> = {
  bytes: formatBytes,
  number: formatNumber,
};

/** The words of `key`. `{name}` is a parameter; "one | many" in English is chosen by `{n}`. */
export function translate(lang: Lang, key: Key, params: Params = {}): string {
  const forms = WORDS[lang][key].split(" | ");
  const one = forms.length > 1 && PLURALS.select(Number(params.n)) === "one";
  const text = (one ? forms[0] : forms.at(-1)) ?? "";
  return text.replace(/\{(\w+)(?:\.(\w+))?\}/g, (_, name: string, form: string | undefined) => {
    const value = params[name];
    if (value === undefined || value === null) return "";
    return (form !== undefined && typeof value === "number" && FORMS[form]?.(value, lang)) || String(value);
  });
}

/** Whether the dictionary has this key: codes that a newer server sends may be unknown. */
export function isKey(key: string): key is Key {
  return key in zh;
}

const stored = recall("lang");
const guessed: Lang = /^zh/i.test(navigator.language) ? "zh" : "en";

export const useLangStore = create<{ lang: Lang; chosen: boolean }>(() => ({
  lang: stored === "zh" || stored === "en" ? stored : guessed,
  chosen: stored === "zh" || stored === "en",
}));

/** "auto" forgets the choice and follows the browser. */
export function setLang(choice: Lang | "auto"): void {
  remember("lang", choice === "auto" ? null : choice);
  const lang = choice === "auto" ? guessed : choice;
  useLangStore.setState({ lang, chosen: choice !== "auto" });
  document.documentElement.lang = lang;
}

export function useLang(): Lang {
  return useLangStore((state) => state.lang);
}

export type T = (key: Key, params?: Params) => string;

export function useT(): T {
  const lang = useLang();
  return (key, params) => translate(lang, key, params);
}

/** For words outside of components, e.g. in a toast. */
export const t: T = (key, params) => translate(useLangStore.getState().lang, key, params);
