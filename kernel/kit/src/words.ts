/**
 * Words of the page in the languages it has. A panel brings its own: `const t = words({ en: {…}, zh: {…} })`, and each language
 * must have every word, by type. `t('left', { count: 3 })` fills `{count}`; a word may have a form for one: `{count|one|many}`.
 */
import { signal } from '@preact/signals';
import { keep, kept } from './kept.js';

export const LANGUAGES = { en: 'English', zh: '中文' } as const;
export type Language = keyof typeof LANGUAGES;

const KEPT = 'svc.language';

const isLanguage = (text: string | null | undefined): text is Language => text !== null && text !== undefined && Object.hasOwn(LANGUAGES, text);

/** What was chosen here, else the first of the browser's languages that there is. */
const initial = (): Language => {
  const chosen = kept(KEPT);
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map((one) => one.slice(0, 2).toLowerCase()).find(isLanguage) ?? 'en';
};

export const language = signal<Language>(initial());

export const chooseLanguage = (chosen: Language): void => {
  keep(KEPT, chosen);
  language.value = chosen;
};

export type Filled = Readonly<Record<string, string | number>>;
export type Words<Key extends string> = (key: Key, filled?: Filled) => string;

export const words = <Key extends string>(catalog: Readonly<Record<Language, Readonly<Record<Key, string>>>>): Words<Key> => {
  return (key, filled) => {
    const text = catalog[language.value][key];
    return filled === undefined ? text : fill(text, filled);
  };
};

const fill = (text: string, filled: Filled): string =>
  text.replaceAll(/\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = filled[name];
    if (value === undefined) return whole;
    return one === undefined || many === undefined ? String(value) : `${value} ${value === 1 ? one : many}`;
  });
