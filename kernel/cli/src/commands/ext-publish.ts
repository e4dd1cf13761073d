/** `svc ext keygen`, `sign`, `pack`, `verify` and `trust`: who vouches for a package, and whether that counts here. None of them needs a daemon. */
import type { Command } from 'commander';
import type { Action } from '../command.js';
import type { PackFlags } from '../publish/pack.js';
import type { SignFlags } from '../publish/sign.js';
import type { TrustFlags } from '../publish/trust.js';

const FOLDER = 'folder of the extension, which is built; this one when left out';
const KEY = 'file of the private key; keys/publisher.key of the home when left out';

export const definePublishing = (ext: Command, action: Action): void => {
  ext
    .command('keygen')
    .description('Make a key to sign extensions with')
    .argument('[file]', KEY)
    .action(action(async (cli, file: string | undefined) => (await import('../publish/keygen.js')).keygen(cli, file)));
  ext
    .command('sign')
    .description('Vouch for every file of a built extension')
    .argument('[folder]', FOLDER, '.')
    .option('--key <file>', KEY)
    .option('--rotates <file>', 'the private key that signed it until now: it hands the extension on')
    .action(action(async (cli, folder: string, flags: SignFlags) => (await import('../publish/sign.js')).sign(cli, folder, flags)));
  ext
    .command('pack')
    .description('Pack a built extension into the archive that people install')
    .argument('[folder]', FOLDER, '.')
    .option('--key <file>', 'sign it first, with this key')
    .option('-o, --out <file>', 'where to; ID-VERSION.tgz in this folder when left out')
    .action(action(async (cli, folder: string, flags: PackFlags) => (await import('../publish/pack.js')).pack(cli, folder, flags)));
  ext
    .command('verify')
    .description('Is a package what its publisher signed, and does this daemon trust them')
    .argument('<package>', 'a .tgz, or a folder that is built')
    .action(action(async (cli, given: string) => (await import('../publish/verify.js')).verify(cli, given)));
  defineTrust(ext, action);
};

const defineTrust = (ext: Command, action: Action): void => {
  const trust = ext.command('trust').description('Whose extensions this daemon takes').helpCommand(false);
  trust
    .command('list')
    .description('The keys, and what each may sign')
    .action(action(async (cli) => (await import('../publish/trust.js')).trustList(cli)));
  trust
    .command('add')
    .description('Trust a key for some extensions')
    .argument('<public>', 'the public key, 64 hex digits')
    .option('--allow <id...>', 'the extensions that it may sign; "publisher-*" for all of a publisher')
    .option('--name <name>', 'whose it is')
    .option('--isolation <how>', 'isolated, walled, or in-process for code that you trust as your own')
    .action(action(async (cli, publicKey: string, flags: TrustFlags) => (await import('../publish/trust.js')).trustAdd(cli, publicKey, flags)));
  trust
    .command('revoke')
    .description('Take nothing more that a key signed, also what is installed')
    .argument('<key>', 'its id, 16 hex digits')
    .action(action(async (cli, id: string) => (await import('../publish/trust.js')).trustRevoke(cli, id)));
  trust
    .command('remove')
    .description('Forget a key, as if it had never been trusted')
    .argument('<key>', 'its id, 16 hex digits')
    .action(action(async (cli, id: string) => (await import('../publish/trust.js')).trustRemove(cli, id)));
};
