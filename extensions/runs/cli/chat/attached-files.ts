/** `@notes.txt` in a message attaches that file. A word that names no file stays a word. */
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** An `@` at the beginning of a word, then a quoted name or one without spaces. */
const MENTION = /(?:^|(?<=\s))@(?:"([^"\n]+)"|(\S+))/g;
const MAX_FILES = 20;

/** Absolute paths of the files that a text names, each once. */
export const attachedFiles = (text: string, cwd: string): string[] => {
  const files = [...text.matchAll(MENTION)].flatMap(([, quoted, bare]) => {
    const file = fileOf(quoted ?? bare ?? '', cwd) ?? (bare === undefined ? undefined : fileOf(bare.replace(/[.,;:!?)]+$/, ''), cwd));
    return file === undefined ? [] : [file];
  });
  return [...new Set(files)].slice(0, MAX_FILES);
};

const fileOf = (name: string, cwd: string): string | undefined => {
  if (name === '') return undefined;
  const file = path.resolve(cwd, name.startsWith('~/') ? path.join(homedir(), name.slice(2)) : name);
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
};
