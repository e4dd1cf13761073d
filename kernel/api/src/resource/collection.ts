/**
 * A collection: a resource whose items are rows of people, in a table of its own. One declaration gives the table, typed
 * routes with their documentation, paging, conflict checks, receipts, audit, a change event, commands and a page.
 *
 * D1  Nobody reads or changes an item of somebody else: each function takes the actor, and there is no other way in.
 * D2  A change, its event and the receipt of its request are one commit.
 * D3  Of two changes made at once, the second is applied to what the first one left.
 * D4  A secret is in the vault alone: no row, event or answer holds it.
 */
import { defineEvent, type EventDecl } from '../declare/event.js';
import { defineTable, type TableDecl } from '../declare/table.js';
import { OneOf, type Static, type TObject, type TSchema, Type } from '../schema/schema.js';
import type { ActionSpecs } from './actions.js';
import { columnsOf, type Item, itemOf } from './fields.js';
import { type AnyResource, resourceOf } from './resource.js';
import { type AnyResourceSpec, camelCase, type CollectionSpec, manyOf, operationOf, snakeCase } from './spec.js';

const Changed = Type.Object({ id: Type.String(), ownerId: Type.String(), change: OneOf(['created', 'updated', 'deleted']) });

export interface Collection<F extends TObject = TObject, C extends TObject = TObject, A extends ActionSpecs = ActionSpecs> extends AnyResource {
  readonly spec: CollectionSpec<F, C, A>;
  readonly table: TableDecl;
  /** The answer of one item. */
  readonly item: TSchema & { static: Item<F> & Static<C> };
  /** Emitted with each change: `goals.changed`. */
  readonly changed: EventDecl<typeof Changed>;
}

export const defineCollection = <const F extends TObject, const C extends TObject = TObject<Record<never, TSchema>>, const A extends ActionSpecs = Record<never, never>>(
  given: CollectionSpec<F, C, A>,
): Collection<F, C, A> => {
  const spec = { ...given, operations: { list: {}, create: {}, get: {}, update: {}, delete: {}, ...given.operations } };
  const many = manyOf(spec);
  const event = `${snakeCase(many)}.changed`;
  const item = itemOf(spec, camelCase(spec.one));
  return {
    ...resourceOf(spec, { item, event, isTable: true }),
    spec,
    item,
    table: tableOf(spec, many),
    changed: defineEvent(event, '1.0.0', Changed, { permission: operationOf(spec, 'list')?.permission ?? `${spec.area}.read`, owner: 'ownerId', id: 'id', state: 'change' }),
  };
};

const tableOf = (spec: AnyResourceSpec, many: string): TableDecl => {
  const { under } = spec;
  // With an agent svc deletes what stands below it; other parents the area deletes itself.
  const agent = spec.agent ?? (under?.of === 'agents' && (under.whenGone ?? 'delete') === 'delete' ? under.field : undefined);
  return defineTable(snakeCase(many), '1.0.0', {
    columns: columnsOf(spec),
    owner: 'owner_id',
    ...(agent === undefined ? {} : { agent }),
    indexes: [['owner_id', 'created_at'], ...(under === undefined ? [] : [[under.field]]), ...(spec.indexes ?? [])],
    unique: (spec.unique ?? []).map((fields) => ['owner_id', ...fields]),
  });
};
