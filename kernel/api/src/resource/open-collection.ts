/** A collection at work: its rows through the actor, its rules, and the routes that serve it. */
import type { Actor } from '../actor.js';
import type { ExtensionContext } from '../extension.js';
import { isSvcError } from '../errors.js';
import type { Static, TObject } from '../schema/schema.js';
import type { AtOnce } from '../at-once.js';
import type { Row, Scalar, Write } from '../storage.js';
import type { Collection } from './collection.js';
import { collectionErrors } from './errors.js';
import { type Change, codecOf, type Draft, type Item } from './fields.js';
import type { Found, ListQuery } from './list.js';
import { readList } from './read-list.js';
import { secretsOf } from './row-secrets.js';
import type { Call } from './calls.js';
import type { AnyResourceSpec, Verb } from './spec.js';

/** Changes that were made meanwhile are taken in so often before the caller is told. */
const MAX_TRIES = 8;

export interface ChangeOf<F extends TObject> {
  readonly actor: Actor;
  /** The new value; for a deletion, the old one. */
  readonly item: Item<F>;
  /** What it was; undefined for a new one. */
  readonly before: Item<F> | undefined;
}

/** A change as the rules see it. `rows` is the collection itself: reads, and conditions of the commit. */
export type Ruled<F extends TObject> = Pick<CollectionRows<F>, 'find' | 'get' | 'list' | 'unchanged'>;

/** What is particular: all of it may be left out. */
export interface CollectionRules<F extends TObject, C extends TObject = TObject> {
  /** Checks a new or changed item beyond its schema, and may complete it. Asked again when somebody else was quicker. */
  check?(change: ChangeOf<F>, rows: Ruled<F>): AtOnce<Item<F>>;
  /** Writes that are committed with a new or changed item. */
  also?(change: ChangeOf<F>, rows: Ruled<F>): AtOnce<readonly Write[]>;
  /** Writes that are committed with a deletion: what goes with the item. */
  alsoDeleted?(change: ChangeOf<F>, rows: Ruled<F>): AtOnce<readonly Write[]>;
  /** The items with what is computed of them, in the same order: asked once for a page. */
  computed?(items: readonly Item<F>[], actor: Actor): AtOnce<readonly (Item<F> & Static<C>)[]>;
  /** Answers that are not the item, by operation. */
  readonly answers?: Partial<Record<Verb, (item: Item<F>, call: Call) => unknown>>;
  /** Throws where the actor may not see what the items stand below. */
  parent?(actor: Actor, id: string): AtOnce<unknown>;
}

/** Writes that join the commit, made when the item is known: receipts of a request. */
export type Beside<F extends TObject> = (item: Item<F>) => AtOnce<readonly Write[]>;

export interface CollectionRows<F extends TObject> {
  /** Throws `missing` where there is none that the actor may see. */
  get(actor: Actor, id: string): Promise<Item<F>>;
  find(actor: Actor, id: string): Promise<Item<F> | undefined>;
  /** `query` also holds the filters. */
  list(actor: Actor, query: ListQuery & Readonly<Record<string, unknown>>): Promise<Found<Item<F>>>;
  create(actor: Actor, draft: Draft<F>, beside?: Beside<F>): Promise<Item<F>>;
  /** `revision`: refused with 412 where the item has another by now. */
  update(actor: Actor, id: string, change: Change<F>, options?: { readonly revision?: number }): Promise<Item<F>>;
  remove(actor: Actor, id: string, options?: { readonly revision?: number }): Promise<Item<F>>;
  /** Joins a commit that rests on what this item is: the commit fails where the item has changed or gone, and a change of this collection is tried again. */
  unchanged(item: Item<F>): Write;
  /** The name of a secret in the vault: for `secretHeaders`, `hmac`. */
  secretOf(item: Pick<Item<F>, 'id'>, field: string): string;
  /** Writes that empty this field where it holds this id: what it refers to is gone, and the item stays. */
  detach(field: string, id: string): Promise<readonly Write[]>;
  /** Writes for a parent that goes, by the policy of the declaration: items below it are deleted, detached or left. */
  parentGone(parentId: string): Promise<readonly Write[]>;
  /** Deletes secrets whose item has gone with its owner or its agent. Call it from a timer, where the fields have secrets. */
  sweepSecrets(): Promise<void>;
}

