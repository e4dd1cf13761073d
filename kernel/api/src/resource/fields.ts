/** Fields of a collection: one schema says what a person sets, and from it come the bodies, the answer and the columns. */
import type { Columns } from '../declare/table.js';
import { type Static, type TObject, type TSchema, Type } from '../schema/schema.js';
import type { ColumnKind, ColumnSpec, Row, Scalar } from '../storage.js';
import type { AnyResourceSpec } from './spec.js';

/** Fields that every item has in addition to its own. */
export const ItemHead = {
  id: Type.String({ description: 'Chosen by the server' }),
  owner_id: Type.String({ description: 'Owner' }),
  revision: Type.Integer({ description: 'One more with each change' }),
  created_at: Type.String({ description: 'ISO 8601' }),
  updated_at: Type.String({ description: 'ISO 8601' }),
};
export type ItemHead = Static<TObject<typeof ItemHead>>;

export type Item<F extends TObject> = ItemHead & Static<F>;

/** Of `fields`, where it takes no value: null, or what its default says. */
type Given<F extends TObject> = Partial<Static<F>>;
/** A new item as a person writes it: fields that have a default, or may be null, can be left out. */
export type Draft<F extends TObject> = Given<F>;
/** A change as a person writes it: any of the fields. */
export type Change<F extends TObject> = Given<F>;

interface Field {
  readonly kind: ColumnKind;
  readonly isNullable: boolean;
  readonly mayBeLeftOut: boolean;
}

const KINDS: Readonly<Record<string, ColumnKind>> = { string: 'text', integer: 'integer', number: 'real', boolean: 'boolean' };

const isNull = (schema: TSchema): boolean => schema.type === 'null';

/** The schemas that a value may fit: those of a union, unions within it too, else the schema itself. */
export const optionsOf = (schema: TSchema): TSchema[] => (Array.isArray(schema.anyOf) ? schema.anyOf.flatMap(optionsOf) : [schema]);

const fieldOf = (schema: TSchema): Field => {
  const options = optionsOf(schema);
  const isNullable = options.some(isNull);
  const [kind = 'json', another] = new Set(options.filter((option) => !isNull(option)).map(({ type }) => KINDS[String(type)] ?? 'json'));
  return { kind: another === undefined ? kind : 'json', isNullable, mayBeLeftOut: isNullable || schema.default !== undefined };
};

export const isText = (schema: TSchema | undefined): boolean => schema !== undefined && fieldOf(schema).kind === 'text';

const entriesOf = (fields: TObject): Array<[string, TSchema]> => Object.entries(fields.properties);

/** Further names of a field: the page and the command line offer the first alone. */
type AlsoAs = NonNullable<AnyResourceSpec['alsoAs']>;

const closed = (properties: Record<string, TSchema>, name: string, alsoAs: AlsoAs = {}): TObject => {
  const others = Object.entries(alsoAs).flatMap(([key, names]) => {
    const { default: _, ...schema } = properties[key] ?? {};
    return names.map((other) => [other, Type.Optional({ ...schema, 'x-same-as': key, description: `The same as \`${key}\`` } as unknown as TSchema)] as const);
  });
  return Type.Object({ ...properties, ...Object.fromEntries(others) }, { additionalProperties: false, 'x-name': name });
};

/** The body with the first name of each field. Where both are given the first counts. */
export const withFirstNames = (alsoAs: AlsoAs | undefined, body: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const given = { ...body };
  for (const [key, names] of Object.entries(alsoAs ?? {}))
    for (const other of names) {
      if (given[other] !== undefined) given[key] ??= given[other];
      delete given[other];
    }
  return given;
};

/** The body of a new item. */
export const draftOf = (fields: TObject, name: string, alsoAs: AlsoAs = {}): TObject =>
  closed(
    Object.fromEntries(
      entriesOf(fields).map(([key, schema]) => {
        const { mayBeLeftOut, isNullable } = fieldOf(schema);
        // One that has two names is asked for by the handler.
        if (!mayBeLeftOut) return [key, Object.hasOwn(alsoAs, key) ? Type.Optional(schema) : schema];
        return [key, Type.Optional(isNullable && schema.default === undefined ? { ...schema, default: null } : schema)];
      }),
    ),
    name,
    alsoAs,
  );

/** Fields that must be there and have two names: a schema cannot ask for one or the other without hiding its fields from clients. */
export const missingField = (fields: TObject, alsoAs: AlsoAs | undefined, body: Readonly<Record<string, unknown>>): string | undefined =>
  Object.keys(alsoAs ?? {}).find((key) => body[key] === undefined && fields.properties[key] !== undefined && !fieldOf(fields.properties[key]).mayBeLeftOut);

