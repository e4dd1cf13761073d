/**
 * Whether a command names the daemon's own files, another agent's folder, or another process.
 *
 * A rail, not a wall: the child is the same user as the daemon, and a program may find
 * by itself (in a folder above, through a file that lists others) what no word of the
 * command names. What stops that is a user of its own or a container.
 */
import { parsedUrl } from '@svc/api';
import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Longer ones name no file on any system we run on. */
const MAX_PATH_LENGTH = 4_096;
const MAX_BUNDLE = 32;
const PROCESS = /^\/proc\/(\d+|self|thread-self)(\/|$)/;

/** The first word that does, or undefined. `cwd` is the agent's own folder, and free. */
export const ownFileNamed = async (words: readonly string[], cwd: string, home: string): Promise<string | undefined> => {
  const [realHome, realCwd] = await Promise.all([realOf(home), realOf(cwd)]);
  for (const word of words) {
    for (const path of pathsIn(word)) {
      const asked = resolve(cwd, path);
      if (PROCESS.test(asked)) return word;
      const real = await realOf(asked);
      if (PROCESS.test(real) || (isWithin(realHome, real) && !isWithin(realCwd, real))) return word;
    }
  }
  return undefined;
};

/** `x`, `--file=x`, `-fx`, `-qfx`, `@x`, `--data=@x` and `file:///x` all name x. */
const pathsIn = (word: string): string[] => {
  const value = word.slice(word.indexOf('=') + 1);
  // Any letter of a bundle may be the option that takes the rest.
  const letters = /^-([A-Za-z0-9]*)/.exec(word)?.[1]?.length ?? 0;
  const tails = Array.from({ length: Math.min(letters, MAX_BUNDLE) }, (_, at) => word.slice(at + 2));
  const found = new Set([word, value, ...tails, ...[word, value].filter((text) => text.startsWith('@')).map((text) => text.slice(1))]);
  for (const text of [word, value]) if (text.startsWith('file:') && parsedUrl(text)) found.add(fileOf(text));
  return [...found].filter((path) => path !== '' && path.length <= MAX_PATH_LENGTH);
};

const fileOf = (url: string): string => {
  try {
    return fileURLToPath(url);
  } catch {
    // A file address with a host or an escaped slash names no file of this machine.
    return '';
  }
};

/** With links followed as far as the path exists. */
const realOf = async (path: string): Promise<string> => {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...missing);
    } catch {
      // Not there, or not to be seen: its folder decides.
      if (at === dirname(at)) return path;
      missing.unshift(relative(dirname(at), at));
    }
  }
};

const isWithin = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
};