type RowContext = Pick<ExtensionContext, 'db' | 'ids' | 'clock' | 'events' | 'secrets' | 'trash'>;

export const collectionRows = <F extends TObject>(
  ctx: RowContext,
  collection: Pick<Collection<F>, 'spec' | 'table' | 'list' | 'changed'>,
  rules: Omit<CollectionRules<F>, 'computed' | 'answers'> = {},
): CollectionRows<F> => {
  const { spec, table } = collection;
  const codec = codecOf(spec);
  const { db } = ctx;
  const find = async (actor: Actor, id: string): Promise<Item<F> | undefined> => {
    const row = await db.as(actor).first({ from: table.name, where: { id: id.toLowerCase() } });
    return row && codec.toItem(row);
  };
  const get = async (actor: Actor, id: string): Promise<Item<F>> => {
    const item = await find(actor, id);
    if (!item) throw spec.missing(id);
    return item;
  };
  const event = ({ id, owner_id: ownerId }: Item<F>, change: 'created' | 'updated' | 'deleted'): Write => ctx.events.event(collection.changed, { id, ownerId, change });
  /** Fails the commit where the item is not what it was when the change was made. */
  const unchanged = (before: Item<F>): Write => db.update(table.name, ['id', 'revision'], [{ id: before.id, revision: before.revision, created_at: before.created_at }], { expect: 'each' });
  const ruled: Ruled<F> = { find, get, unchanged, list: (actor, query) => listRows(ctx, collection, actor, query, codec.toItem) };
  const checked = async (change: ChangeOf<F>): Promise<ChangeOf<F>> => (rules.check ? { ...change, item: await rules.check(change, ruled) } : change);
  const secrets = secretsOf(ctx, spec);
  const commit = async (writes: readonly Write[]): Promise<void> => {
    await db.commit(writes).catch((error: unknown) => {
      throw takenOf(spec, error);
    });
  };
  const ruledCommit = async (writes: readonly Write[], also: AtOnce<readonly Write[]> | undefined): Promise<void> => commit([...writes, ...((await also) ?? [])]);
  return {
    ...ruled,
    create: async (actor, draft, beside = () => []) => {
      const now = ctx.clock.iso();
      const head = { id: ctx.ids.uuid(), owner_id: actor.ownerId, revision: 1, created_at: now, updated_at: now };
      const made = await checked({ actor, item: { ...head, ...usualOf(spec.fields), ...secrets.flags({}), ...definedOf(draft), ...secrets.flags(draft) } as Item<F>, before: undefined });
      const item = secrets.without(made.item);
      await secrets.around(item.id, draft, async () => ruledCommit([db.insert(table.name, [codec.toRow(item)]), event(item, 'created'), ...(await beside(item))], rules.also?.(made, ruled)));
      return item;
    },
    update: (actor, id, change, { revision } = {}) =>
      settled(async () => {
        const before = await get(actor, id);
        assertRevision(spec, before, revision);
        const item = { ...before, ...definedOf(change), ...secrets.flags(change), revision: before.revision + 1, updated_at: ctx.clock.iso() };
        const made = await checked({ actor, item, before });
        const after = secrets.without(made.item);
        await secrets.around(after.id, change, () =>
          ruledCommit([unchanged(before), db.update(table.name, ['id'], [codec.toRow(after)], { expect: 'each' }), event(after, 'updated')], rules.also?.(made, ruled)),
        );
        return after;
      }),
    remove: (actor, id, { revision } = {}) =>
      settled(async () => {
        const item = await get(actor, id);
        assertRevision(spec, item, revision);
        const also = (await rules.alsoDeleted?.({ actor, item, before: item }, ruled)) ?? [];
        await commit([unchanged(item), ...also, db.remove(table.name, { id: item.id }, { expect: 1 }), event(item, 'deleted')]);
        await secrets.drop(item.id);
        return item;
      }),
    secretOf: ({ id }, field) => secrets.nameOf(id, field),
    detach: (field, id) => detached(ctx, collection, field, id),
    parentGone: (parentId) => parentGone(ctx, collection, parentId),
    sweepSecrets: () => secrets.sweep(table.name),
  };
};

type GoneParts<F extends TObject> = Pick<Collection<F>, 'spec' | 'table' | 'changed'>;

