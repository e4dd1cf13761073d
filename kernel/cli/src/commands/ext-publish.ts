/** `svc ext keygen`, `sign`, `pack`, `verify` and `trust`: who vouches for a package, and whether that counts here. None of them needs a daemon. */
import type { Command } from 'commander';
import type { Action } from '../command.js';
import type { PackFlags } from '../publish/pack.js';
import type { SignFlags } from '../publish/sign.js';
import type { TrustFlags } from '../publish/trust.js';

const FOLDER = 'the folder of a built extension; by default, this one';
const KEY = 'the private key file; by default, keys/publisher.key in the home folder';

export const definePublishing = (ext: Command, action: Action): void => {
  ext
    .command('keygen')
    .description('Create a key to sign extensions')
    .argument('[file]', KEY)
    .action(action(async (cli, file: string | undefined) => (await import('../publish/keygen.js')).keygen(cli, file)));
  ext
    .command('sign')
    .description('Sign every file of a built extension')
    .argument('[folder]', FOLDER, '.')
    .option('--key <file>', KEY)
    .option('--rotates <file>', 'the previous private key, to confirm a key change')
    .action(action(async (cli, folder: string, flags: SignFlags) => (await import('../publish/sign.js')).sign(cli, folder, flags)));
  ext
    .command('pack')
    .description('Pack a built extension into an installable archive')
    .argument('[folder]', FOLDER, '.')
    .option('--key <file>', 'sign it with this key first')
    .option('-o, --out <file>', 'the output file; by default, ID-VERSION.tgz in this folder')
    .action(action(async (cli, folder: string, flags: PackFlags) => (await import('../publish/pack.js')).pack(cli, folder, flags)));
  ext
    .command('verify')
    .description("Verify a package's signature and whether this daemon trusts its key")
    .argument('<package>', 'a .tgz, or a built folder')
    .action(action(async (cli, given: string) => (await import('../publish/verify.js')).verify(cli, given)));
  defineTrust(ext, action);
};

const defineTrust = (ext: Command, action: Action): void => {
  const trust = ext.command('trust').description('Manage trusted signing keys').helpCommand(false);
  trust
    .command('list')
    .description('List the keys and what each can sign')
    .action(action(async (cli) => (await import('../publish/trust.js')).trustList(cli)));
  trust
    .command('add')
    .description('Trust a key for some extensions')
    .argument('<public>', 'the public key, 64 hex digits')
    .option('--allow <id...>', 'the extensions it can sign; "publisher-*" for all of a publisher')
    .option('--name <name>', "the owner's name")
    .option('--isolation <how>', 'isolated or walled')
    .action(action(async (cli, publicKey: string, flags: TrustFlags) => (await import('../publish/trust.js')).trustAdd(cli, publicKey, flags)));
  trust
    .command('revoke')
    .description('Revoke a key, including for installed extensions')
    .argument('<key>', 'its id, 16 hex digits')
    .action(action(async (cli, id: string) => (await import('../publish/trust.js')).trustRevoke(cli, id)));
  trust
    .command('remove')
    .description('Remove a key from the list')
    .argument('<key>', 'its id, 16 hex digits')
    .action(action(async (cli, id: string) => (await import('../publish/trust.js')).trustRemove(cli, id)));
};
