/** `svc ext trust`: whose extensions this daemon takes. The file is read anew with each installation and each start. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { readStoreFiles, writeTrust } from '@svc/installer/install';
import { type Isolation, isPublicKey, keyIdOf, parseTrust, type TrustedKey, trustText } from '@svc/installer/signing';
import type { Cli, Outcome } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageFailure } from '../failure.js';
import { table } from '../terminal/layout.js';
import { inWords } from './key-place.js';

const storeDir = (cli: Cli): string => path.join(cli.settings.dataDir, 'extensions');

export const trustedKeys = async (cli: Cli): Promise<readonly TrustedKey[]> => inWords(readStoreFiles(storeDir(cli)).then(({ keys }) => keys()));

const changeKeys = async (cli: Cli, change: (keys: readonly TrustedKey[]) => readonly TrustedKey[]): Promise<readonly TrustedKey[]> => {
  const keys = change(await trustedKeys(cli));
  // What is written must be readable.
  await inWords((async () => parseTrust(trustText(keys)))());
  await mkdir(storeDir(cli), { recursive: true, mode: 0o700 });
  await writeTrust(storeDir(cli), keys);
  return keys;
};

const shown = ({ allow, id, isolation, name, public: publicKey, revoked, since }: TrustedKey): Record<string, unknown> => ({
  id,
  name,
  public: publicKey,
  allow,
  isolation: isolation ?? null,
  since: since ?? null,
  revoked: revoked ?? null,
});

export const trustList = async (cli: Cli): Outcome => {
  const keys = await trustedKeys(cli);
  if (cli.json) cli.out.json({ keys: keys.map(shown) });
  else if (keys.length === 0) cli.out.line('No keys are trusted yet. Installing a signed extension asks whether to trust its key; svc ext trust add does it in advance.');
  else {
    const rows = keys.map(({ allow, id, isolation, name, revoked, wasInProcess }) => [
      id,
      revoked === undefined ? 'trusted' : 'revoked',
      name === '' ? '-' : name,
      allow.join(', ') || '-',
      isolation ?? (wasInProcess ? 'as configured; in-process was removed' : 'as configured'),
    ]);
    const columns = [{ title: 'KEY' }, { title: 'STATE' }, { title: 'NAME', shrinks: true }, { title: 'EXTENSIONS', shrinks: true }, { title: 'RUNS' }];
    for (const line of table(columns, rows, cli.out.width, (text, column) => (column === 1 && text.startsWith('revoked') ? cli.out.red(text) : text))) cli.out.line(line);
  }
  return EXIT.ok;
};

export interface TrustFlags {
  readonly allow?: readonly string[];
  readonly name?: string;
  readonly isolation?: string;
}

export const trustAdd = async (cli: Cli, publicKey: string, flags: TrustFlags): Outcome => {
  const { allow = [], name } = flags;
  if (!isPublicKey(publicKey)) throw usageFailure('A public key is 64 hex digits.', 'svc ext verify FILE.tgz   shows the one of a package');
  if (allow.length === 0) throw usageFailure('Choose which extensions this key can sign.', 'svc ext trust add KEY --allow publisher-name   or --allow "publisher-*"');
  const isolation = isolationOf(flags.isolation);
  const id = keyIdOf(publicKey);
  const keys = await changeKeys(cli, (before) => {
    const known = before.find((key) => key.id === id);
    if (known?.revoked !== undefined)
      throw new Failure(`${id} was revoked ${known.revoked}.`, { code: 'cli_key_revoked', fix: `svc ext trust remove ${id}   removes the key; then you can add it again` });
    const { wasInProcess, ...kept } = known ?? { id, name: '', public: publicKey, since: new Date().toISOString() };
    const next: TrustedKey = {
      ...kept,
      // It stays until somebody says another one.
      ...(wasInProcess && isolation === undefined ? { wasInProcess } : {}),
      ...(name === undefined ? {} : { name }),
      allow: [...new Set([...(known?.allow ?? []), ...allow])],
      ...(isolation === undefined ? {} : { isolation }),
    };
    return known ? before.map((key) => (key === known ? next : key)) : [...before, next];
  });
  return said(cli, keys, id, 'is trusted from the next installation on');
};

const isolationOf = (text: string | undefined): Isolation | undefined => {
  if (text === undefined || text === 'isolated' || text === 'walled') return text;
  throw usageFailure(`There is no isolation "${text}".`, 'isolated or walled');
};

export const trustRevoke = async (cli: Cli, id: string): Outcome => {
  const keys = await changeKeys(cli, (before) => {
    known(before, id);
    return before.map((key) => (key.id === id && key.revoked === undefined ? { ...key, revoked: new Date().toISOString() } : key));
  });
  return said(cli, keys, id, 'is revoked: what it signed can no longer be installed, or started after the next start. To stop what runs: svc ext disable');
};

export const trustRemove = async (cli: Cli, id: string): Outcome => {
  await changeKeys(cli, (before) => {
    known(before, id);
    return before.filter((key) => key.id !== id);
  });
  if (cli.json) cli.out.json({ removed: id });
  else cli.out.line(`${cli.out.green('✓')} ${id} is removed. What it signed no longer starts, unless you trust the key again.`);
  return EXIT.ok;
};

const known = (keys: readonly TrustedKey[], id: string): TrustedKey => {
  const key = keys.find((one) => one.id === id);
  if (key) return key;
  throw new Failure(`No key ${id} is trusted here.`, { code: 'cli_unknown_key', fix: 'svc ext trust list' });
};

const said = (cli: Cli, keys: readonly TrustedKey[], id: string, what: string): Outcome => {
  const key = known(keys, id);
  if (cli.json) cli.out.json(shown(key));
  else cli.out.line(`${cli.out.green('✓')} ${id}${key.name === '' ? '' : ` (${key.name})`} ${what}.`);
  return Promise.resolve(EXIT.ok);
};
