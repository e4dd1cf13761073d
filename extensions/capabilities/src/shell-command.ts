/**
 * Whether a command is covered by patterns such as `git *`. A pattern grants one
 * program, so whatever would let the line start another one is refused first.
 */
import { matchesAny } from '@svc/api';

const EVERYWHERE = /[\n\r\0`]|\$\(|\$\{/;
const OUTSIDE_QUOTES = /[;|<>{}&]/;

export type ShellVerdict = 'covered' | 'not_granted' | 'metacharacters';

/** `*` alone grants every command line, with all that a shell can do. */
export const judgeCommand = (command: string, patterns: readonly string[]): ShellVerdict => {
  if (patterns.includes('*')) return 'covered';
  if (EVERYWHERE.test(command) || OUTSIDE_QUOTES.test(withoutQuoted(command))) return 'metacharacters';
  return matchesAny(patterns, command.trim()) ? 'covered' : 'not_granted';
};

/** What stands outside quotes. An open quote ends with the line: the shell would refuse such a command. */
const withoutQuoted = (command: string): string => {
  let outside = '';
  let quote = '';
  for (let i = 0; i < command.length; i++) {
    const char = command[i] ?? '';
    // A backslash hides the next character everywhere but between single quotes.
    if (char === '\\' && quote !== "'") i += 1;
    else if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
    else outside += char;
  }
  return outside;
};
