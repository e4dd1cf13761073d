/** Checks by schemas of third parties: bounded before they are compiled, counted while they run. Each has an instance of its own, which keeps no other one's code. */
import { isSvcError } from '@svc/api';
import type { Options } from 'ajv';
import { loadAjv } from './ajv.js';
import { schemaErrors } from './errors.js';
import { foreignSchema } from './foreign-schema.js';
import { loadLinearPatterns } from './linear-pattern.js';
import { type Check, countSteps, Steps } from './steps.js';
import { linearUniqueItems } from './unique-items.js';

export type ForeignCompile = (schema: object, options: Options) => Check;

/** What it makes throws `schema_too_costly`; making it throws what `foreignSchema` throws, `schema_pattern_*` and `schema_invalid`. */
export const loadForeignCompile = async (): Promise<ForeignCompile> => {
  const [makeAjv, patternsOf] = await Promise.all([loadAjv(), loadLinearPatterns()]);
  return (given, options) => {
    const { schema, dialect } = foreignSchema(given);
    const steps = new Steps();
    // References are called and lists looped over: written out, a short schema would make megabytes of code.
    const all: Options = { verbose: true, inlineRefs: false, loopEnum: 20, loopRequired: 20, code: { regExp: patternsOf(steps.spend) }, ...options };
    try {
      return steps.counted(linearUniqueItems(countSteps(makeAjv(all, dialect), steps), steps.spend).compile(schema));
    } catch (cause) {
      if (isSvcError(cause)) throw cause;
      throw schemaErrors.invalid(cause instanceof Error ? cause.message.slice(0, 300) : 'it cannot be compiled').with({ cause });
    }
  };
};
