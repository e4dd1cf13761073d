/** `svc ext build`. */
import type { Cli, Outcome } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { builtLine, builtOf, folderOf } from './authored.js';

export const build = async (cli: Cli, folder: string): Outcome => {
  const built = await builtOf(folderOf(folder));
  const { manifest, package: identity, contributions, bundleBytes, isRewritten } = built;
  if (cli.json) cli.out.json({ id: manifest.id, version: identity.version, bundle_bytes: bundleBytes, rewritten: isRewritten, contributions });
  else {
    cli.out.line(builtLine(cli, built));
    if (isRewritten) cli.out.line('  contributions.json was written; it is part of the package');
  }
  return EXIT.ok;
};
