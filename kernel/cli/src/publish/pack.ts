/** `svc ext pack`: the archive that people install, the same byte for byte for the same files. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { digestOf, hashFiles, packageFilesIn, packFolder, readPackage } from '@svc/installer/package';
import { verifyFiles } from '@svc/installer/signing';
import type { Cli, Outcome } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { bytesText, facts } from '../terminal/layout.js';
import { inWords } from './key-place.js';
import { signed } from './sign.js';

export interface PackFlags {
  readonly out?: string;
  readonly key?: string;
}

export const pack = async (cli: Cli, folder: string, flags: PackFlags): Outcome => {
  const dir = path.resolve(folder);
  if (flags.key !== undefined) await signed(cli, folder, { key: flags.key });
  const { manifest, package: identity } = await inWords(readPackage(dir));
  const hashes = await inWords(packageFilesIn(dir).then((files) => hashFiles(dir, files)));
  // Nobody could install what was changed since it was signed.
  const signature = await inWords(verifyFiles(dir, hashes, { id: manifest.id, version: identity.version, api: manifest.api }));
  const { bytes, files } = await inWords(packFolder(dir));
  const file = path.resolve(flags.out ?? `${manifest.id}-${identity.version}.tgz`);
  await writeFile(file, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const digest = digestOf(hashes);
  if (cli.json) cli.out.json({ file, id: manifest.id, version: identity.version, bytes: bytes.length, files: files.map((one) => one.path), sha256, digest, key_id: signature?.keyId ?? null });
  else {
    cli.out.line(`${cli.out.green('✓')} ${manifest.id} ${identity.version} is packed.`);
    const pairs: Array<[string, string]> = [
      ['file', `${file} (${bytesText(bytes.length)}, ${files.length} files)`],
      ['sha256', sha256],
      ['signed', signature ? `with ${signature.keyId}` : 'no: most daemons only accept signed extensions. svc ext pack --key FILE'],
      ['install', `svc ext install ${file}`],
    ];
    for (const line of facts(pairs, cli.out.width, (text, label) => (label === 'signed' && !signature ? cli.out.yellow(text) : text))) cli.out.line(line);
  }
  return EXIT.ok;
};
