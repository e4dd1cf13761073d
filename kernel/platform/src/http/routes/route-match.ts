/** Finds the row of a request. Each bucket is one @koa/router, compiled when its first request comes. */
import Router from '@koa/router';
import { routerPath } from './path-pattern.js';
import type { Addressed, Bucket, RouteTable, Row } from './route-table.js';

export type Match<D extends Addressed> =
  | { readonly kind: 'row'; readonly row: Row<D>; readonly params: Record<string, string> }
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'encoding' }
  | { readonly kind: 'none' };

type Layer = Router['stack'][number];

interface Place<D extends Addressed> {
  readonly row: Row<D>;
  readonly layer: Layer;
  /** Segments a matching path has; with a rest parameter at least so many. */
  readonly count: number;
}

/** Buckets are immutable, so what was compiled for one stays right as long as it lives. */
const compiled = new WeakMap<object, ReadonlyArray<Place<Addressed>>>();

const NONE = { kind: 'none' } as const;
const ENCODING = { kind: 'encoding' } as const;

/** HEAD is answered as GET. Empty segments match nothing. */
export const matchRoute = <D extends Addressed>(table: RouteTable<D>, method: string, path: string): Match<D> => {
  if (path.includes('//')) return NONE;
  if (path.includes('%') && !isDecodable(path)) return ENCODING;
  const wanted = method === 'HEAD' ? 'GET' : method;
  const segments = path === '/' ? [] : path.slice(1).split('/');
  for (const { row, layer } of candidates(table, segments)) {
    if (row.method === wanted && layer.match(path)) return { kind: 'row', row, params: layer.params(path, layer.captures(path)) };
  }
  const allow = new Set(candidates(table, segments).flatMap(({ row, layer }) => (layer.match(path) ? [row.method] : [])));
  if (allow.size === 0) return NONE;
  if (allow.has('GET')) allow.add('HEAD');
  return { kind: 'method', allow: [...allow].sort() };
};

/** Those whose number of segments fits, which is cheaper to see than the pattern, and most rows of a bucket fail it. */
const candidates = <D extends Addressed>(table: RouteTable<D>, segments: readonly string[]): Array<Place<D>> => {
  const places: Array<Place<D>> = [];
  for (const key of keysOf(segments[0] ?? '', segments[1])) {
    const bucket = table.buckets.get(key);
    if (!bucket) continue;
    for (const place of placesOf(bucket)) if (place.row.pattern.hasRest ? segments.length >= place.count : segments.length === place.count) places.push(place);
  }
  return places;
};

const keysOf = (first: string, second: string | undefined): string[] => {
  if (second === undefined) return [first, '*'];
  return [`${first}/${second}`, `${first}/*`, '*'];
};

const placesOf = <D extends Addressed>(bucket: Bucket<D>): ReadonlyArray<Place<D>> => {
  // What is kept for a bucket was made from that bucket's rows, below.
  const known = compiled.get(bucket) as ReadonlyArray<Place<D>> | undefined;
  if (known) return known;
  const router = new Router({ sensitive: true, strict: true });
  const places = bucket.rows.map((row): Place<D> => {
    router.register(routerPath(row.pattern), [row.method], () => undefined);
    const layer = router.stack.at(-1);
    if (!layer) throw new Error(`the router kept no layer for ${row.label}`);
    return { row, layer, count: row.pattern.segments.length };
  });
  compiled.set(bucket, places);
  return places;
};

const isDecodable = (path: string): boolean => {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false; // malformed: the caller answers 400
  }
};
