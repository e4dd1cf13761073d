/**
 * What can be read off a JSON Schema without a validator: defaults, the schema
 * at a path, unknown keys, and a sentence that says what is expected. A start
 * without a config file needs nothing else.
 */

/** The part of JSON Schema that config schemas use. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema | undefined;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly 'x-secret'?: boolean;
  /** With `x-secret`: `sha256:<hex>` of the value is accepted too. */
  readonly 'x-hash-serves'?: boolean;
  readonly 'x-security'?: boolean;
  /** A key by which callers are let in: while none is set, the daemon is open (api-keys.ts). */
  readonly 'x-caller-key'?: boolean;
  /** With `x-caller-key`: the daemon sets it automatically to the hash of the key that it created; a value in the file is ignored. */
  readonly 'x-owner-key'?: boolean;
  /** The environment variable that overrides the setting. */
  readonly 'x-env'?: string;
  /** Older spellings of a setting, on the top level of the file. */
  readonly 'x-alias'?: readonly string[];
  /** Read once, at the start: another value waits for the next one. */
  readonly 'x-restart'?: boolean;
  /** Changed by a person in the file and by no program: why, and what changes it instead. */
  readonly 'x-by-hand'?: string;
  /** Of a switch that is `x-by-hand`: the owner may turn it on over the API with a fresh confirmation. Turning it off stays for the file. */
  readonly 'x-owner-turns-on'?: boolean;
  /** On a section: settings of the published interface that nothing reads yet; a text says what holds instead. */
  readonly 'x-waiting'?: Readonly<Record<string, string | true>>;
}

type Tree = Record<string, unknown>;

export const isTable = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The table that it is; an empty one where it is none. */
export const tableOf = (value: unknown): Readonly<Record<string, unknown>> => (isTable(value) ? value : {});

export const isTextTable = (value: unknown): value is Record<string, string> => isTable(value) && Object.values(value).every((member) => typeof member === 'string');

/** A copy of `value` with the schema's defaults where it says nothing. `undefined` when neither says anything. */
export const withDefaults = (schema: JsonSchema, value: unknown): unknown => {
  if (value === undefined) {
    if (schema.default !== undefined && !schema.properties) return structuredClone(schema.default);
    if (!schema.properties) return undefined;
    return fillTable(schema, isTable(schema.default) ? schema.default : {});
  }
  if (Array.isArray(value)) return value.map((item) => (schema.items ? withDefaults(schema.items, item) : item));
  if (isTable(value)) return fillTable(schema, value);
  return value;
};

const fillTable = (schema: JsonSchema, value: Tree): Tree => {
  const out: Tree = Object.create(null);
  for (const [key, inner] of Object.entries(value)) {
    const part = schemaOf(schema, key);
    out[key] = part ? withDefaults(part, inner) : inner;
  }
  for (const [key, part] of Object.entries(schema.properties ?? {})) {
    if (out[key] !== undefined) continue;
    const filled = withDefaults(part, undefined);
    if (filled !== undefined && (!isTable(filled) || isWhole(part, filled, schema.required?.includes(key) ?? false))) out[key] = filled;
  }
  return out;
};

/** An optional table stays away as a whole where a required member has no default, and where nothing would stand in it. */
const isWhole = (part: JsonSchema, filled: Tree, isRequired: boolean): boolean =>
  (part.required ?? []).every((name) => filled[name] !== undefined) && (isRequired || part.default !== undefined || Object.keys(filled).length > 0);

