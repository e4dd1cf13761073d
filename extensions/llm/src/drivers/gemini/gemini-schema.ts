/**
 * Schemas of tools in the part of JSON Schema that Gemini takes: it refuses a whole request for one word it does not know.
 * What has a near equal there is written so; what has none is left out, because tools validate their arguments again themselves.
 */
import { isTable } from '@svc/api';

export interface GeminiSchema {
  readonly type?: string;
  readonly nullable?: true;
  readonly properties?: Readonly<Record<string, GeminiSchema>>;
  readonly [word: string]: unknown;
}

/** Words that stand as they are. */
const KEPT = ['title', 'description', 'minItems', 'maxItems', 'minLength', 'maxLength', 'pattern', 'minimum', 'maximum'] as const;
const FORMATS: Readonly<Record<string, readonly string[]>> = { string: ['enum', 'date-time'], number: ['float', 'double'], integer: ['int32', 'int64'] };
/** Deeper and larger schemas, as of things that hold themselves, are any object from there on. */
const MAX_DEPTH = 12;
const MAX_PARTS = 500;
const MAX_HOPS = 8;
const TYPES = ['string', 'number', 'boolean', 'object'] as const;

type Table = Readonly<Record<string, unknown>>;

/** Where a schema is being written. */
interface Place {
  readonly root: Table;
  readonly depth: number;
  readonly count: { parts: number };
}

export const geminiSchema = (schema: unknown): GeminiSchema => convert(schema, { root: isTable(schema) ? schema : {}, depth: 0, count: { parts: 0 } });

const convert = (given: unknown, above: Place): GeminiSchema => {
  if (!isTable(given)) return anything();
  const at = { ...above, depth: above.depth + 1 };
  if (at.depth > MAX_DEPTH || ++at.count.parts > MAX_PARTS) return { type: 'object' };
  const schema = resolved(given, at.root);
  const choices = choicesOf(schema);
  if (choices) return ofChoices(schema, choices, at);
  const { type, nullable } = typeOf(schema);
  if (Array.isArray(type))
    return ofChoices(
      schema,
      type.map((one) => ({ ...schema, type: one })),
      at,
      nullable,
    );
  if (type === undefined) return { ...anything(), ...described(schema) };
  return { type, ...kept(schema), ...formatOf(schema, type), ...valuesOf(schema, type), ...membersOf(schema, type, at), ...(nullable ? { nullable: true } : {}) };
};

const anything = (): GeminiSchema => ({ anyOf: TYPES.map((type) => ({ type })) });

const described = ({ description }: Table): object => (typeof description === 'string' ? { description } : {});

const kept = (schema: Table): object => Object.fromEntries(KEPT.flatMap((word) => (schema[word] === undefined ? [] : [[word, schema[word]]])));

/** Follows `#/…` inside the schema, and takes the parts of an `allOf` together. */
const resolved = (schema: Table, root: Table): Table => {
  let own = schema;
  for (let hops = 0; typeof own.$ref === 'string' && hops < MAX_HOPS; hops++) {
    const { $ref, ...beside } = own;
    own = { ...pointed(root, own.$ref), ...beside };
  }
  if (!Array.isArray(own.allOf)) return own;
  const parts = own.allOf.filter(isTable).map((part) => (typeof part.$ref === 'string' ? (pointed(root, part.$ref) ?? part) : part));
  return [...parts, own].reduce<Table>((all, part) => merged(all, part), {});
};

const merged = (a: Table, b: Table): Table => {
  const properties = isTable(a.properties) || isTable(b.properties) ? { properties: { ...(isTable(a.properties) ? a.properties : {}), ...(isTable(b.properties) ? b.properties : {}) } } : {};
  const required = [...(Array.isArray(a.required) ? a.required : []), ...(Array.isArray(b.required) ? b.required : [])];
  return { ...a, ...b, ...properties, ...(required.length > 0 ? { required: [...new Set(required)] } : {}) };
};

const pointed = (root: Table, ref: string): Table | undefined => {
  if (!ref.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const step of ref.slice(1).split('/').slice(1)) at = isTable(at) ? at[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  return isTable(at) ? at : undefined;
};

const choicesOf = ({ anyOf, oneOf }: Table): readonly unknown[] | undefined => (Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined);

const isNull = (schema: unknown): boolean => isTable(schema) && (schema.type === 'null' || schema.const === null);

/** A choice between texts is an enum; one that is left alone is that one. */
const ofChoices = (schema: Table, choices: readonly unknown[], at: Place, mayBeNull = false): GeminiSchema => {
  const real = choices.filter((choice) => !isNull(choice));
  const nullable = mayBeNull || real.length < choices.length ? { nullable: true as const } : {};
  const texts = real.map((choice) => (isTable(choice) && typeof choice.const === 'string' ? choice.const : undefined));
  if (texts.length > 0 && texts.every((text) => text !== undefined)) return { type: 'string', ...described(schema), format: 'enum', enum: texts, ...nullable };
  const [only] = real;
  if (real.length === 1) return { ...convert(only, at), ...described(schema), ...nullable };
  return { ...described(schema), anyOf: real.map((choice) => convert(choice, at)), ...nullable };
};

const typeOf = (schema: Table): { type: string | string[] | undefined; nullable: boolean } => {
  const { type } = schema;
  if (Array.isArray(type)) {
    const real = type.filter((one) => typeof one === 'string' && one !== 'null');
    return { type: real.length === 1 ? real[0] : real, nullable: real.length < type.length };
  }
  return { type: typeof type === 'string' && type !== 'null' ? type : guessed(schema), nullable: schema.nullable === true };
};

/** What a schema without a type is about. */
const guessed = (schema: Table): string | undefined => {
  if (schema.properties !== undefined) return 'object';
  if (schema.items !== undefined) return 'array';
  const [value] = constants(schema);
  if (value === undefined) return undefined;
  return typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'boolean' : 'number';
};

const constants = ({ enum: values, const: value }: Table): readonly unknown[] => (Array.isArray(values) ? values : value === undefined ? [] : [value]);

/** Values can be listed of texts only. */
const valuesOf = (schema: Table, type: string): object => {
  const values = constants(schema).filter((value) => typeof value === 'string' && value !== '');
  return type === 'string' && values.length > 0 ? { format: 'enum', enum: values } : {};
};

const formatOf = ({ format }: Table, type: string): object => (typeof format === 'string' && FORMATS[type]?.includes(format) ? { format } : {});

const membersOf = (schema: Table, type: string, at: Place): object => {
  if (type === 'array') return { items: convert(schema.items, at) };
  if (type !== 'object' || !isTable(schema.properties)) return {};
  const names = Object.keys(schema.properties);
  if (names.length === 0) return {};
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string' && names.includes(name)) : [];
  const properties = Object.fromEntries(Object.entries(schema.properties).map(([name, one]) => [name, convert(one, at)]));
  return { properties, ...(required.length > 0 ? { required } : {}) };
};
