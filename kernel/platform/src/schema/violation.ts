/** What of a value does not fit a schema, in words that name the place: for what crosses between areas. */
import { isSvcError, type TSchema } from '@svc/api';
import type { Violation } from '@svc/core';
import type { AnySchemaObject } from 'ajv/dist/2020.js';
import { loadAjv } from './ajv.js';
import { compiledOnce } from './compiled-once.js';
import { loadForeignCompile } from './foreign-check.js';
import { loadLinearPatterns } from './linear-pattern.js';
import type { Check } from './steps.js';

type CheckOf = (schema: TSchema) => Check;

/** What TypeBox's builders put on each schema that they make; text has no room for it. */
const BUILT = Symbol.for('TypeBox.Kind');

/** Of all daemons of the process: a declaration is the same object for each of them. */
const compiled = new WeakMap<TSchema, Check>();

let loading: Promise<CheckOf> | undefined;

/** Loads the checker, which matches patterns in linear time, whoever wrote them; each schema is compiled with its first value. */
export const loadViolation = async (): Promise<Violation> => {
  loading ??= loadCompiler();
  const checkOf = await loading;
  return (schema, value) => {
    try {
      const check = compiled.get(schema) ?? checkOf(schema);
      compiled.set(schema, check);
      return check(value) ? undefined : firstOf(check);
    } catch (error) {
      if (isSvcError(error) && error.code === 'schema_too_costly') return error.message.replace(/[.]$/, '');
      throw error;
    }
  };
};

/** A declaration that was read from a file comes from a process of its own: it has lost the marks of the builders, and is bounded. */
const loadCompiler = async (): Promise<CheckOf> => {
  const [makeAjv, patternsOf, compileForeign] = await Promise.all([loadAjv(), loadLinearPatterns(), loadForeignCompile()]);
  const compile = compiledOnce(() => makeAjv({ allErrors: false, strictNumbers: false, code: { regExp: patternsOf() } }));
  return (schema) => (BUILT in schema ? compile(readable(schema)) : compileForeign(readable(schema), { strictNumbers: false }));
};

const readable = (schema: TSchema): AnySchemaObject => JSON.parse(JSON.stringify(schema), (_key, value) => (isNothing(value) ? { nothing: true } : value));

const isNothing = (value: unknown): boolean => typeof value === 'object' && value !== null && 'type' in value && (value.type === 'undefined' || value.type === 'void');

const firstOf = ({ errors }: Check): string => {
  const [first] = errors ?? [];
  if (!first) return 'it does not fit';
  return `${first.instancePath === '' ? 'the whole' : first.instancePath} ${first.message ?? 'does not fit'}`;
};
