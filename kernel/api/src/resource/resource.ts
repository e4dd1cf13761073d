/**
 * A resource: things that are listed, read, changed, and on which something is done, wherever they come from. One
 * declaration gives routes with their documentation, one way of paging, buttons, forms, a page and commands.
 */
import type { CollectionView } from '../declare/collection-view.js';
import type { CommandDecl } from '../declare/command.js';
import { OneOf, type TObject, type TSchema, Type, Uuid } from '../schema/schema.js';
import { commandsOf } from './commands.js';
import { changeOf, draftOf, isText, optionsOf, propertiesOf } from './fields.js';
import { defineList, type ListDecl } from './list.js';
import { type AnyResourceSpec, camelCase, keyOf, manyOf, type ResourceSpec, snakeCase } from './spec.js';
import { viewOf } from './view.js';

export interface AnyResource {
  readonly spec: AnyResourceSpec;
  /** The answer of one item. */
  readonly item: TSchema;
  readonly draft: TObject;
  readonly change: TObject;
  readonly deleted: TObject;
  readonly list: ListDecl;
  readonly commands: readonly CommandDecl[];
  /** For a panel of the page. */
  readonly view: CollectionView;
}

export interface Resource<S extends ResourceSpec = ResourceSpec> extends AnyResource {
  /** What is declared, for the types of its functions. */
  readonly declared: S;
}

/** Of a source that is no table: files, a registry, a service. `fields` is what people set, `computed` what an item shows beside it. Its functions are given to `openResource`. */
export const defineResource = <const S extends ResourceSpec>(declared: S): Resource<S> => {
  const spec: AnyResourceSpec = { fields: Type.Object({}), ...declared };
  const item = spec.item ?? Type.Object(propertiesOf(spec), { 'x-name': camelCase(spec.one) });
  if (item.properties?.[keyOf(spec)] === undefined) throw new Error(`a ${spec.one} has no field ${keyOf(spec)}, which is its key: name another one in \`key\``);
  return { ...resourceOf(spec, { item, event: undefined, isTable: false }), declared };
};

export const resourceOf = (spec: AnyResourceSpec, { item, event, isTable }: { item: TSchema; event: string | undefined; isTable: boolean }): AnyResource => {
  const name = camelCase(spec.one);
  const draft = draftOf(spec.fields, `${name}Draft`, spec.alsoAs);
  const change = changeOf(spec.fields, `${name}Change`, spec.alsoAs);
  return {
    spec,
    item,
    draft,
    change,
    deleted: Type.Object({ status: OneOf(['deleted']), [`${snakeCase(spec.one)}_id`]: spec.key?.schema ?? Uuid }),
    list: listOf(spec, item, isTable),
    commands: commandsOf(spec, isTable),
    view: viewOf(spec, { draft, change, event, isTable }),
  };
};

const listOf = (spec: AnyResourceSpec, item: TSchema, isTable: boolean): ListDecl => {
  const { filters = [], search = [], as = [snakeCase(manyOf(spec))], sort = isTable ? ['created_at', 'updated_at'] : [], order, limit } = spec.list ?? {};
  const properties = propertiesOf(spec);
  const notText = search.find((field) => !isText(properties[field]));
  if (notText !== undefined) throw new Error(`the search of ${manyOf(spec)} looks into ${notText}, which is not a text field`);
  return defineList({
    item,
    as,
    sort,
    ...(order === undefined ? {} : { order }),
    ...(limit === undefined ? {} : { limit }),
    filters: Object.fromEntries(filters.map((field) => [field, filterOf(properties, field)])),
    ...(search.length === 0 ? {} : { searches: search.join(', ') }),
  });
};

const filterOf = (properties: Readonly<Record<string, TSchema>>, field: string): TSchema => {
  const schema = properties[field];
  if (schema === undefined) throw new Error(`a list cannot be filtered by ${field}, which is not a field`);
  // What else the field may be, such as null, nobody filters by.
  const [{ default: _, ...rest } = schema] = optionsOf(schema);
  return { ...said(schema), ...rest, description: `Only those with this ${field}` };
};

/** Its kind, where that is said of a union. */
const said = (schema: TSchema): object => Object.fromEntries(Object.entries(schema).filter(([key]) => key.startsWith('x-')));
