/** A field that refers to something: chosen by its name, never typed as an id. */
import { daemon, Select, TextField, useLoaded } from '@svc/kit';
import type { CollectionView } from '@svc/api/collection-view';
import { rowsIn, valueAt } from './list-page.js';
import { t } from './part-words.js';

export type ReferenceSource = NonNullable<CollectionView['references']>[string];

export interface Named {
  readonly key: string;
  readonly name: string;
}

const MAX_OFFERED = 500;

const FRESH_MS = 10_000;
const known = new Map<string, { readonly at: number; readonly names: Promise<readonly Named[]> }>();

/** What there is, as the source lists it. Each cell and field of a page asks: they share one answer. */
export const loadNamed = (source: ReferenceSource): Promise<readonly Named[]> => {
  const before = known.get(source.path);
  if (before && Date.now() - before.at < FRESH_MS) return before.names;
  const names = askNamed(source);
  known.set(source.path, { at: Date.now(), names });
  names.catch(() => known.delete(source.path));
  return names;
};

const askNamed = async ({ path, rows, key, value }: ReferenceSource): Promise<readonly Named[]> => {
  const { data } = await daemon.request('GET', path);
  return (rowsIn(data, rows) ?? []).slice(0, MAX_OFFERED).map((row) => ({ key: String(valueAt(Object(row), key) ?? ''), name: String(valueAt(Object(row), value) ?? '') }));
};

interface ReferenceFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly error?: string | undefined;
  readonly isNeeded?: boolean;
  readonly disabled?: boolean;
  readonly bare?: boolean;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly source: ReferenceSource | undefined;
  /** What is not listed may be typed, as the name of a model may. */
  readonly isFree?: boolean;
  /** What nothing is called. */
  readonly none?: string | undefined;
}

export const ReferenceField = ({ source, isFree = false, none, ...field }: ReferenceFieldProps) =>
  // Where nothing lists them, an id is all that can be given.
  source === undefined ? <TextField {...field} /> : <Offered source={source} isFree={isFree} none={none} {...field} />;

const Offered = ({ source, isFree, none, ...field }: ReferenceFieldProps & { source: ReferenceSource; isFree: boolean }) => {
  const loaded = useLoaded(`names ${source.path}`, () => loadNamed(source));
  if (loaded.data === undefined || (isFree && !loaded.data.some(({ key }) => key === field.value) && field.value !== '')) return <TextField {...field} />;
  const known = loaded.data.some(({ key }) => key === field.value) || field.value === '' ? [] : [{ value: field.value, label: field.value }];
  return <Select {...field} options={[{ value: '', label: field.isNeeded ? t('choose') : (none ?? t('nothing')) }, ...known, ...loaded.data.map(({ key, name }) => ({ value: key, label: name }))]} />;
};
