/** Finds lines by a pattern, in time that grows with the text and no faster, whatever the pattern (RE2). */
import { RE2JS } from 're2js';
import type { FoundLine, SearchInput, SearchOutput } from './search-workers.js';

/** Each character of a text may visit all steps of the compiled pattern. */
const MAX_PROGRAM_STEPS = 5_000;
/** What is shown of a line, around the place that matches. */
const MAX_LINE_CHARS = 300;
const LEAD_CHARS = 80;

interface Line {
  readonly number: number;
  readonly text: string;
}

const searchLines = ({ query, isCaseSensitive, context, room, files }: SearchInput): SearchOutput => {
  const pattern = compiled(query, isCaseSensitive);
  if (typeof pattern === 'string') return { problem: pattern, found: [], more: 0 };
  const found: FoundLine[] = [];
  let more = 0;
  for (const { path, text } of files) {
    const lines = text.split(/\r?\n/);
    for (const [index, line] of lines.entries()) {
      if (!pattern.test(line)) continue;
      if (found.length >= room) more += 1;
      else found.push(foundAt(path, lines, index, pattern, context));
    }
  }
  return { found, more };
};

const compiled = (query: string, isCaseSensitive: boolean): RE2JS | string => {
  try {
    const pattern = RE2JS.compile(RE2JS.translateRegExp(query), isCaseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
    return pattern.programSize() <= MAX_PROGRAM_STEPS ? pattern : 'the pattern is too large: repeat less, or less often';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const foundAt = (path: string, lines: readonly string[], index: number, pattern: RE2JS, context: number): FoundLine => {
  const text = lines[index] ?? '';
  const around = (from: number, to: number): Line[] => lines.slice(Math.max(0, from), to).map((line, at) => ({ number: Math.max(0, from) + at + 1, text: cut(line, 0) }));
  return {
    path,
    line: { number: index + 1, text: cut(text, text.length > MAX_LINE_CHARS ? placeOf(pattern, text) : 0) },
    before: around(index - context, index),
    after: around(index + 1, index + 1 + context),
  };
};

const placeOf = (pattern: RE2JS, text: string): number => {
  const matcher = pattern.matcher(text);
  return matcher.find() ? matcher.start() : 0;
};

const cut = (text: string, place: number): string => {
  if (text.length <= MAX_LINE_CHARS) return text;
  const from = Math.max(0, Math.min(place - LEAD_CHARS, text.length - MAX_LINE_CHARS));
  const to = from + MAX_LINE_CHARS;
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
};

export default searchLines;
