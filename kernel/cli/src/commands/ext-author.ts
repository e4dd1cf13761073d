/** `svc ext create`, `build`, `test` and `svc dev`: for who writes an extension. None of them but `dev` needs a daemon. What they do is loaded with them. */
import type { Command } from 'commander';
import type { Action } from '../command.js';

const FOLDER = 'folder of the extension; this one when left out';

export const defineAuthoring = (ext: Command, action: Action): void => {
  ext
    .command('create')
    .description('Begin an extension: sources that build and pass the contract suite as they come')
    .argument('<folder>', 'where it is made; its name is the id where that is publisher-name')
    .option('--template <name>', 'route, tool, hook, provider or channel', 'route')
    .option('--publisher <name>', "first word of its id; your login's name when the folder's name has one word")
    .action(action(async (cli, folder: string, flags: { template: string; publisher?: string }) => (await import('../author/create.js')).create(cli, folder, flags)));
  ext
    .command('build')
    .description('Bundle it into dist/index.js, and write what it contributes to contributions.json')
    .argument('[folder]', FOLDER, '.')
    .action(action(async (cli, folder: string) => (await import('../author/build.js')).build(cli, folder)));
  ext
    .command('test')
    .description('Build it, and run the contract suite and its own tests (test/*.test.mjs)')
    .argument('[folder]', FOLDER, '.')
    .option('-g, --grep <words>', 'only claims with these words')
    .action(action(async (cli, folder: string, flags: { grep?: string }) => (await import('../author/test.js')).test(cli, folder, flags)));
  defineDev(ext, action);
};

/** Also as `svc dev`. */
export const defineDev = (parent: Command, action: Action): void => {
  parent
    .command('dev')
    .description('Link a folder into the running daemon; build and reload it with each change')
    .argument('[folder]', FOLDER, '.')
    .option('--once', 'do not wait for changes')
    .action(action(async (cli, folder: string, flags: { once?: boolean }) => (await import('../author/dev.js')).dev(cli, folder, flags.once === true)));
};
