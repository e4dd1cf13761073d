/**
 * Which declaration answers which path. Immutable: a change makes a new table that keeps
 * the buckets it did not touch, and one assignment puts it in force.
 *
 * T1  Order of registration never matters: literal before parameter before rest, segment by segment.
 * T2  Two declarations of one method and one shape cannot both stand; the error names both owners.
 * T3  A literal path that another owner's parameter would also match must ask for the same auth.
 * T4  Code in another process stands in nobody's way: its paths match nothing that another owner's paths match.
 *
 * This file loads neither koa nor its router: building a table costs the boot nothing; matching is in route-match.ts.
 */
import type { AuthRule } from '@svc/api/internal';
import type { Contribution, Contributor } from '@svc/core';
import { httpErrors } from '../errors.js';
import { bucketOf, overlap, type PathPattern, parsePath, shadows } from './path-pattern.js';

/** What routes and sockets have in common. */
export interface Addressed {
  readonly id: string;
  readonly path: string;
  readonly auth: AuthRule;
  readonly cost: number;
  readonly method?: string;
  readonly repairs?: boolean;
  readonly errorShape?: { readonly under?: string };
}

export interface Row<D extends Addressed> {
  readonly owner: Contributor;
  readonly decl: D;
  readonly method: string;
  readonly pattern: PathPattern;
  /** How the row is called in holds and logs. */
  readonly label: string;
}

export interface Bucket<D extends Addressed> {
  readonly rows: ReadonlyArray<Row<D>>;
}

export interface RouteTable<D extends Addressed> {
  readonly version: number;
  readonly buckets: ReadonlyMap<string, Bucket<D>>;
  readonly rows: ReadonlyArray<Row<D>>;
}

export const emptyTable = <D extends Addressed>(): RouteTable<D> => ({ version: 0, buckets: new Map(), rows: [] });

/** The next table; rows and buckets that stay the same are the same objects, and keep what was compiled for them. */
export const nextTable = <D extends Addressed>(previous: RouteTable<D>, active: ReadonlyArray<Contribution<D>>): RouteTable<D> => {
  const known = new Map(previous.rows.map((row) => [row.decl, row]));
  const grouped = new Map<string, Array<Row<D>>>();
  const changed = new Set<string>();
  const rows = active.map(({ owner, value }) => {
    const old = known.get(value);
    const row = old?.owner === owner ? old : rowOf(owner, value);
    const key = bucketOf(row.pattern);
    if (row !== old) changed.add(key);
    const group = grouped.get(key);
    if (group) group.push(row);
    else grouped.set(key, [row]);
    return row;
  });
  const buckets = new Map<string, Bucket<D>>();
  for (const [key, group] of grouped) {
    const old = previous.buckets.get(key);
    // As many rows as before and none of them new: they are the same.
    if (old?.rows.length === group.length && !changed.has(key)) buckets.set(key, old);
    else buckets.set(key, { rows: group.sort((a, b) => compare(a.pattern.rank, b.pattern.rank) || compare(a.pattern.shape, b.pattern.shape) || compare(a.method, b.method)) });
  }
  return { version: previous.version + 1, buckets, rows };
};

/** The table of what is active now. It is made when somebody asks: a boot changes it once for each extension, and nobody asks between. */
export interface CurrentTable<D extends Addressed> {
  change(active: ReadonlyArray<Contribution<D>>): void;
  get(): RouteTable<D>;
}

export const createCurrentTable = <D extends Addressed>(): CurrentTable<D> => {
  let table = emptyTable<D>();
  let changed: ReadonlyArray<Contribution<D>> | undefined;
  return {
    change: (active) => {
      changed = active;
    },
    get: () => {
      if (changed) table = nextTable(table, changed);
      changed = undefined;
      return table;
    },
  };
};

/** Throws when the candidate may not stand beside the others (T2, T3, T4). */
export const checkRow = <D extends Addressed>(candidate: Contribution<D>, others: ReadonlyArray<Contribution<D>>): void => {
  const { owner, value } = candidate;
  const method = methodOf(value);
  const named = `${method} ${value.path} (${owner.id})`;
  if (value.auth !== 'public' && value.auth !== 'bearer') throw httpErrors.route_refused(`${named} has no auth: it must be "public" or "bearer".`);
  if (!Number.isFinite(value.cost) || value.cost < 0) throw httpErrors.route_refused(`${named} has no cost: the tokens that a call takes from the caller's rate limit.`);
  const { under } = value.errorShape ?? {};
  if (under !== undefined && !value.path.startsWith(under)) throw httpErrors.route_refused(`${named} formats the errors below ${under}, but is not below it.`);
  const pattern = patternOf(value);
  for (const other of others) {
    if (other.value === value) continue;
    if (other.value.id === value.id) throw httpErrors.route_conflict(`${named} and ${other.value.path} (${other.owner.id}) have the same id "${value.id}".`);
    if (methodOf(other.value) !== method) continue;
    const standing = (): string => `${method} ${other.value.path} (${other.owner.id})`;
    const theirs = patternOf(other.value);
    if (theirs.shape === pattern.shape) throw httpErrors.route_conflict(`${named} and ${standing()} answer the same requests.`);
    if (other.owner.id === owner.id) continue;
    if ((owner.isRemote || other.owner.isRemote) && overlap(theirs, pattern)) throw httpErrors.route_conflict(`${named} and ${standing()} overlap: a request for one could reach the other.`);
    if (other.value.auth !== value.auth && (shadows(theirs, pattern) || shadows(pattern, theirs))) {
      throw httpErrors.route_conflict(`${named} and ${standing()} overlap but differ in auth ("${value.auth}", "${other.value.auth}").`);
    }
  }
};

const patterns = new WeakMap<Addressed, PathPattern>();

const patternOf = (decl: Addressed): PathPattern => {
  const known = patterns.get(decl);
  if (known) return known;
  const made = parsePath(decl.path);
  patterns.set(decl, made);
  return made;
};

/** A socket is opened by a GET. */
export const methodOf = (decl: Addressed): string => decl.method ?? 'GET';

const rowOf = <D extends Addressed>(owner: Contributor, decl: D): Row<D> => ({ owner, decl, method: methodOf(decl), pattern: patternOf(decl), label: `${methodOf(decl)} ${decl.path}` });

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
