/** `svc ext create`, `build`, `test` and `svc dev`: for who writes an extension. None of them but `dev` needs a daemon. What they do is loaded with them. */
import type { Command } from 'commander';
import type { Action } from '../command.js';

const FOLDER = "the extension's folder; by default, this one";

export const defineAuthoring = (ext: Command, action: Action): void => {
  ext
    .command('create')
    .description('Create an extension from a template that builds and passes the contract suite')
    .argument('<folder>', 'the new folder; its name becomes the id if it has the form publisher-name')
    .option('--template <name>', 'route, tool, panel, hook, provider or channel', 'route')
    .option('--publisher <name>', 'first word of the id; by default, your login name')
    .action(action(async (cli, folder: string, flags: { template: string; publisher?: string }) => (await import('../author/create.js')).create(cli, folder, flags)));
  ext
    .command('build')
    .description('Bundle it into dist/index.js and write contributions.json')
    .argument('[folder]', FOLDER, '.')
    .action(action(async (cli, folder: string) => (await import('../author/build.js')).build(cli, folder)));
  ext
    .command('test')
    .description('Build it, then run the contract suite and its own tests (test/*.test.mjs)')
    .argument('[folder]', FOLDER, '.')
    .option('-g, --grep <words>', 'only tests with these words')
    .action(action(async (cli, folder: string, flags: { grep?: string }) => (await import('../author/test.js')).test(cli, folder, flags)));
  defineDev(ext, action);
};

/** Also as `svc dev`. */
export const defineDev = (parent: Command, action: Action): void => {
  parent
    .command('dev')
    .description('Link a folder into the running daemon; rebuild and reload it with each change')
    .argument('[folder]', FOLDER, '.')
    .option('--once', 'do not wait for changes')
    .action(action(async (cli, folder: string, flags: { once?: boolean }) => (await import('../author/dev.js')).dev(cli, folder, flags.once === true)));
};
