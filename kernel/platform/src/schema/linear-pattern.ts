/** Patterns of schemas in time that grows with the length of the text and no faster, whatever the pattern (RE2). */
import { schemaErrors } from './errors.js';

const MAX_PATTERN_CHARS = 1_000;
/** Steps of the compiled pattern: each character of a text may visit them all. */
const MAX_PROGRAM_STEPS = 5_000;

interface LinearPattern {
  test(text: string): boolean;
  toString(): string;
}

export interface PatternEngine {
  (pattern: string, flags: string): LinearPattern;
  code: string;
}

/** What ajv takes as `code.regExp`. Its patterns throw `schema_pattern_too_long` and `schema_pattern_unsupported` (RE2 knows no lookaround and no back reference). */
export const loadLinearPatterns = async (): Promise<PatternEngine> => {
  const { RE2JS } = await import('re2js');
  const make = (pattern: string): LinearPattern => {
    if (pattern.length > MAX_PATTERN_CHARS) throw schemaErrors.pattern_too_long(pattern.length, MAX_PATTERN_CHARS);
    try {
      const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
      if (compiled.programSize() <= MAX_PROGRAM_STEPS) return { test: (text) => compiled.test(text), toString: () => pattern };
    } catch (cause) {
      throw schemaErrors.pattern_unsupported(pattern.slice(0, 200)).with({ cause });
    }
    throw schemaErrors.pattern_unsupported(pattern.slice(0, 200));
  };
  return Object.assign(make, { code: 'linear pattern' });
};
