/** `svc ext sign`: vouches for a built extension with a key. */
import path from 'node:path';
import { readKey, readRotations, rotate, signFolder } from '@svc/installer/signing';
import { readPackage } from '@svc/installer/package';
import type { Cli, Outcome } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { inWords, keyPlace } from './key-place.js';

export interface SignFlags {
  readonly key?: string;
  /** The key that signed it until now. */
  readonly rotates?: string;
}

export const signed = async (cli: Cli, folder: string, flags: SignFlags): Promise<{ readonly id: string; readonly version: string; readonly keyId: string; readonly files: number }> => {
  const dir = path.resolve(folder);
  const key = await inWords(readKey(keyPlace(cli, flags.key), dir));
  const now = new Date();
  const former = flags.rotates === undefined ? undefined : await inWords(readKey(path.resolve(flags.rotates), dir));
  const { manifest } = await inWords(readPackage(dir));
  // Statements of earlier times stay: somebody may come from a version that an even older key signed.
  const rotations = former ? [...(await inWords(readRotations(dir))).filter(({ to }) => to !== key.publicKey), await rotate(manifest.id, former, key.publicKey, now)] : undefined;
  const { id, version, keyId, files } = await inWords(signFolder(dir, key, { now, ...(rotations ? { rotations } : {}) }));
  return { id, version, keyId, files: Object.keys(files).length };
};

export const sign = async (cli: Cli, folder: string, flags: SignFlags): Outcome => {
  const { files, id, keyId, version } = await signed(cli, folder, flags);
  if (cli.json) cli.out.json({ id, version, key_id: keyId, files });
  else cli.out.line(`${cli.out.green('✓')} ${id} ${version} is signed with ${keyId}: ${files} files. Sign again after any change.`);
  return EXIT.ok;
};
