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
  ajv.addKeyword({ keyword: NOTHING, validate: (_word: unknown, value: unknown) => value === undefined });
  const compiled = new WeakMap<TSchema, ValidateFunction>();
  return (schema, value) => {
    const known = compiled.get(schema);
    if (known) return known(value) ? undefined : firstOf(known);
    const worded = withNothing(schema);
    if (typeof worded !== 'object' || worded === null) throw new TypeError('a schema is an object');
    const check = ajv.compile(worded);
    compiled.set(schema, check);
    ajv.removeSchema(worded);
    return check(value) ? undefined : firstOf(check);
  };
};

/** JSON Schema has no word for nothing, which a method may answer: `type: undefined`, at any depth, becomes this one. */
const NOTHING = 'isNothing';

const withNothing = (part: unknown): unknown => {
  if (Array.isArray(part)) return part.map(withNothing);
  if (typeof part !== 'object' || part === null) return part;
  if ('type' in part && (part.type === 'undefined' || part.type === 'void')) return { [NOTHING]: true };
  return Object.fromEntries(Object.entries(part).map(([word, value]) => [word, withNothing(value)]));
};

const firstOf = ({ errors }: ValidateFunction): string => {
  const [first] = errors ?? [];
  if (!first) return 'it does not fit';
  if (first.keyword === NOTHING) return `${placeOf(first)} should not be there`;
  return `${placeOf(first)} ${first.message ?? 'does not fit'}`;
};

const placeOf = ({ instancePath }: { readonly instancePath: string }): string => (instancePath === '' ? 'the whole' : instancePath);
