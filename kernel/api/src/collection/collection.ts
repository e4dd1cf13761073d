/**
 * A collection: rows of people that are listed, made, read, changed and deleted. One declaration gives the table, typed
 * routes with their documentation, paging, conflict checks, receipts, audit, a change event, commands and a page.
 *
 * D1  Nobody reads or changes an item of somebody else: each function takes the actor, and there is no other way in.
 * D2  A change, its event and the receipt of its request are one commit.
 * D3  Of two changes made at once, the second is applied to what the first one left.
 */
import type { CollectionView } from '../declare/collection-view.js';
import type { CommandDecl } from '../declare/command.js';
import { defineEvent, type EventDecl } from '../declare/event.js';
import { defineTable, type TableDecl } from '../declare/table.js';
import { OneOf, type TObject, type TSchema, Type, Uuid } from '../schema/schema.js';
import { commandsOf } from './commands.js';
import { changeOf, columnsOf, draftOf, type Item, isText, itemOf, optionsOf } from './fields.js';
import { defineList, type ListDecl } from './list.js';
import { type AnyCollectionSpec, camelCase, type CollectionSpec, manyOf, operationOf, snakeCase } from './spec.js';
import { viewOf } from './view.js';

const Changed = Type.Object({ id: Type.String(), ownerId: Type.String(), change: OneOf(['created', 'updated', 'deleted']) });

export interface Collection<F extends TObject = TObject> {
  readonly spec: CollectionSpec<F>;
  readonly table: TableDecl;
  /** The answer of one item. */
  readonly item: TSchema & { static: Item<F> };
  readonly draft: TObject;
  readonly change: TObject;
  readonly deleted: TObject;
  readonly list: ListDecl;
  /** Emitted with each change: `goals.changed`. */
  readonly changed: EventDecl<typeof Changed>;
  readonly commands: readonly CommandDecl[];
  /** For a panel of the page. */
  readonly view: CollectionView;
}

export const defineCollection = <const F extends TObject>(spec: CollectionSpec<F>): Collection<F> => {
  const many = manyOf(spec);
  const name = camelCase(spec.one);
  const item = itemOf(spec.fields, name);
  const draft = draftOf(spec.fields, `${name}Draft`);
  const change = changeOf(spec.fields, `${name}Change`);
  const event = `${snakeCase(many)}.changed`;
  return {
    spec,
    item,
    draft,
    change,
    deleted: Type.Object({ status: OneOf(['deleted']), [`${snakeCase(spec.one)}_id`]: Uuid }),
    table: tableOf(spec, many),
    list: listOf(spec, item, many),
    changed: defineEvent(event, '1.0.0', Changed, { permission: operationOf(spec, 'list')?.permission ?? `${spec.area}.read`, owner: 'ownerId', id: 'id', state: 'change' }),
    commands: commandsOf(spec),
    view: viewOf(spec, { draft, change, event }),
  };
};

const tableOf = (spec: AnyCollectionSpec, many: string): TableDecl =>
  defineTable(snakeCase(many), '1.0.0', {
    columns: columnsOf(spec.fields),
    owner: 'owner_id',
    ...(spec.agent === undefined ? {} : { agent: spec.agent }),
    indexes: [['owner_id', 'created_at'], ...(spec.indexes ?? [])],
    unique: (spec.unique ?? []).map((fields) => ['owner_id', ...fields]),
  });

const listOf = ({ fields, list = {} }: AnyCollectionSpec, item: TSchema, many: string): ListDecl => {
  const { filters = [], search = [], as = [snakeCase(many)], sort = ['created_at', 'updated_at'], order, limit } = list;
  const notText = search.find((field) => !isText(fields.properties[field]));
  if (notText !== undefined) throw new Error(`the search of ${many} looks into ${notText}, which is not a text field`);
  return defineList({
    item,
    as,
    sort,
    ...(order === undefined ? {} : { order }),
    ...(limit === undefined ? {} : { limit }),
    filters: Object.fromEntries(filters.map((field) => [field, filterOf(fields, field)])),
    ...(search.length === 0 ? {} : { searches: search.join(', ') }),
  });
};

const filterOf = ({ properties }: TObject, field: string): TSchema => {
  const schema = properties[field];
  if (schema === undefined) throw new Error(`a list cannot be filtered by ${field}, which is not a field`);
  // What else the field may be, such as null, nobody filters by.
  const [{ default: _, ...rest } = schema] = optionsOf(schema);
  return { ...rest, description: `Only those with this ${field}` };
};
