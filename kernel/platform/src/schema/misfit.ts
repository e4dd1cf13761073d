/** What of a value does not fit a schema, in words that name the place: for what crosses between areas. */
import type { TSchema } from '@svc/api';
import type { Misfit } from '@svc/core';
import { loadLinearPatterns } from './linear-pattern.js';
import type { Ajv2020, AnySchemaObject, ValidateFunction } from 'ajv/dist/2020.js';

/** Loads the checker, which matches patterns in linear time, whoever wrote them; each schema is compiled with its first value and kept as long as somebody else keeps the schema. */
export const loadMisfit = async (): Promise<Misfit> => {
  const [{ Ajv2020: Ajv }, formats, regExp] = await Promise.all([import('ajv/dist/2020.js'), import('ajv-formats'), loadLinearPatterns()]);
  const ajv = new Ajv({ allErrors: false, strict: false, meta: false, validateSchema: false, addUsedSchema: false, code: { regExp } });
  // A CommonJS package: the function is its default's default.
  formats.default.default(ajv);
  // JSON Schema has no word for nothing.
  ajv.addKeyword({ keyword: 'nothing', schemaType: 'boolean', validate: (_is: boolean, value: unknown) => value === undefined, errors: false, error: { message: 'must be nothing' } });
  const compiled = new WeakMap<TSchema, ValidateFunction>();
  return (schema, value) => {
    const check = compiled.get(schema) ?? compile(ajv, schema);
    compiled.set(schema, check);
    return check(value) ? undefined : firstOf(check);
  };
};

const compile = (ajv: Ajv2020, schema: TSchema): ValidateFunction => {
  const readable: AnySchemaObject = JSON.parse(JSON.stringify(schema), (_key, value) => (isNothing(value) ? { nothing: true } : value));
  const check = ajv.compile(readable);
  // Two schemas may have one $id; it is not by that that they are found again.
  ajv.removeSchema(readable);
  return check;
};

const isNothing = (value: unknown): boolean => typeof value === 'object' && value !== null && 'type' in value && (value.type === 'undefined' || value.type === 'void');

const firstOf = ({ errors }: ValidateFunction): string => {
  const [first] = errors ?? [];
  if (!first) return 'it does not fit';
  return `${first.instancePath === '' ? 'the whole' : first.instancePath} ${first.message ?? 'does not fit'}`;
};
