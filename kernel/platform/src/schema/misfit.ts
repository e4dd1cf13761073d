/** What of a value does not fit a schema, in words that name the place: for what crosses between areas. */
import type { TSchema } from '@svc/api';
import type { Misfit } from '@svc/core';
import type { ValidateFunction } from 'ajv/dist/2020.js';

/** Loads the checker; each schema is compiled with its first value and kept as long as somebody else keeps the schema. */
export const loadMisfit = async (): Promise<Misfit> => {
  const [{ Ajv2020 }, formats] = await Promise.all([import('ajv/dist/2020.js'), import('ajv-formats')]);
  const ajv = new Ajv2020({ allErrors: false, strict: false, meta: false, validateSchema: false, addUsedSchema: false });
  // A CommonJS package: the function is its default's default.
  formats.default.default(ajv);
  const compiled = new WeakMap<TSchema, ValidateFunction>();
  return (schema, value) => {
    // JSON Schema has no word for nothing.
    if (schema.type === 'undefined' || schema.type === 'void') return value === undefined ? undefined : 'nothing was expected';
    const check = compiled.get(schema) ?? ajv.compile(schema);
    compiled.set(schema, check);
    ajv.removeSchema(schema);
    return check(value) ? undefined : firstOf(check);
  };
};

const firstOf = ({ errors }: ValidateFunction): string => {
  const [first] = errors ?? [];
  if (!first) return 'it does not fit';
  return `${first.instancePath === '' ? 'the whole' : first.instancePath} ${first.message ?? 'does not fit'}`;
};
