/** `svc ext keygen`: a key to sign extensions with. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { generateKey, writeKey } from '@svc/installer/signing';
import type { Cli, Outcome } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { facts } from '../terminal/layout.js';
import { keyPlace } from './key-place.js';

export const keygen = async (cli: Cli, given: string | undefined): Outcome => {
  const file = keyPlace(cli, given);
  const key = await generateKey();
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeKey(file, key).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new Failure(`${file} already exists.`, {
      code: 'cli_key_exists',
      why: 'you need the key for the next version of what it signed',
      fix: 'svc ext keygen FILE   creates another one elsewhere',
    });
  });
  if (cli.json) cli.out.json({ file, key_id: key.keyId, public: key.publicKey });
  else {
    const pairs: Array<[string, string]> = [
      ['private', file],
      ['key id', key.keyId],
      ['public', key.publicKey],
    ];
    cli.out.line(`${cli.out.green('✓')} Key created.`);
    for (const line of facts(pairs, cli.out.width)) cli.out.line(line);
    cli.out.line('Keep the private key secret and make a backup. Publish the public key where people can trust that it is yours.');
  }
  return EXIT.ok;
};
