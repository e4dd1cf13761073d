/**
 * A command line taken apart without a shell.
 *
 * Only what every POSIX shell would split into just these words is accepted.
 * Where a shell would do anything else (chain, redirect, substitute, expand,
 * assign) the line is refused with the reason: nothing is guessed, and nothing
 * is passed on that means less than it says.
 */
import type { Capabilities } from './tools.js';

export type CommandLine = { readonly words: readonly string[] } | { readonly problem: string };

/** `*` alone grants whole command lines, with all that a shell does, unless the manifest's exec_policy narrows it to programs. */
export const mayUseShell = ({ shell, exec }: Pick<Capabilities, 'shell' | 'exec'>): boolean => shell.includes('*') && (exec?.mode ?? 'full') === 'full';

const OPERATORS = ';|&<>()`$\n\r';
const WILDCARDS = '*?[';
/** What a backslash hides between double quotes; before anything else it stands for itself. */
const ESCAPED_IN_QUOTES = '$`"\\';
/** More is no command that anybody wrote; and each word is looked at several times on its way. */
const MAX_WORDS = 2_000;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

interface Reading {
  readonly text: string;
  readonly words: string[];
  at: number;
  /** The word being read; undefined between words. */
  word: string | undefined;
}

export const parseCommandLine = (text: string): CommandLine => {
  if (text.includes('\0')) return { problem: 'it contains a NUL character' };
  const reading: Reading = { text, words: [], at: 0, word: undefined };
  while (reading.at < text.length) {
    const problem = readNext(reading);
    if (problem !== undefined) return { problem };
  }
  endWord(reading);
  if (reading.words.length > MAX_WORDS) return { problem: `it has more than ${MAX_WORDS} words` };
  const [program] = reading.words;
  if (program === undefined || program === '') return { problem: 'it names no program' };
  if (ASSIGNMENT.test(program)) return { problem: 'it sets a variable before the program' };
  return { words: reading.words };
};

const readNext = (reading: Reading): string | undefined => {
  const char = reading.text[reading.at] ?? '';
  if (char === ' ' || char === '\t') {
    endWord(reading);
    reading.at += 1;
    return undefined;
  }
  if (char === "'") return readSingle(reading);
  if (char === '"') return readDouble(reading);
  if (char === '\\') return readEscape(reading);
  const problem = outsideQuotes(char, reading.word, reading.text[reading.at - 1]);
  if (problem === undefined) add(reading, char);
  return problem;
};

const outsideQuotes = (char: string, word: string | undefined, before: string | undefined): string | undefined => {
  if (OPERATORS.includes(char)) return `it holds ${nameOf(char)} outside quotes, but no shell interprets it`;
  if (WILDCARDS.includes(char)) return `it holds the wildcard ${char} outside quotes, but nothing expands it: name the files, or put it into single quotes to pass it to the program`;
  if (char === '{' || char === '}') return `it holds ${char} outside quotes: put it into single quotes`;
  if (char === '#' && word === undefined) return 'it contains a comment: put # into quotes';
  if (char === '~' && (word === undefined || before === '=' || before === ':')) return 'it contains a ~ that nothing expands: write the full path';
  return undefined;
};

const nameOf = (char: string): string => (char === '\n' || char === '\r' ? 'a line break' : char);

const readSingle = (reading: Reading): string | undefined => {
  const end = reading.text.indexOf("'", reading.at + 1);
  if (end < 0) return "a quote ' is never closed";
  const inside = reading.text.slice(reading.at + 1, end);
  reading.word = (reading.word ?? '') + inside;
  reading.at = end + 1;
  return undefined;
};

const readDouble = (reading: Reading): string | undefined => {
  reading.word ??= '';
  for (reading.at += 1; reading.at < reading.text.length; ) {
    const char = reading.text[reading.at] ?? '';
    if (char === '"') {
      reading.at += 1;
      return undefined;
    }
    if (char === '$' || char === '`') return `it holds ${char} between double quotes, but no shell interprets it: put the text into single quotes`;
    const next = reading.text[reading.at + 1] ?? '';
    if (char === '\\' && next === '\n') return 'it contains a backslash at the end of a line';
    const isEscape = char === '\\' && next !== '' && ESCAPED_IN_QUOTES.includes(next);
    add(reading, isEscape ? next : char);
    if (isEscape) reading.at += 1;
  }
  return 'a quote " is never closed';
};

const readEscape = (reading: Reading): string | undefined => {
  const next = reading.text[reading.at + 1];
  if (next === undefined) return 'it ends with a backslash';
  if (next === '\n' || next === '\r') return 'it contains a backslash at the end of a line';
  reading.at += 1;
  add(reading, next);
  return undefined;
};

const add = (reading: Reading, char: string): void => {
  reading.word = (reading.word ?? '') + char;
  reading.at += 1;
};

const endWord = (reading: Reading): void => {
  if (reading.word !== undefined) reading.words.push(reading.word);
  reading.word = undefined;
};