/** The schema of one member of a table or list. */
export const schemaOf = (schema: JsonSchema, key: string): JsonSchema | undefined => {
  if (schema.properties && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  if (schema.items && /^\d+$/.test(key)) return schema.items;
  for (const [pattern, part] of Object.entries(schema.patternProperties ?? {})) if (new RegExp(pattern, 'u').test(key)) return part;
  if (isTable(schema.additionalProperties)) return schema.additionalProperties;
  for (const branch of schema.anyOf ?? []) {
    const part = schemaOf(branch, key);
    if (part) return part;
  }
  return undefined;
};

export const schemaAt = (schema: JsonSchema, path: readonly string[]): JsonSchema | undefined => path.reduce<JsonSchema | undefined>((part, key) => (part ? schemaOf(part, key) : undefined), schema);

/** A table is closed unless its schema says otherwise: a setting that nothing reads is a mistake, not a comment. */
const isClosed = (schema: JsonSchema): boolean => schema.properties !== undefined && (schema.additionalProperties === undefined || schema.additionalProperties === false);

export interface UnknownKey {
  readonly path: readonly string[];
  /** Names that would have been right there. */
  readonly known: readonly string[];
}

/** Splits a value into what the schema knows and the keys it does not. */
export const splitUnknown = (schema: JsonSchema, value: unknown, path: readonly string[] = []): { value: unknown; unknown: readonly UnknownKey[] } => {
  const unknown: UnknownKey[] = [];
  const visit = (part: JsonSchema | undefined, inner: unknown, at: readonly string[]): unknown => {
    if (!part) return inner;
    if (Array.isArray(inner)) {
      // A list that is too long does not fit, whatever is in it.
      return part.items && inner.length <= (part.maxItems ?? Number.POSITIVE_INFINITY) ? inner.map((item, index) => visit(part.items, item, [...at, String(index)])) : inner;
    }
    if (!isTable(inner)) return inner;
    const out: Tree = Object.create(null);
    const names = Object.keys(part.properties ?? {});
    for (const [key, member] of Object.entries(inner)) {
      const known = schemaOf(part, key);
      if (!known && isClosed(part)) unknown.push({ path: [...at, key], known: names });
      else out[key] = visit(known, member, [...at, key]);
    }
    return out;
  };
  return { value: visit(schema, value, path), unknown };
};

/** The expectation of a schema, as the end of "must be". */
export const describeSchema = (schema: JsonSchema): string => {
  const options = choices(schema);
  if (options.length > 0) return options.length === 1 ? String(options[0]) : `one of ${options.join(', ')}`;
  if (schema.anyOf) return schema.anyOf.map(describeSchema).join(' or ');
  switch (schema.type) {
    case 'integer':
      return `a whole number${range(schema)}`;
    case 'number':
      return `a number${range(schema)}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return `a list${schema.items?.type === 'string' ? ' of strings' : ''}${schema.maxItems === undefined ? '' : ` of at most ${schema.maxItems}`}`;
    case 'object':
      return 'a table';
    case 'string':
      return `a string${text(schema)}`;
    default:
      return typeof schema.type === 'string' ? `of type ${schema.type}` : 'valid';
  }
};

const choices = (schema: JsonSchema): string[] => {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value));
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  if (schema.anyOf?.every((branch) => branch.const !== undefined)) return schema.anyOf.map((branch) => JSON.stringify(branch.const));
  return [];
};

const range = ({ minimum, exclusiveMinimum, maximum }: JsonSchema): string => {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  const from = minimum !== undefined ? ` of at least ${minimum}` : exclusiveMinimum !== undefined ? ` above ${exclusiveMinimum}` : '';
  return maximum === undefined ? from : `${from === '' ? '' : `${from} and`} of at most ${maximum}`;
};

/** Formats whose name alone would not tell what to write. */
const FORMATS: Readonly<Record<string, string>> = {
  'ip-range': ' with an IP address, or a range of them such as 10.0.0.0/8',
  cron: ' with a cron expression such as "0 3 * * *"',
  'time-zone': ' with the name of a time zone such as Europe/Berlin',
};

const text = ({ minLength, maxLength, format, pattern }: JsonSchema): string => {
  if (format !== undefined) return FORMATS[format] ?? ` in the form ${format}`;
  if (pattern !== undefined) return ` that matches ${pattern}`;
  if (minLength !== undefined && maxLength !== undefined) return ` of ${minLength} to ${maxLength} characters`;
  if (minLength !== undefined) return minLength === 1 ? ' that is not empty' : ` of at least ${minLength} characters`;
  return maxLength === undefined ? '' : ` of at most ${maxLength} characters`;
};
