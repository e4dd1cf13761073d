/**
 * How a person types the command here: `svc` where it is installed, `npx svc` in a checkout.
 * Texts everywhere say `svc …`; whoever shows one to a person lets it through `asTyped`.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** `svc` followed by a word that a command can begin with, not part of a path or another word. */
const MENTION = /(?<![\w./@:-])(?:npx )?svc (?=[a-z]|-)/g;

/** Folders that npx adds to PATH for the time of one command; what is only there cannot be typed. */
const isPackageBin = (folder: string): boolean => /[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder) || /[\\/]node-gyp-bin[\\/]?$/.test(folder);

export const commandName = (env: Readonly<Record<string, string | undefined>>): string => {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '' && !isPackageBin(folder));
  return folders.some((folder) => existsSync(join(folder, 'svc'))) ? 'svc' : 'npx svc';
};

/** `text` with each command in it as `name` and its subcommand. Other sentences that begin with the word stay as they are: `isCommand` knows the first words of commands. */
export const asTyped = (text: string, name: string, isCommand: (word: string) => boolean): string =>
  text.replace(MENTION, (mention, offset: number) => {
    const next = /^[a-z-]+/.exec(text.slice(offset + mention.length))?.[0] ?? '';
    return isCommand(next) || next.startsWith('--') ? `${name} ` : mention;
  });
