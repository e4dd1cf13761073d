/** The words that areas add to the command line. */
import type { AreaWord } from '@svc/installer/commands';
import { COMMANDS } from '../command-table.js';
import type { Settings } from '../settings.js';
import { bundled, installed } from './area-offers.js';

/** All of them by word; those that came with svc alone where `wanted` is one of them. The command line itself comes first, then what came with svc, then what was installed first. */
export const areaWords = async (settings: Settings, distDir: string, wanted?: string): Promise<ReadonlyMap<string, AreaWord>> => {
  const words = new Map<string, AreaWord>();
  const shipped = (await bundled(distDir)).words;
  const isShipped = shipped.some(({ synonyms = [], word }) => word === wanted || synonyms.some((one) => one.word.split(' ')[0] === wanted));
  const added = isShipped ? [] : (await installed(settings)).flatMap((one) => one.words);
  for (const word of [...shipped, ...added]) if (!Object.hasOwn(COMMANDS, word.word) && !words.has(word.word)) words.set(word.word, word);
  return words;
};
