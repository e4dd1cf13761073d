/**
 * A count of what a check does, so that no schema of a third party holds the daemon up (decision 0018).
 *
 * P1  Each schema that is applied to a place of the value costs a step, and more where it compares with lists or reads text.
 * P2  A check that needs more than its steps ends with `schema_too_costly`. The count depends on schema and value alone,
 *     so the answer is the same on every machine.
 */
import { _, type Ajv, type Code, type ErrorObject, type KeywordCxt, type ValidateFunction } from 'ajv';
import { schemaErrors } from './errors.js';
import type { SchemaNode } from './schema-copy.js';

/** Some fifty milliseconds at most, on a slow machine: what fails is dearer than what fits. */
export const MAX_STEPS = 100_000;
/** Characters that are counted, or read by a format, in the time of a step. */
const CHARS_PER_STEP = 64;
/** Entries of a list that are compared in the time of a step. */
const ENTRIES_PER_STEP = 8;
const KEYWORD = 'svcSteps';
/** Where the text itself is read. */
const TEXT_KEYWORD = 'svcTextSteps';

/** What a check is for those who use it. */
export interface Check {
  (value: unknown): boolean;
  errors?: ErrorObject[] | null | undefined;
}

export class Steps {
  #left = 0;

  /** Throws `schema_too_costly`. */
  readonly spend = (count: number, value?: unknown): void => {
    this.#left -= typeof value === 'string' ? count + value.length / CHARS_PER_STEP : count;
    if (this.#left < 0) throw schemaErrors.too_costly(MAX_STEPS);
  };

  /** The check with its steps counted from the start, each time. */
  counted(check: ValidateFunction): Check {
    const run: Check = (value) => {
      this.#left = MAX_STEPS;
      const fits = check(value);
      run.errors = check.errors;
      return fits;
    };
    return run;
  }
}

/** Has a schema say what it costs, where `countSteps` is known. */
export const noteSteps = (node: SchemaNode): void => {
  const { enum: choices, const: only, properties, required, dependentRequired } = node;
  const entries = lengthOf(required) + lengthOf(choices) + lengthOf(properties) + lengthOf(dependentRequired);
  const compared = Array.isArray(choices) || only !== undefined ? JSON.stringify([choices, only]).length / CHARS_PER_STEP : 0;
  delete node[KEYWORD];
  delete node[TEXT_KEYWORD];
  node['minLength' in node || 'maxLength' in node || 'format' in node ? TEXT_KEYWORD : KEYWORD] = 1 + Math.ceil(entries / ENTRIES_PER_STEP + compared);
};

const lengthOf = (value: unknown): number => (typeof value === 'object' && value !== null ? Object.keys(value).length : 0);

/** Teaches an instance of ajv to count. */
export const countSteps = (ajv: Ajv, { spend }: Steps): Ajv => {
  const add = (keyword: string, args: (cxt: KeywordCxt) => Code): Ajv =>
    ajv.addKeyword({ keyword, schemaType: 'number', code: (cxt: KeywordCxt) => void cxt.gen.code(_`${cxt.gen.scopeValue('func', { ref: spend })}(${args(cxt)})`) });
  add(KEYWORD, ({ schema }) => _`${schema}`);
  return add(TEXT_KEYWORD, ({ data, schema }) => _`${schema}, ${data}`);
};
