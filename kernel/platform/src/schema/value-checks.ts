/** Validates values where no route and no config section does: arguments of tools, documents that people write. */
import { type Checked, isSvcError, type Schemas, type SvcError } from '@svc/api';
import { isDeeperThan } from './depth.js';
import { describeFault, placeOf } from './fault.js';
import { loadForeignCompile } from './foreign-check.js';
import type { Check } from './steps.js';

const MAX_PLACES = 100;
/** As deep as the body of a request may be. */
const MAX_VALUE_DEPTH = 64;

interface Compiled {
  readonly fills: boolean;
  /** Fills in what the schema gives as default. Compiled when it is called first, as the other one is. */
  first(): Check;
  /** Goes on after the first fault. */
  all(): Check;
}

type Compile = (schema: object) => Compiled;

let compiling: Promise<Compile> | undefined;
const known = new WeakMap<object, Compiled>();

/** A schema is compiled once in this process, and forgotten with the object that it came as. */
const compiledOf = async (schema: object): Promise<Compiled> => {
  const before = known.get(schema);
  if (before) return before;
  compiling ??= loadCompiler();
  const made = (await compiling)(schema);
  known.set(schema, made);
  return made;
};

export const createValueChecks = (): Schemas => {
  return {
    check: async (schema, value, part = 'value') => check(await compiledOf(schema), value, part),
    places: async (schema, value) => {
      if (isDeeperThan(value, MAX_VALUE_DEPTH)) return [[]];
      const validate = (await compiledOf(schema)).all();
      try {
        return validate(value) ? [] : (validate.errors ?? []).slice(0, MAX_PLACES).map(placeOf);
      } catch (error) {
        if (isTooCostly(error)) return [[]];
        throw error;
      }
    },
  };
};

const check = ({ first, fills }: Compiled, given: unknown, part: string): Checked => {
  if (isDeeperThan(given, MAX_VALUE_DEPTH)) return { ok: false, path: [], message: `The ${part} nest${part.endsWith('s') ? '' : 's'} deeper than ${MAX_VALUE_DEPTH} levels.` };
  // The caller's own value stays as it came: it may be kept, and compared with what comes again.
  const value = fills ? structuredClone(given) : given;
  const validate = first();
  try {
    if (validate(value)) return { ok: true, value };
  } catch (error) {
    if (isTooCostly(error)) return { ok: false, path: [], message: error.message };
    throw error;
  }
  const fault = validate.errors?.at(-1);
  return { ok: false, path: fault ? placeOf(fault) : [], message: describeFault(fault, { part }) };
};

const loadCompiler = async (): Promise<Compile> => {
  const compile = await loadForeignCompile();
  return (schema) => {
    let first: Check | undefined;
    let all: Check | undefined;
    return {
      fills: JSON.stringify(schema).includes('"default":'),
      first: () => {
        first ??= compile(schema, { useDefaults: true });
        return first;
      },
      all: () => {
        all ??= compile(schema, { allErrors: true });
        return all;
      },
    };
  };
};

/** True for what costs too many steps, which fits nothing. */
const isTooCostly = (error: unknown): error is SvcError => isSvcError(error) && error.code === 'schema_too_costly';
