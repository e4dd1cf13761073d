/** `svc ext create`. */
import os from 'node:os';
import path from 'node:path';
import { API_VERSION } from '@svc/api/internal';
import { createExtension } from '@svc/installer/author';
import type { Cli, Outcome } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { watched } from '../terminal/progress.js';
import { authored, folderOf } from './authored.js';
import { checkoutPackages } from './checkout-packages.js';

export const create = async (cli: Cli, folder: string, { template, publisher }: { template: string; publisher?: string }): Outcome => {
  const dir = folderOf(folder);
  const id = idOf(path.basename(dir), publisher);
  const packages = (): ReturnType<typeof checkoutPackages> => watched(cli.out, 'Building the packages that extensions are written with', checkoutPackages(cli.distDir));
  const files = await authored(() => createExtension({ dir, id, template, apiVersion: API_VERSION, packages }));
  if (cli.json) {
    cli.out.json({ id, dir, template, files });
    return EXIT.ok;
  }
  cli.out.line(`${cli.out.green('✓')} Created ${id} in ${folder}`);
  for (const file of files) cli.out.line(`  ${file}`);
  cli.out.line(`Next: cd ${folder} && npm install && npm test`);
  return EXIT.ok;
};

/** `weather` of whoever is logged in as `ada` is `ada-weather`. */
const idOf = (name: string, publisher: string | undefined): string => {
  if (publisher !== undefined) return name.startsWith(`${publisher}-`) ? name : `${publisher}-${name}`;
  return name.includes('-') ? name : `${wordOf(os.userInfo().username)}-${name}`;
};

const wordOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '')
    .replace(/^[0-9]+/, '') || 'my';
