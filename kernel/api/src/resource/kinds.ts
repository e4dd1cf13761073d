/**
 * Kinds of fields: what a value is to a person, beside what it is in JSON. The page draws the field by its kind, the command
 * line reads its words (`tomorrow 9:00`, `90s`, `no limit`), and the documentation shows it as `x-kind`.
 */
import { type Static, type TSchema, Type } from '../schema/schema.js';

export const FIELD_KINDS = ['reference', 'time', 'duration', 'percent', 'money', 'cron', 'model', 'secret', 'code', 'markdown', 'json'] as const;
export type FieldKind = (typeof FIELD_KINDS)[number];

/** What one unit of a number is. */
export type DurationUnit = 'ms' | 's' | 'min' | 'h' | 'd';

interface Said {
  readonly description?: string;
  readonly default?: unknown;
}
interface Bounds extends Said {
  readonly minimum?: number;
  readonly maximum?: number;
}
interface Lengths extends Said {
  readonly minLength?: number;
  readonly maxLength?: number;
}

const kind = <T extends TSchema>(schema: T, name: FieldKind, more: object = {}): T => ({ ...schema, 'x-kind': name, ...more });

export const Field = {
  /** A UUID of something that people know by its name. `of` is the name of a completion with a `key`, such as `agents`. */
  reference: (of: string, options: Said = {}) => kind(Type.String({ format: 'uuid', ...options }), 'reference', { 'x-of': of }),
  /** ISO 8601. */
  time: (options: Said = {}) => kind(Type.String({ format: 'date-time', ...options }), 'time'),
  /** A whole number of `unit`. */
  duration: (unit: DurationUnit, options: Bounds = {}) => kind(Type.Integer({ minimum: 0, ...options }), 'duration', { 'x-unit': unit }),
  /** A whole number, 0 to 100. */
  percent: (options: Bounds = {}) => kind(Type.Integer({ minimum: 0, maximum: 100, ...options }), 'percent'),
  /** US dollars. `none`: the number that stands for no limit; null does where the field is nullable. */
  money: ({ none, ...options }: Bounds & { readonly none?: number } = {}) => kind(Type.Number({ minimum: 0, ...options }), 'money', none === undefined ? {} : { 'x-none': none }),
  cron: (options: Lengths = {}) => kind(Type.String({ minLength: 1, maxLength: 200, ...options }), 'cron'),
  /** The name of a model, of which the page offers those that there are. */
  model: (options: Lengths = {}) => kind(Type.String({ minLength: 1, maxLength: 200, ...options }), 'model', { 'x-of': 'models' }),
  /** Taken and never shown. */
  secret: (options: Lengths = {}) => kind(Type.String({ minLength: 1, maxLength: 10_000, writeOnly: true, ...options }), 'secret'),
  /** `language` as a fence of Markdown names it. */
  code: (language: string, options: Lengths = {}) => kind(Type.String(options), 'code', { 'x-language': language }),
  markdown: (options: Lengths = {}) => kind(Type.String(options), 'markdown', { contentMediaType: 'text/markdown' }),
  json: (options: Said = {}) => kind(Type.Unknown(options), 'json'),
};

/** The same field, where nothing may stand too: null. What `null` means is said by `none`, in the words of a person: `no limit`. */
export const Optionally = <T extends TSchema>(schema: T, none?: string) =>
  Type.Unsafe<Static<T> | null>({
    ...withoutPlace(schema),
    ...(none === undefined ? {} : { 'x-none-word': none }),
    anyOf: [schema, { type: 'null' }],
    default: schema.default ?? null,
  });

/** What a person reads of a field, and its kind: said of the whole, not of one of its forms. */
const withoutPlace = (schema: TSchema): object => Object.fromEntries(Object.entries(schema).filter(([key]) => key === 'description' || key.startsWith('x-')));
