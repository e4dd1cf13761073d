/** A resource as the page draws it. */
import type { ActionButton, CollectionView, ViewColumn, ViewFilter } from '../declare/collection-view.js';
import type { TObject, TSchema } from '../schema/schema.js';
import { actionMethod, actionPath, type AnyResourceSpec, itemPathOf, keyOf, manyOf, operationOf, shownColumns, snakeCase, updateMethod } from './spec.js';
import { optionsOf, propertiesOf } from './fields.js';

interface Bodies {
  readonly draft: TObject;
  readonly change: TObject;
  readonly event: string | undefined;
  /** Rows of a table have a revision, and say when they were changed. */
  readonly isTable: boolean;
}

export const viewOf = (spec: AnyResourceSpec, { draft, change, event, isTable }: Bodies): CollectionView => {
  const { area, list = {}, view = {}, words = {} } = spec;
  const many = manyOf(spec);
  const { search = [], sort = isTable ? ['created_at', 'updated_at'] : [], as: [rows] = [snakeCase(many)] } = list;
  const properties = propertiesOf(spec);
  const columns = shownColumns(spec);
  const may = (verb: 'create' | 'update' | 'delete') => operationOf(spec, verb)?.permission ?? `${area}.write`;
  const changes = operationOf(spec, 'update') !== undefined || operationOf(spec, 'replace') !== undefined;
  const received = view.event ?? event;
  return {
    path: spec.path,
    itemPath: itemPathOf(spec),
    ...(rows === undefined ? {} : { rows }),
    ...(spec.under === undefined ? {} : { under: { field: spec.under.field, of: spec.under.of } }),
    idField: keyOf(spec),
    ...(columns[0] === undefined ? {} : { nameField: columns[0].field }),
    title: words.title ?? `${many.charAt(0).toUpperCase()}${many.slice(1)}`,
    one: words.one ?? spec.one,
    ...(words.note === undefined ? {} : { note: words.note }),
    ...(words.empty === undefined ? {} : { empty: words.empty }),
    ...(words.fields === undefined ? {} : { fields: words.fields }),
    columns: [...columns.map((column) => ({ ...formatOf(column.field, properties[column.field]), ...column })), ...(isTable ? [{ field: 'updated_at', format: 'ago', isMinor: true } as const] : [])],
    ...(operationOf(spec, 'create') ? { create: draft } : {}),
    ...(changes ? { update: operationOf(spec, 'update') ? { method: updateMethod(spec), schema: change } : { method: 'PUT' as const, schema: draft, whole: true } } : {}),
    remove: operationOf(spec, 'delete') !== undefined,
    ...(isTable ? { revisionField: 'revision' } : {}),
    search: search.length > 0,
    filters: view.filters ?? filtersOf(spec, properties),
    sort,
    ...(view.cursor === undefined ? {} : { cursor: view.cursor }),
    ...(view.limit === undefined ? {} : { limit: view.limit }),
    ...(received === undefined ? {} : { event: received }),
    ...(spec.actions === undefined ? {} : { actions: buttonsOf(spec) }),
    ...(view.opens === undefined ? {} : { opens: view.opens }),
    ...(view.detail === false || view.opens !== undefined || !operationOf(spec, 'get') ? {} : { detail: view.detail ?? Object.keys(properties) }),
    permissions: { create: may('create'), update: may('update'), remove: may('delete') },
  };
};

const filtersOf = ({ list }: AnyResourceSpec, properties: Readonly<Record<string, TSchema>>): readonly ViewFilter[] =>
  (list?.filters ?? []).flatMap((field) => {
    const values = choicesOf(properties[field]);
    return values === undefined ? [] : [{ field, values }];
  });

const buttonsOf = (spec: AnyResourceSpec): ActionButton[] =>
  Object.entries(spec.actions ?? {}).flatMap(([name, action]) => {
    if (action.button === undefined) return [];
    const { body, done, on = 'item', permission = `${spec.area}.write` } = action;
    const asks = body?.type === 'object' && Object.keys(body.properties ?? {}).length > 0;
    return [{ ...action.button, name, on, method: actionMethod(action), path: actionPath(spec, name, action), permission, ...(asks ? { body } : {}), ...(done === undefined ? {} : { done }) }];
  });

const choicesOf = (schema: TSchema | undefined): readonly string[] | undefined => (Array.isArray(schema?.enum) && schema.enum.every((value) => typeof value === 'string') ? schema.enum : undefined);

const BY_KIND: Readonly<Record<string, NonNullable<ViewColumn['format']>>> = { percent: 'percent', money: 'usd', duration: 'duration', cron: 'code', model: 'code' };

const formatOf = (field: string, schema: TSchema | undefined): Pick<ViewColumn, 'format' | 'of' | 'unit'> => {
  const kind = String(schema?.['x-kind']);
  if (kind === 'reference') return { format: 'reference', of: String(schema?.['x-of']) };
  if (kind === 'duration') return { format: 'duration', unit: String(schema?.['x-unit']) };
  const format = BY_KIND[kind] ?? plainFormat(field, schema);
  return format === undefined ? {} : { format };
};

const plainFormat = (field: string, schema: TSchema | undefined): ViewColumn['format'] => {
  const types = new Set(schema === undefined ? [] : optionsOf(schema).map(({ type }) => String(type)));
  if (choicesOf(schema)) return 'badge';
  if (field.endsWith('_at')) return 'date';
  if (field.endsWith('_bytes')) return 'bytes';
  if (types.has('boolean')) return 'yes';
  return types.has('integer') || types.has('number') ? 'number' : undefined;
};