/** The body of a change: missing fields stay unchanged, so defaults are not filled in. */
export const changeOf = (fields: TObject, name: string, alsoAs: AlsoAs = {}): TObject =>
  closed(
    Object.fromEntries(
      entriesOf(fields).map(([key, schema]) => {
        const { default: _, ...rest } = schema;
        return [key, Type.Optional(rest as TSchema)];
      }),
    ),
    name,
    alsoAs,
  );

/** What of a declaration shapes its items. */
type Shaped = Pick<AnyResourceSpec, 'fields' | 'computed' | 'under' | 'writeOnly'>;

/** What an item shows of what a person set: no secrets, but whether each is set. */
export const shownFields = ({ fields, under, writeOnly = {} }: Shaped): TObject =>
  Type.Object({
    ...(under === undefined ? {} : { [under.field]: Type.String({ description: 'What it stands below' }) }),
    ...Object.fromEntries(entriesOf(withoutDefaults(fields)).filter(([key]) => !Object.hasOwn(writeOnly, key))),
    ...Object.fromEntries(Object.entries(writeOnly).map(([key, shown]) => [shown, Type.Boolean({ description: `Whether \`${key}\` is set` })])),
  });

/** Of an item, by name. */
export const propertiesOf = (spec: AnyResourceSpec): Record<string, TSchema> => spec.item?.properties ?? { ...shownFields(spec).properties, ...spec.computed?.properties };

/** The answer of a table. Its type is known by the fields, which the object made here does not show. */
export const itemOf = <F extends TObject, C extends TObject = TObject<Record<never, TSchema>>>(spec: Shaped & { readonly fields: F; readonly computed?: C }, name: string) =>
  Type.Unsafe<Item<F> & Static<C>>(Type.Object({ ...ItemHead, ...shownFields(spec).properties, ...spec.computed?.properties }, { 'x-name': name }));

const withoutDefaults = (fields: TObject): TObject =>
  Type.Object(
    Object.fromEntries(
      entriesOf(fields).map(([key, schema]) => {
        const { default: _, ...rest } = schema;
        return [key, rest as TSchema];
      }),
    ),
  );

const HEAD_COLUMNS = {
  id: { kind: 'text', primaryKey: true },
  owner_id: { kind: 'text', notNull: true },
  revision: { kind: 'integer', notNull: true },
  created_at: { kind: 'text', notNull: true },
  updated_at: { kind: 'text', notNull: true },
} as const satisfies Columns;

/** The columns of the table. A field that the table cannot hold is refused when the area is loaded. */
export const columnsOf = (spec: AnyResourceSpec): Columns => {
  const columns: Record<string, ColumnSpec> = { ...HEAD_COLUMNS };
  for (const [key, schema] of entriesOf(shownFields(spec))) {
    if (Object.hasOwn(HEAD_COLUMNS, key)) throw new Error(`the field ${key} is one that every item has`);
    const { kind, isNullable } = fieldOf(schema);
    columns[key] = isNullable || (key === spec.under?.field && spec.under.whenGone === 'detach') ? { kind } : { kind, notNull: true };
  }
  return columns;
};

/** How items become rows, and rows items: JSON is text in a row, and a boolean is 0 or 1. */
export const codecOf = <F extends TObject>(spec: AnyResourceSpec & { readonly fields: F }): { toRow(item: Item<F>): Row; toItem(row: Row): Item<F> } => {
  const kinds = new Map(Object.entries(columnsOf(spec)).map(([key, { kind }]) => [key, kind]));
  const converted = (source: Readonly<Record<string, unknown>>, convert: (kind: ColumnKind, value: unknown) => unknown): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(source).flatMap(([key, value]) => {
        const kind = kinds.get(key);
        return kind === undefined ? [] : [[key, value === null ? null : convert(kind, value)]];
      }),
    );
  return {
    // The columns were made from the same fields, so what comes out is a row of scalars, or an item; what is no column stays out.
    toRow: (item) => converted(item, toColumn) as Row,
    toItem: (row) => converted(row, fromColumn) as Item<F>,
  };
};

const toColumn = (kind: ColumnKind, value: unknown): Scalar | unknown => (kind === 'json' ? JSON.stringify(value) : kind === 'boolean' ? Number(value) : value);

const fromColumn = (kind: ColumnKind, value: unknown): unknown => {
  if (kind === 'json') return typeof value === 'string' ? JSON.parse(value) : value;
  return kind === 'boolean' ? value === 1 || value === true : value;
};
