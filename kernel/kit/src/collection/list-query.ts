/** What of a list is sought, and which of its pages is open. */
import { address, setQuery, useEffect, useState } from '@svc/kit';
import type { CollectionView } from '@svc/api/collection-view';
import { FIRST, type Place, type Sought } from './list-page.js';

const TYPING_MS = 200;

/** The value as it was when it last rested. */
export const useRested = (value: string): string => {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
};

export type Query = Readonly<Record<string, string | undefined>>;

/** In the address, so that a link leads to what is seen; or here alone. */
export const useQuery = (isInAddress: boolean): readonly [Query, (change: Query) => void] => {
  const [own, setOwn] = useState<Query>({});
  return isInAddress ? [address.value.query, setQuery] : [own, (change) => setOwn((before) => ({ ...before, ...change }))];
};

export const soughtIn = (view: CollectionView, query: Query): Sought => ({
  q: view.search ? query['q'] : undefined,
  sort: view.sort?.includes(query['sort']?.replace(/^-/, '') ?? '') ? query['sort'] : undefined,
  filters: Object.fromEntries((view.filters ?? []).map(({ field }) => [field, query[field] ?? ''])),
});

export const isSought = ({ q, filters }: Sought): boolean => Boolean(q) || Object.values(filters).some((value) => value !== '');

/** The pages that were left for the next one, the last of them first; begun anew where something else is sought. */
export const usePlaces = (key: string) => {
  const [places, setPlaces] = useState<{ readonly key: string; readonly all: readonly Place[] }>({ key, all: [FIRST] });
  const all = places.key === key ? places.all : [FIRST];
  return {
    place: all.at(-1) ?? FIRST,
    number: all.length,
    forward: (place: Place) => setPlaces({ key, all: [...all, place] }),
    back: all.length > 1 ? () => setPlaces({ key, all: all.slice(0, -1) }) : undefined,
  };
};
