/** A value in a table, as people read it. */
import { ago, Badge, bytes, type ComponentChildren, count, dateTime, duration, money, shortId, useLoaded } from '@svc/kit';
import type { CollectionView, ViewColumn } from '@svc/api/collection-view';
import { type FormWords, said, valueLabel } from './field-words.js';
import { type Item, valueAt } from './list-page.js';
import { t } from './part-words.js';
import { loadNamed, type ReferenceSource } from './reference-field.js';

export const ENDS: ReadonlyArray<ViewColumn['format']> = ['bytes', 'duration', 'number', 'percent', 'usd', 'ago', 'date'];

/** Nothing where there is no value: a narrow screen leaves such a line out. */
export const cellOf = (view: CollectionView, column: ViewColumn, item: Item): ComponentChildren => {
  const value = plainCell(view, column, item);
  const below = [column.below ?? []]
    .flat()
    .map((field) => valueAt(item, field))
    .find((one) => one !== undefined && one !== null && one !== '');
  if (below === undefined) return value;
  return (
    <>
      {value}
      <div class="muted">
        <bdi>{typeof below === 'object' ? JSON.stringify(below) : String(below)}</bdi>
      </div>
    </>
  );
};

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 };

const plainCell = (view: CollectionView, column: ViewColumn, item: Item): ComponentChildren => {
  const value = valueAt(item, column.field);
  if (value === undefined || value === null || value === '') return column.none === undefined ? null : <span class="muted">{said(column.none)}</span>;
  if (typeof value === 'number' && column.format === 'duration') return duration(value * (UNIT_MS[column.unit ?? 's'] ?? 1_000));
  if (column.format === 'reference') return <Reference source={view.references?.[column.of ?? '']} id={String(value)} />;
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
  if (format === 'diff') return <UnifiedDiff text={text} />;
  return format === 'code' ? <code>{text}</code> : text;
};

const LINE_KINDS: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'folded' };

/** Without the lines that name files. */
const UnifiedDiff = ({ text }: { text: string }) => (
  <div class="diff">
    {text
      .slice(Math.max(0, text.indexOf('@@')))
      .trimEnd()
      .split('\n')
      .map((line, index) => (
        <div key={index} class={`diff-line ${LINE_KINDS[line[0] ?? ''] ?? 'same'}`}>
          <span class="diff-sign">{line[0] === '@' ? '⋯' : line[0]}</span>
          <span>{line[0] === '@' ? '' : line.slice(1)}</span>
        </div>
      ))}
  </div>
);

const Reference = ({ source, id }: { source: ReferenceSource | undefined; id: string }) => (source === undefined ? <code title={id}>{shortId(id)}</code> : <NamedCell source={source} id={id} />);

const NamedCell = ({ source, id }: { source: ReferenceSource; id: string }) => {
  const { data } = useLoaded(`names ${source.path}`, () => loadNamed(source));
  return <bdi>{data?.find(({ key }) => key === id)?.name ?? shortId(id)}</bdi>;
};
