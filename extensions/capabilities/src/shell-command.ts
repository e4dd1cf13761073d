/**
 * Whether a command line is covered by patterns such as `git *`.
 *
 * S1  A pattern grants one program with its arguments. The line is taken apart as a shell would and run without one; what only a shell can do is refused.
 * S2  What the pattern spells out is the wish of whoever wrote it. What a `*` of it stands for comes from a model, and may not make the program run another one.
 * S3  `*` alone grants a shell.
 */
import { type Capabilities, matchesPattern, mayUseShell, parseCommandLine } from '@svc/api';
import { programRefusal } from './programs.js';

type Grants = Pick<Capabilities, 'shell' | 'exec'>;

/** Why the command may not be run, for a model to read; undefined when it may. */
export const commandRefusal = (command: string, grants: Grants): string | undefined => {
  if (mayUseShell(grants)) return undefined;
  const line = parseCommandLine(command);
  if ('problem' in line) return `This command is refused: ${line.problem}. This agent runs single programs, without a shell: ${listed(grants.shell)}.`;
  const why = wordsRefusal(line.words, grants.shell);
  if (why !== undefined) return `This command is refused: ${why}.`;
  const programs = grants.exec?.programs;
  if (programs && !programs.includes(line.words[0] ?? '')) return `This command is refused: exec_policy allows ${listed(programs)}.`;
  return undefined;
};

/** Why no pattern covers these words. Of several patterns that fit, one without objection is enough. */
export const wordsRefusal = (words: readonly string[], patterns: readonly string[]): string | undefined => {
  let why = `[capabilities] shell allows ${listed(patterns)}`;
  for (const pattern of patterns) {
    const plain = pattern.trim().replaceAll(/\s+/g, ' ');
    if (!matchesPattern(plain, asText(words))) continue;
    const objection = programRefusal(words, spelledOut(plain));
    if (objection === undefined) return undefined;
    why = objection;
  }
  return why;
};

/** How many words of the command the pattern itself says. */
const spelledOut = (pattern: string): number => {
  const words = pattern.split(' ');
  const first = words.findIndex((word) => word.includes('*'));
  return first < 0 ? words.length : first;
};

/** A space inside a word is none between words: no pattern holds a NUL, and no command. */
const asText = (words: readonly string[]): string => words.map((word) => word.replaceAll(/\s/g, '\0')).join(' ');

const MAX_LISTED = 20;

export const listed = (patterns: readonly string[]): string => (patterns.length === 0 ? 'none' : `${patterns.slice(0, MAX_LISTED).join(', ')}${patterns.length > MAX_LISTED ? ' and more' : ''}`);
