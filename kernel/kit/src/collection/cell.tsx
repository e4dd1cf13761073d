/** A value in a table, as people read it. */
import { ago, Badge, bytes, type ComponentChildren, count, dateTime, money } from '@svc/kit';
import type { CollectionView, ViewColumn } from '@svc/api/collection-view';
import { type FormWords, valueLabel } from './field-words.js';
import { type Item, valueAt } from './list-page.js';
import { t } from './part-words.js';

export const ENDS: ReadonlyArray<ViewColumn['format']> = ['bytes', 'number', 'percent', 'usd', 'ago', 'date'];

/** Nothing where there is no value: a narrow screen leaves such a line out. */
export const cellOf = (view: CollectionView, column: ViewColumn, item: Item): ComponentChildren => {
  const value = valueAt(item, column.field);
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'number') return numberCell(column.format, value);
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no');
  if (Array.isArray(value)) return value.map(String).join(', ');
  if (typeof value === 'object') return <code>{JSON.stringify(value)}</code>;
  return textCell(column, String(value), view.fields);
};

const numberCell = (format: ViewColumn['format'], value: number): ComponentChildren => {
  if (format === 'bytes') return bytes(value);
  if (format === 'usd') return money(value);
  return format === 'percent' ? `${count(value)} %` : count(value);
};

const textCell = ({ field, format, tones }: ViewColumn, text: string, words: FormWords | undefined): ComponentChildren => {
  if (format === 'ago' || format === 'date') return <time dateTime={text}>{format === 'ago' ? ago(text) : dateTime(text)}</time>;
  if (format === 'badge') return <Badge tone={tones?.[text] ?? 'quiet'}>{valueLabel(field, text, words)}</Badge>;
  return format === 'code' ? <code>{text}</code> : text;
};
