/**
 * The one validator: ajv, loaded with the first check that needs it. Routes, config, tools and documents are all validated
 * by instances that are made here, so a format means the same everywhere. Nothing global is set up or changed.
 */
import type { Ajv, Options } from 'ajv';
import { cronFault, timeZoneFault } from '@svc/api';
import { linearUniqueItems } from './unique-items.js';

export type Dialect = '2020-12' | 'draft-07';
export type MakeAjv = (options: Options, dialect?: Dialect) => Ajv;

let loading: Promise<MakeAjv> | undefined;

export const loadAjv = (): Promise<MakeAjv> => {
  loading ??= load();
  return loading;
};

const load = async (): Promise<MakeAjv> => {
  const [{ Ajv2020 }, { Ajv: Ajv07 }, formats, { parseRange }] = await Promise.all([import('ajv/dist/2020.js'), import('ajv/dist/ajv.js'), import('ajv-formats'), import('../adapters/ip-range.js')]);
  // A CommonJS package: the function is its default's default.
  const addFormats = formats.default.default;
  return (options, dialect = '2020-12') => {
    // No meta-schema: loading it costs more than all else here. What ajv cannot compile it refuses by itself. Its own passes over
    // the code that it makes are left to V8: they are more than half of what compiling takes, and the checks are no faster for it.
    const all: Options = { strict: false, strictNumbers: true, meta: false, validateSchema: false, addUsedSchema: false, logger: false, ...options, code: { optimize: false, ...options.code } };
    const ajv = dialect === 'draft-07' ? new Ajv07(all) : new Ajv2020(all);
    addFormats(ajv);
    // JSON Schema has no word for nothing.
    ajv.addKeyword({ keyword: 'nothing', schemaType: 'boolean', validate: (_is: boolean, value: unknown) => value === undefined, errors: false, error: { message: 'must be nothing' } });
    ajv.addFormat('regex', isPattern).addFormat('ip-range', (text: string) => parseRange(text) !== undefined);
    ajv.addFormat('cron', (text: string) => cronFault(text) === undefined).addFormat('time-zone', (text: string) => timeZoneFault(text) === undefined);
    return linearUniqueItems(ajv);
  };
};

const MAX_PATTERN_CHARS = 1_000;

/** A long one takes the engine as long as it takes to read it, which nobody bounds. */
const isPattern = (text: string): boolean => {
  try {
    return text.length <= MAX_PATTERN_CHARS && new RegExp(text, 'u') !== undefined;
  } catch {
    return false;
  }
};
