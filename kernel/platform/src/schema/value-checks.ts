/** Judges values where no route and no config section does: arguments of tools, documents that people write. */
import { type Checked, isSvcError, type Schemas } from '@svc/api';
import type { Options, ValidateFunction } from 'ajv';
import { loadAjv } from './ajv.js';
import { schemaErrors } from './errors.js';
import { describeFault, placeOf } from './fault.js';
import { foreignSchema } from './foreign-schema.js';
import { loadLinearPatterns } from './linear-pattern.js';

const MAX_PLACES = 100;
/** As deep as the body of a request may be. */
const MAX_VALUE_DEPTH = 64;

interface Compiled {
  readonly fills: boolean;
  /** Fills in what the schema gives as default. Compiled when it is called first, as the other one is. */
  first(): ValidateFunction;
  /** Goes on after the first fault. */
  all(): ValidateFunction;
}

type Compile = (schema: object) => Compiled;

/** A schema is compiled once, and forgotten with the object that it came as. */
export const createValueChecks = (): Schemas => {
  let compiling: Promise<Compile> | undefined;
  const known = new WeakMap<object, Compiled>();
  const compiledOf = async (schema: object): Promise<Compiled> => {
    const before = known.get(schema);
    if (before) return before;
    compiling ??= loadCompiler();
    const made = (await compiling)(schema);
    known.set(schema, made);
    return made;
  };
  return {
    check: async (schema, value, part = 'value') => check(await compiledOf(schema), value, part),
    places: async (schema, value) => {
      if (isDeeperThan(value, MAX_VALUE_DEPTH)) return [[]];
      const judge = (await compiledOf(schema)).all();
      return judge(value) ? [] : (judge.errors ?? []).slice(0, MAX_PLACES).map(placeOf);
    },
  };
};

const check = ({ first, fills }: Compiled, given: unknown, part: string): Checked => {
  if (isDeeperThan(given, MAX_VALUE_DEPTH)) return { ok: false, path: [], message: `The ${part} nest${part.endsWith('s') ? '' : 's'} deeper than ${MAX_VALUE_DEPTH} levels.` };
  // The caller's own value stays as it came: it may be kept, and compared with what comes again.
  const value = fills ? structuredClone(given) : given;
  const judge = first();
  if (judge(value)) return { ok: true, value };
  const fault = judge.errors?.at(-1);
  return { ok: false, path: fault ? placeOf(fault) : [], message: describeFault(fault, { part }) };
};

/** Each schema has an instance of its own: ajv keeps whatever it compiled for as long as it lives. */
const loadCompiler = async (): Promise<Compile> => {
  const [makeAjv, regExp] = await Promise.all([loadAjv(), loadLinearPatterns()]);
  return (given) => {
    const { schema, dialect } = foreignSchema(given);
    const compile = (options: Options): ValidateFunction => {
      try {
        return makeAjv({ verbose: true, code: { regExp }, ...options }, dialect).compile(schema);
      } catch (cause) {
        if (isSvcError(cause)) throw cause;
        throw schemaErrors.invalid(cause instanceof Error ? cause.message.slice(0, 300) : 'it cannot be compiled').with({ cause });
      }
    };
    let first: ValidateFunction | undefined;
    let all: ValidateFunction | undefined;
    return {
      fills: JSON.stringify(schema).includes('"default":'),
      first: () => {
        first ??= compile({ useDefaults: true });
        return first;
      },
      all: () => {
        all ??= compile({ allErrors: true });
        return all;
      },
    };
  };
};

/** Level by level, so that a value of any depth is measured without a deep call. */
const isDeeperThan = (value: unknown, max: number): boolean => {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > max) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
};
