/** A collection as the page draws it. */
import type { CollectionView, ViewColumn } from '../declare/collection-view.js';
import type { TObject, TSchema } from '../schema/schema.js';
import { optionsOf } from './fields.js';
import { type AnyCollectionSpec, manyOf, operationOf, shownFields, snakeCase } from './spec.js';

interface Bodies {
  readonly draft: TObject;
  readonly change: TObject;
  readonly event: string;
}

export const viewOf = (spec: AnyCollectionSpec, { draft, change, event }: Bodies): CollectionView => {
  const { area, fields, list = {}, words = {} } = spec;
  const many = manyOf(spec);
  const { filters = [], search = [], sort = ['created_at', 'updated_at'], as: [rows] = [snakeCase(many)] } = list;
  const columns = shownFields(spec);
  const may = (verb: 'create' | 'update' | 'remove') => operationOf(spec, verb)?.permission ?? `${area}.write`;
  return {
    path: spec.path,
    ...(rows === undefined ? {} : { rows }),
    idField: 'id',
    ...(columns[0] === undefined ? {} : { nameField: columns[0] }),
    title: words.title ?? `${many.charAt(0).toUpperCase()}${many.slice(1)}`,
    one: words.one ?? spec.one,
    ...(words.note === undefined ? {} : { note: words.note }),
    ...(words.fields === undefined ? {} : { fields: words.fields }),
    columns: [...columns.map((field) => columnOf(field, fields.properties[field])), { field: 'updated_at', format: 'ago', isMinor: true }],
    ...(operationOf(spec, 'create') ? { create: draft } : {}),
    ...(operationOf(spec, 'update') ? { update: { method: spec.updateBy ?? 'PUT', schema: change } } : {}),
    remove: operationOf(spec, 'remove') !== undefined,
    revisionField: 'revision',
    search: search.length > 0,
    filters: filters.flatMap((field) => {
      const values = choicesOf(fields.properties[field]);
      return values === undefined ? [] : [{ field, values }];
    }),
    sort,
    event,
    permissions: { create: may('create'), update: may('update'), remove: may('remove') },
  };
};

const choicesOf = (schema: TSchema | undefined): readonly string[] | undefined => (Array.isArray(schema?.enum) && schema.enum.every((value) => typeof value === 'string') ? schema.enum : undefined);

const columnOf = (field: string, schema: TSchema | undefined): ViewColumn => {
  const format = formatOf(field, schema);
  return format === undefined ? { field } : { field, format };
};

const formatOf = (field: string, schema: TSchema | undefined): ViewColumn['format'] | undefined => {
  const types = new Set(schema === undefined ? [] : optionsOf(schema).map(({ type }) => String(type)));
  if (choicesOf(schema)) return 'badge';
  if (field.endsWith('_at')) return 'date';
  if (field.endsWith('_bytes')) return 'bytes';
  if (types.has('boolean')) return 'yes';
  return types.has('integer') || types.has('number') ? 'number' : undefined;
};