const referring = <F extends TObject>({ db }: RowContext, { table }: GoneParts<F>, field: string, id: string) =>
  db.system('what an item refers to is gone').select<{ id: string; owner_id: string }>({ from: table.name, columns: ['id', 'owner_id'], where: { [field]: id } });

const detached = async <F extends TObject>(ctx: RowContext, parts: GoneParts<F>, field: string, id: string): Promise<Write[]> => {
  const left = await referring(ctx, parts, field, id);
  if (left.length === 0) return [];
  const rows = left.map((row) => ({ id: row.id, [field]: null }));
  return [ctx.db.update(parts.table.name, ['id'], rows), ...left.map((row) => ctx.events.event(parts.changed, { id: row.id, ownerId: row.owner_id, change: 'updated' }))];
};

/** What goes, stays or is detached when a parent goes. */
const parentGone = async <F extends TObject>(ctx: RowContext, parts: GoneParts<F>, parentId: string): Promise<Write[]> => {
  const { under } = parts.spec;
  if (under === undefined || under.whenGone === 'keep') return [];
  if (under.whenGone === 'detach') return detached(ctx, parts, under.field, parentId);
  const left = await referring(ctx, parts, under.field, parentId);
  if (left.length === 0) return [];
  return [ctx.db.remove(parts.table.name, { id: left.map(({ id }) => id) }), ...left.map(({ id, owner_id: ownerId }) => ctx.events.event(parts.changed, { id, ownerId, change: 'deleted' }))];
};

/** What a field is when nobody says it. */
const usualOf = ({ properties }: TObject): Record<string, unknown> => Object.fromEntries(Object.entries(properties).map(([key, { default: usual = null }]) => [key, usual]));

/** A property that is there and undefined says nothing. */
const definedOf = (given: Readonly<Record<string, unknown>>): Record<string, unknown> => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

const assertRevision = (spec: AnyResourceSpec, { id, revision }: { readonly id: string; readonly revision: number }, wanted: number | undefined): void => {
  if (wanted !== undefined && wanted !== revision) throw collectionErrors.changed(spec.one, id);
};

/** Again, on what stands by then, where somebody else was quicker. */
const settled = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tries >= MAX_TRIES || reasonOf(error) !== 'expect') throw error;
    }
  }
};

const detailsOf = (error: unknown): Readonly<Record<string, unknown>> =>
  isSvcError(error) && error.code === 'storage_conflict' && typeof error.details === 'object' && error.details !== null ? { ...error.details } : {};

const reasonOf = (error: unknown): unknown => detailsOf(error).reason;

/** What the caller can do about a unique key that is broken; any other error as it is. */
const takenOf = (spec: AnyResourceSpec, error: unknown): unknown => {
  const { reason, columns } = detailsOf(error);
  if (reason !== 'unique') return error;
  const named = Array.isArray(columns) ? columns.map((column) => String(column).split('.').at(-1)) : [];
  const keys = spec.unique ?? [];
  const [first] = keys;
  const broken = keys.find((fields) => fields.every((field) => named.includes(field))) ?? first;
  return broken === undefined ? error : collectionErrors.taken(spec.one, broken).with({ cause: error });
};

const listRows = async <F extends TObject>(
  { db }: RowContext,
  { spec, table, list }: Pick<Collection<F>, 'spec' | 'table' | 'list'>,
  actor: Actor,
  query: ListQuery & Readonly<Record<string, unknown>>,
  toItem: (row: Row) => Item<F>,
): Promise<Found<Item<F>>> => {
  const found = await readList(db.as(actor), list, query, { from: table.name, where: whereOf(spec, query), ...(spec.list?.search ? { search: spec.list.search } : {}) });
  return { ...found, rows: found.rows.map(toItem) };
};

const whereOf = ({ list, under }: AnyResourceSpec, query: Readonly<Record<string, unknown>>): Record<string, Scalar> => {
  const given = [...(list?.filters ?? []), ...(under === undefined ? [] : [under.field])].filter((field) => query[field] !== undefined);
  // The route's schema has checked that each is a value of its field.
  return Object.fromEntries(given.map((field) => [field, scalarOf(query[field])]));
};

const scalarOf = (value: unknown): Scalar => (typeof value === 'boolean' ? Number(value) : typeof value === 'number' || value === null ? value : String(value));
