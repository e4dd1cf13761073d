/** `svc ext verify`: is a package what its publisher signed, and what is that worth to this daemon. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type PackageContent, readPackage, unpack } from '@svc/installer/package';
import { validateKey, type KeyStanding, readRotations, type Signature, verifyFolder } from '@svc/installer/signing';
import type { Cli, Outcome } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { facts } from '../terminal/layout.js';
import { inWords } from './key-place.js';
import { trustedKeys } from './trust.js';

interface Verified {
  readonly content: PackageContent;
  readonly signature: Signature | undefined;
  readonly standing: KeyStanding | undefined;
}

export const verify = async (cli: Cli, given: string): Outcome => {
  const work = await mkdtemp(path.join(tmpdir(), 'svc-verify-'));
  try {
    const { content, signature, standing } = await inWords(verified(cli, path.resolve(given), work));
    const { manifest, package: identity } = content;
    if (cli.json)
      cli.out.json({ id: manifest.id, version: identity.version, signed: signature !== undefined, key_id: signature?.keyId ?? null, public: signature?.publicKey ?? null, standing: standing ?? null });
    else for (const line of verifiedLines(cli, { content, signature, standing })) cli.out.line(line);
    return signature ? EXIT.ok : EXIT.failed;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
};

const verified = async (cli: Cli, given: string, work: string): Promise<Verified> => {
  const about = await stat(given).catch(() => undefined);
  if (!about) throw new Failure(`There is no ${given}.`, { code: 'cli_no_file', fix: 'svc ext verify FILE.tgz, or a folder that is built' });
  const dir = about.isDirectory() ? given : path.join(work, 'package');
  if (!about.isDirectory()) await unpack(given, dir);
  const { signature } = await verifyFolder(dir, { isSource: about.isDirectory() });
  const standing = signature ? await validateKey(signature, await trustedKeys(cli), await readRotations(dir)) : undefined;
  return { content: await readPackage(dir), signature, standing };
};

const WORTH: Readonly<Record<KeyStanding, string>> = {
  known: 'this daemon trusts the key for this extension',
  'handed-on': 'the key trusted for this extension confirms this one',
  unknown: 'this daemon does not know the key; installing asks whether to trust it',
};

const verifiedLines = ({ out }: Cli, { content, signature, standing }: Verified): string[] => {
  const title = `${content.manifest.id} ${content.package.version}`;
  if (!signature || standing === undefined) return [`${out.yellow('!')} ${title} is not signed: its origin and integrity are unknown.`];
  const pairs: Array<[string, string]> = [
    ['key id', signature.keyId],
    ['public', signature.publicKey],
    ['signed', `${signature.createdAt}, ${Object.keys(signature.files).length} files`],
    ['trust', WORTH[standing]],
  ];
  return [`${out.green('✓')} ${title} matches its signature.`, ...facts(pairs, out.width)];
};
