/** `svc key`: the key that opens the daemon. The daemon needs only its hash; the key itself is with whoever calls. */
import { randomBytes } from 'node:crypto';
import { isSvcError } from '@svc/api';
import { hashStoredKey, storeKeyHash } from '@svc/platform/config/file/stored-key';
import { ownerKeyFile, readOwnerKey } from '@svc/platform/config/file/owner-key-file';
import { hashOfKey } from '@svc/platform/config/file/stored-secrets';
import type { Command } from 'commander';
import { askSecret, confirm, pipedSecret } from '../terminal/asking.js';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageFailure } from '../failure.js';

const KEY_BYTES = 32;
const SEND_IT = 'The svc command cannot send a hash: SVC_API_KEY=<the key> svc …';

export const define = (program: Command, action: Action): void => {
  const key = program.command('key').description("Manage this daemon's API key").helpCommand(false);
  key
    .command('hash')
    .description('Print the hash of a key, for api_key_hash; asks for the key without showing it, or reads it from a pipe')
    .option('--write', 'replace api_key in config.toml with its hash')
    .action(action((cli, flags: { write?: boolean }) => (flags.write === true ? hashInPlace(cli) : printHash(cli))));
  key
    .command('new')
    .description('Create a key; it is shown once')
    .option('--write', 'store its hash in config.toml, replacing the previous key')
    .action(action((cli, flags: { write?: boolean }) => newKey(cli, flags.write === true)));
  key.command('show').description('Print the key that the daemon created for you (owner.key)').action(action(showKey));
};

const showKey = async (cli: Cli): Outcome => {
  const file = ownerKeyFile(cli.settings.home);
  const found = await readOwnerKey(file);
  if (found.kind === 'none')
    throw new Failure('The daemon has not created a key in this home.', {
      code: 'cli_no_owner_key',
      fix: 'It creates one before it starts a program that could reach its port. To create one now, run svc key new.',
    });
  if (found.kind === 'unusable') throw new Failure(`${file} cannot be used: ${found.why}.`, { code: 'cli_owner_key_unusable', fix: 'Restart the daemon to create another key.' });
  if (cli.json) cli.out.json({ key: found.key, file });
  else {
    cli.out.line(found.key);
    cli.out.note('It is valid while no other key is set. The svc command sends it automatically; svc open logs you in with it.');
  }
  return EXIT.ok;
};

const printHash = async (cli: Cli): Outcome => {
  const key = process.stdin.isTTY === true ? await askSecret(cli, 'The key') : await pipedSecret();
  if (key === '') throw usageFailure('The key is empty.');
  const hash = hashOfKey(key);
  if (cli.json) cli.out.json({ hash });
  else cli.out.line(hash);
  return EXIT.ok;
};

const hashInPlace = async (cli: Cli): Outcome => {
  const file = cli.settings.configFile;
  const hash = await inFile(() => hashStoredKey(file));
  if (cli.json) cli.out.json({ hash, file });
  else {
    cli.out.line(`${cli.out.green('✓')} ${file} contains the hash of the key; the key itself stays valid.`);
    cli.out.line(`  ${SEND_IT}`);
  }
  return EXIT.ok;
};

const newKey = async (cli: Cli, isWrite: boolean): Outcome => {
  const file = cli.settings.configFile;
  if (isWrite && !(await confirm(cli, `Put a new key into ${file}? The owner's key before stops to be valid.`))) return EXIT.ok;
  const key = `svc_${randomBytes(KEY_BYTES).toString('base64url')}`;
  const hash = hashOfKey(key);
  if (isWrite) await inFile(() => storeKeyHash(file, hash));
  if (cli.json) cli.out.json({ key, hash, ...(isWrite ? { file } : {}) });
  else {
    cli.out.line(key);
    cli.out.note(isWrite ? `Its hash is in ${file}; a running daemon reloads it.` : `For config.toml: api_key_hash = "${hash}"`);
    cli.out.note(`It is shown this once. ${SEND_IT}`);
  }
  return EXIT.ok;
};

/** The settings' own errors in the words of this command. */
const inFile = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isSvcError(error)) throw error;
    throw new Failure(error.message, { code: error.code, fix: error.hint });
  }
};
