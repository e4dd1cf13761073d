/** Patterns of schemas in time that grows with the length of the text and no faster, whatever the pattern (RE2). */
import { schemaErrors } from './errors.js';

const MAX_PATTERN_CHARS = 1_000;
/** Steps of the compiled pattern: each character of a text may visit them all. */
const MAX_PROGRAM_STEPS = 5_000;
/** Steps of a compiled pattern that are done in the time of one step of a check. */
const PROGRAM_STEPS_PER_STEP = 150;
/** What a match costs before its first character. */
const STEPS_PER_MATCH = 3;

interface LinearPattern {
  test(text: string): boolean;
  toString(): string;
}

export interface PatternEngine {
  (pattern: string, flags: string): LinearPattern;
  code: string;
}

/** What ajv takes as `code.regExp`; `spend` is told what each match may cost before it is tried. Its patterns throw `schema_pattern_too_long` and `schema_pattern_unsupported` (RE2 knows no lookaround and no back reference). */
export const loadLinearPatterns = async (): Promise<(spend?: (steps: number) => void) => PatternEngine> => {
  const { RE2JS } = await import('re2js');
  const made = (pattern: string, spend: (steps: number) => void): LinearPattern => {
    if (pattern.length > MAX_PATTERN_CHARS) throw schemaErrors.pattern_too_long(pattern.length, MAX_PATTERN_CHARS);
    if (expandedSize(pattern) > MAX_PROGRAM_STEPS) throw schemaErrors.pattern_unsupported(pattern.slice(0, 200));
    try {
      const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
      const size = compiled.programSize();
      const test = (text: string): boolean => {
        spend(STEPS_PER_MATCH + (text.length * size) / PROGRAM_STEPS_PER_STEP);
        return compiled.test(text);
      };
      if (size <= MAX_PROGRAM_STEPS) return { test, toString: () => pattern };
    } catch (cause) {
      throw schemaErrors.pattern_unsupported(pattern.slice(0, 200)).with({ cause });
    }
    throw schemaErrors.pattern_unsupported(pattern.slice(0, 200));
  };
  return (spend = () => undefined) => Object.assign((pattern: string) => made(pattern, spend), { code: 'linear pattern' });
};

/** A piece of a pattern: a group with its counts, a class, an escape, a count, a character. */
const PIECE = /\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|u\{[^}]*\}|[\s\S])|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;

/** How long a pattern is once its counts are written out, which its compiler does before anybody can ask for the size. */
const expandedSize = (pattern: string): number => {
  const groups: number[] = [];
  let size = 0;
  let last = 0;
  for (const [piece, least, most] of pattern.matchAll(PIECE)) {
    if (least !== undefined) {
      const more = last * (Math.max(Number(least), Number(most || 0)) - 1);
      size += Math.max(more, 0);
      last += Math.max(more, 0);
    } else if (piece === '(') {
      groups.push(size);
    } else if (piece === ')') {
      last = size - (groups.pop() ?? 0);
    } else if (!'*+?|'.includes(piece)) {
      size += 1;
      last = 1;
    }
    if (size > MAX_PROGRAM_STEPS) break;
  }
  return size;
};
