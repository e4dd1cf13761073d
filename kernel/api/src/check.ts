/**
 * Checks a value against a schema where no route does it: the arguments a model
 * sends to a tool. The checker is loaded with the first use, not at start.
 */
import type { TSchema } from './schema.js';

export type Checked =
  | { readonly ok: true }
  /** `path` is a JSON pointer (empty for the whole value); `message` says what was expected there. */
  | { readonly ok: false; readonly path: string; readonly message: string };

interface Checker {
  first(schema: TSchema, value: unknown): Checked;
  places(schema: TSchema, value: unknown): readonly (readonly string[])[];
}

let checker: Promise<Checker> | undefined;

/** The first problem found, or `ok`. Never throws for what the value is. */
export const checkValue = async (schema: TSchema, value: unknown): Promise<Checked> => {
  checker ??= loadChecker();
  return (await checker).first(schema, value);
};

/** Every place where a value does not fit, as paths, for `misfits`; empty when all of it fits. After a hundred the search ends. */
export const placesOf = async (schema: TSchema, value: unknown): Promise<readonly (readonly string[])[]> => {
  checker ??= loadChecker();
  return (await checker).places(schema, value);
};

const MAX_PLACES = 100;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const loadChecker = async (): Promise<Checker> => {
  const [{ FormatRegistry, TypeRegistry }, { Value }] = await Promise.all([import('@sinclair/typebox'), import('@sinclair/typebox/value')]);
  // TypeBox knows nothing of its own `Type.Unsafe` (our OneOf, or a foreign JSON Schema) nor of any format until told.
  if (!TypeRegistry.Has('Unsafe')) TypeRegistry.Set<{ type?: unknown; enum?: readonly unknown[] }>('Unsafe', (schema, value) => matchesPlain(schema, value));
  if (!FormatRegistry.Has('uuid')) FormatRegistry.Set('uuid', (value) => UUID.test(value));
  if (!FormatRegistry.Has('date-time')) FormatRegistry.Set('date-time', (value) => !Number.isNaN(Date.parse(value)));
  return {
    first: (schema, value) => {
      if (Value.Check(schema, value)) return { ok: true };
      const first = Value.Errors(schema, value).First();
      return { ok: false, path: first?.path ?? '', message: first ? describe(first.schema, first.value, first.message) : 'does not fit the schema' };
    },
    places: (schema, value) => {
      const places: string[][] = [];
      if (Value.Check(schema, value)) return places;
      for (const { path } of Value.Errors(schema, value)) {
        places.push(
          path
            .split('/')
            .slice(1)
            .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
        );
        if (places.length >= MAX_PLACES) break;
      }
      return places;
    },
  };
};

/** What of a plain JSON Schema is checked here: its type and its closed set of values. */
const matchesPlain = (schema: { type?: unknown; enum?: readonly unknown[] }, value: unknown): boolean => {
  if (schema.enum && !schema.enum.includes(value)) return false;
  return typeof schema.type !== 'string' || schema.type === kindOf(value) || (schema.type === 'integer' && Number.isInteger(value));
};

const describe = (schema: TSchema, value: unknown, message: string): string => {
  if (value === undefined) return 'is required';
  if (Array.isArray(schema.enum)) return `must be one of ${schema.enum.map((item) => JSON.stringify(item)).join(', ')}`;
  return typeof schema.type === 'string' && schema.type !== kindOf(value) ? `must be ${schema.type}, and is ${kindOf(value)}` : message.toLowerCase();
};

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
