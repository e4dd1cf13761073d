/** How fields and items are called, in the reader's language. */
import { language } from '@svc/kit';
import type { FieldWords, ViewWords } from '@svc/api/collection-view';
import { t } from './part-words.js';
import { type Schema, titled } from './schema.js';

export type FormWords = Readonly<Record<string, FieldWords>>;

export const said = (words: ViewWords): string => (typeof words === 'string' ? words : (words[language.value] ?? words.en));

export const labelOf = (path: string, schema: Schema | undefined, words: FormWords = {}): string => {
  const own = words[path]?.label;
  // Each table has these, and no area names them.
  if (own === undefined && (path === 'created_at' || path === 'updated_at')) return t(path);
  return own === undefined ? (schema?.title ?? titled(path.slice(path.lastIndexOf('.') + 1))) : said(own);
};

export const hintOf = (path: string, schema: Schema, words: FormWords = {}): string | undefined => {
  const own = words[path]?.hint;
  return own === undefined ? schema.description : said(own);
};

/** What a value of a closed set is called. */
export const valueLabel = (path: string, value: unknown, words: FormWords = {}): string => {
  const own = words[path]?.values?.[String(value)];
  return own === undefined ? String(value).replaceAll('_', ' ') : said(own);
};
