/** Validates one section: unknown keys by our own walk, the rest by ajv, and says both so that a person can fix it. */
import { didYouMean, type Finding, isSvcError, type JsonSchema, violations, splitUnknown } from '@svc/api';
import { labelOf, withDefaults } from '@svc/api/internal';
import { loadAjv } from '../schema/ajv.js';
import { compiledOnce } from '../schema/compiled-once.js';
import { loadForeignCompile } from '../schema/foreign-check.js';
import { placeOf } from '../schema/fault.js';
import { boundIntegers, copySchema } from '../schema/schema-copy.js';
import type { Check } from '../schema/steps.js';
import type { SectionClaim } from './kernel-sections.js';

const MAX_NAMED = 10;
/** Each costs a comparison with every known name and a search for its line; who has more reads them in several rounds. */
const MAX_UNKNOWN = 20;

export interface Checked {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  readonly ok: boolean;
}

export interface Checker {
  check(name: string, claim: Pick<SectionClaim, 'schema' | 'isForeign'> | undefined, raw: unknown): Promise<Checked>;
}

/** Sections of what is shipped: each load validates the same ones. All errors: the text is the operator's own, and one pass should name everything. */
const loadOwn = async (): Promise<Compile> => {
  const make = await loadAjv();
  return compiledOnce(
    () => make({ allErrors: true }),
    (schema) => copySchema(schema, boundIntegers),
  );
};

let own: Promise<Compile> | undefined;

/** One per load, so that compiled schemas of third parties do not stay when these were removed. */
export const createChecker = (): Checker => {
  let foreign: Promise<Compile> | undefined;
  const compileFor = (isForeign: boolean): Promise<Compile> => {
    if (isForeign) {
      foreign ??= loadForeignCompile().then((compile) => (schema) => compile(schema, { allErrors: true }));
      return foreign;
    }
    own ??= loadOwn();
    return own;
  };
  return { check: async (name, claim, raw) => check(await compileFor(claim?.isForeign === true), name, claim?.schema ?? {}, raw) };
};

type Compile = (schema: JsonSchema) => Check;

const check = (compile: Compile, name: string, schema: JsonSchema, raw: unknown): Checked => {
  const { value: known, unknown } = splitUnknown(schema, raw);
  // Elsewhere the settings beside a misspelt one still count; a security section is validated as a whole.
  const fatal = schema['x-security'] === true;
  const findings: Finding[] = unknown.slice(0, MAX_UNKNOWN).map((key) => ({
    path: key.path,
    message: `${labelOf(name, key.path)} is not a setting.${didYouMean(key.path.at(-1) ?? '', key.known) || alternatives(key.known)}`,
    expected: key.known.length > 0 ? `one of ${key.known.join(', ')}` : 'nothing',
    fatal,
  }));
  if (unknown.length > MAX_UNKNOWN) findings.push({ path: [], message: `${labelOf(name, [])} has ${unknown.length - MAX_UNKNOWN} more keys that are not settings`, expected: 'known settings', fatal });
  const value = withDefaults(schema, known);
  findings.push(...faultsOf(compile, name, schema, value));
  return { value, findings, ok: !findings.some((finding) => finding.fatal) };
};

/** A schema that cannot be used, and a value that costs too many steps, are findings: the other sections go on. */
const faultsOf = (compile: Compile, name: string, schema: JsonSchema, value: unknown): Finding[] => {
  try {
    const validate = compile(schema);
    return validate(value) ? [] : violations(name, schema, value, (validate.errors ?? []).map(placeOf));
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return [{ path: [], message: `${labelOf(name, [])} cannot be checked: ${error.message}`, expected: 'another value, or another version of the extension', fatal: true }];
  }
};

/** What may stand there instead, where nothing is near and the list is short enough to read. */
const alternatives = (names: readonly string[]): string => (names.length > 0 && names.length <= MAX_NAMED ? ` There are: ${names.join(', ')}.` : '');
