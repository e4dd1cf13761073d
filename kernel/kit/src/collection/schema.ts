/** What a JSON Schema says of one field: its kind, its choices, and whether it may be left empty. */

export type Scalar = string | number | boolean;

export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: ReadonlyArray<Scalar | null>;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly format?: string;
  readonly contentMediaType?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  /** What it is to a person: `reference`, `duration`, `money` …; see `Field` of @svc/api. */
  readonly 'x-kind'?: string;
  readonly 'x-of'?: string;
  readonly 'x-unit'?: string;
  readonly 'x-language'?: string;
  /** Another name of this field: it has no input. */
  readonly 'x-same-as'?: string;
  readonly 'x-none-word'?: string;
}

/** `lines`: a list of plain values. `entries`: a list of objects. `part`: an object. `table`: free names. `json`: anything else. */
export type Kind = 'reference' | 'model' | 'duration' | 'secret' | 'code' | 'switch' | 'choice' | 'number' | 'text' | 'long' | 'time' | 'lines' | 'entries' | 'part' | 'table' | 'json';

export interface Shape {
  readonly kind: Kind;
  readonly isNullable: boolean;
  readonly choices: readonly Scalar[];
  /** Without null, and of a union what its values have in common. */
  readonly schema: Schema;
}

/** Text that may be longer has several lines. */
const ONE_LINE = 2_000;

export const shapeOf = (schema: Schema): Shape => {
  const all = optionsOf(schema);
  const options = all.filter((option) => !isNull(option));
  const isNullable = options.length < all.length || schema.enum?.includes(null) === true;
  const choices = options.flatMap(choicesOf);
  const isClosed = options.length > 0 && options.every((option) => choicesOf(option).length > 0);
  const { anyOf: _, oneOf: __, ...said } = schema;
  if (isClosed) return { kind: 'choice', isNullable, choices, schema: said };
  // An empty text beside a stricter one stands for nothing.
  const [one, another] = options.filter(({ const: only }) => only !== '');
  const common: Schema = another === undefined ? { ...one, ...said } : { ...said, ...commonType(options) };
  return { kind: kindIn(common), isNullable: isNullable || (options.length > 1 && another === undefined), choices: [], schema: common };
};

export const kindOf = (schema: Schema): Kind => shapeOf(schema).kind;

const optionsOf = (schema: Schema): Schema[] => {
  const union = schema.anyOf ?? schema.oneOf;
  if (union) return union.flatMap(optionsOf);
  const { type } = schema;
  return Array.isArray(type) ? type.map((one: string) => ({ ...schema, type: one })) : [schema];
};

const isNull = (schema: Schema): boolean => schema.type === 'null' || schema.const === null;

const isScalar = (value: unknown): value is Scalar => ['string', 'number', 'boolean'].includes(typeof value);

const choicesOf = (schema: Schema): Scalar[] => (isScalar(schema.const) ? [schema.const] : (schema.enum ?? []).filter(isScalar));

const commonType = (options: readonly Schema[]): Pick<Schema, 'type'> => {
  const [type, another] = new Set(options.map((option) => option.type));
  return type === undefined || another !== undefined ? {} : { type };
};

const KINDS_OF_TEXT: Readonly<Record<string, Kind>> = { reference: 'reference', model: 'model', duration: 'duration', secret: 'secret', code: 'code', markdown: 'long', json: 'json' };

const kindIn = (schema: Schema): Kind => {
  const said = KINDS_OF_TEXT[schema['x-kind'] ?? ''];
  if (said !== undefined) return said;
  switch (schema.type) {
    case 'boolean':
      return 'switch';
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
      return textKind(schema);
    case 'array':
      return listKind(schema.items);
    default:
      return schema.patternProperties ? 'table' : schema.properties ? 'part' : 'json';
  }
};

const textKind = ({ format, contentMediaType, pattern, maxLength = 0 }: Schema): Kind => {
  if (format === 'date-time') return 'time';
  return contentMediaType?.startsWith('text/') || (maxLength > ONE_LINE && format === undefined && pattern === undefined) ? 'long' : 'text';
};

const listKind = (items: Schema | undefined): Kind => {
  if (items?.properties) return 'entries';
  return items && ['switch', 'choice', 'number', 'text'].includes(kindOf(items)) ? 'lines' : 'json';
};

const TEXTS: readonly Kind[] = ['text', 'long', 'code'];

/** Whether something has to be typed here: what may be null, an empty text or an empty list may stay empty. */
export const mustBeFilled = ({ kind, isNullable, schema }: Shape): boolean => {
  if (isNullable || kind === 'switch' || kind === 'part') return false;
  if (kind === 'lines' || kind === 'entries') return (schema.minItems ?? 0) > 0;
  return !TEXTS.includes(kind) || (schema.minLength ?? 0) > 0 || schema.pattern !== undefined || schema.format !== undefined;
};

/** What was said of a value at the path `a.b`, or at the list that it is in; undefined where there is no such field. */
export const fieldAt = (root: Schema, path: readonly string[]): string | undefined => {
  const [name, ...rest] = path;
  const schema = name === undefined ? undefined : root.properties?.[name];
  if (name === undefined || !schema) return undefined;
  const shape = shapeOf(schema);
  const inside = shape.kind === 'part' ? fieldAt(shape.schema, rest) : undefined;
  return inside === undefined ? name : `${name}.${inside}`;
};

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

const AS_WRITTEN: Readonly<Record<string, string>> = { api: 'API', llm: 'LLM', url: 'URL', urls: 'URLs', ip: 'IP', ws: 'WebSockets', cors: 'CORS', mcp: 'MCP', ssrf: 'SSRF', id: 'ID' };

/** `max_body_bytes` as people read it. */
export const titled = (name: string): string => {
  const text = name
    .split('_')
    .map((word) => AS_WRITTEN[word] ?? word)
    .join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};
