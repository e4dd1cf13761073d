/** What of a value does not fit a schema, in words that name the place: for what crosses between areas. */
import type { TSchema } from '@svc/api';
import type { Misfit } from '@svc/core';
import type { AnySchemaObject, ValidateFunction } from 'ajv/dist/2020.js';
import { type Compile, compiledOnce } from './compiled-once.js';
import { loadLinearPatterns } from './linear-pattern.js';

let loading: Promise<Compile> | undefined;

/** Loads the checker, which matches patterns in linear time, whoever wrote them; each schema is compiled with its first value. */
export const loadMisfit = async (): Promise<Misfit> => {
  loading ??= loadCompiler();
  const compile = await loading;
  const compiled = new WeakMap<TSchema, ValidateFunction>();
  return (schema, value) => {
    const check = compiled.get(schema) ?? compile(readable(schema));
    compiled.set(schema, check);
    return check(value) ? undefined : firstOf(check);
  };
};

const loadCompiler = async (): Promise<Compile> => {
  const [{ Ajv2020: Ajv }, formats, regExp] = await Promise.all([import('ajv/dist/2020.js'), import('ajv-formats'), loadLinearPatterns()]);
  const ajv = new Ajv({ allErrors: false, strict: false, meta: false, validateSchema: false, addUsedSchema: false, code: { regExp } });
  // A CommonJS package: the function is its default's default.
  formats.default.default(ajv);
  // JSON Schema has no word for nothing.
  ajv.addKeyword({ keyword: 'nothing', schemaType: 'boolean', validate: (_is: boolean, value: unknown) => value === undefined, errors: false, error: { message: 'must be nothing' } });
  return compiledOnce(ajv);
};

const readable = (schema: TSchema): AnySchemaObject => JSON.parse(JSON.stringify(schema), (_key, value) => (isNothing(value) ? { nothing: true } : value));

const isNothing = (value: unknown): boolean => typeof value === 'object' && value !== null && 'type' in value && (value.type === 'undefined' || value.type === 'void');

const firstOf = ({ errors }: ValidateFunction): string => {
  const [first] = errors ?? [];
  if (!first) return 'it does not fit';
  return `${first.instancePath === '' ? 'the whole' : first.instancePath} ${first.message ?? 'does not fit'}`;
};
