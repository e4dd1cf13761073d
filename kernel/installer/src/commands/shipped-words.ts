/** First words of the commands that came with svc: those of the command line itself and of its areas. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI_WORDS } from './cli-words.js';

/** Whether a word is one. `distDir`: the build, whose commands.json is read with the first question. */
export const shippedWords = (distDir: string): ((word: string) => boolean) => {
  let words: ReadonlySet<string> | undefined;
  return (word) => {
    words ??= new Set([...CLI_WORDS, 'help', ...ofAreas(join(distDir, 'commands.json'))]);
    return words.has(word);
  };
};

const ofAreas = (file: string): string[] => {
  if (!existsSync(file)) return []; // extensions were never built here
  const { words } = JSON.parse(readFileSync(file, 'utf8')) as { words: ReadonlyArray<{ word: string }> }; // written by the build
  return words.map(({ word }) => word);
};
