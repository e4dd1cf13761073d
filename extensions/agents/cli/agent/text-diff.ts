/** The difference of two texts, as `diff -u` shows it. The library is loaded with this file: import it late. */
import { type Terminal, printable } from '@svc/cli/area';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

const CONTEXT_LINES = 3;

/** A unified diff, without colour; empty where the texts are the same. */
export const unifiedDiff = (before: string, after: string, names: readonly [before: string, after: string]): string =>
  before === after ? '' : createTwoFilesPatch(names[0], names[1], before, after, undefined, undefined, { context: CONTEXT_LINES, headerOptions: FILE_HEADERS_ONLY });

/** Line by line, for a person. */
export const diffLines = (diff: string, out: Terminal): string[] =>
  printable(diff)
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      if (line.startsWith('---') || line.startsWith('+++')) return out.bold(line);
      if (line.startsWith('@@')) return out.cyan(line);
      return line.startsWith('+') ? out.green(line) : line.startsWith('-') ? out.red(line) : line;
    });
