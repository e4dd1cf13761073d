/**
 * How a person types the command here: `svc` where it is on the PATH, `npx svc` where it was called so, and otherwise with the
 * whole path of its file. `npx svc` in another folder would fetch somebody else's package of that name.
 * Texts everywhere say `svc …`; whoever shows one to a person lets it through `asTyped`.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** `svc` followed by a word that a command can begin with, not part of a path or another word. */
const MENTION = /(?<![\w./@:-])(?:npx )?svc (?=[a-z]|-)/g;

const OWN_FILE = /\/svc(?:\.mjs)?$/;
/** `npm start` and `npm run dev`. */
const STARTER = /\/tools\/(?:start|dev)\.mjs$/;

/** Folders that npx adds to PATH for the time of one command; what is only there cannot be typed. */
const isPackageBin = (folder: string): boolean => /[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder) || /[\\/]node-gyp-bin[\\/]?$/.test(folder);

/** `program` is the file that was started, as Node names it. */
export const commandName = (env: Readonly<Record<string, string | undefined>>, program = process.argv[1] ?? ''): string => {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '' && !isPackageBin(folder));
  if (folders.some((folder) => existsSync(join(folder, 'svc')))) return 'svc';
  const isNpx = env.npm_command === 'exec' || env.npm_lifecycle_event === 'npx';
  const file = isNpx ? undefined : fileOf(program);
  return file === undefined ? 'npx svc' : quoted(file);
};

/** The command's own file; undefined where something else was started, as tests do. */
const fileOf = (program: string): string | undefined => {
  if (OWN_FILE.test(program)) return program;
  const beside = STARTER.test(program) ? program.replace(STARTER, '/kernel/cli/bin/svc.mjs') : undefined;
  return beside !== undefined && existsSync(beside) ? beside : undefined;
};

const quoted = (path: string): string => (/^[\w@%+:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

/** `text` with each command in it as `name` and its subcommand. Other sentences that begin with the word stay as they are: `isCommand` knows the first words of commands. */
export const asTyped = (text: string, name: string, isCommand: (word: string) => boolean): string =>
  text.replace(MENTION, (mention, offset: number) => {
    const next = /^[a-z-]+/.exec(text.slice(offset + mention.length))?.[0] ?? '';
    return isCommand(next) || next.startsWith('--') ? `${name} ` : mention;
  });
