/** A copy of the checkout to be changed freely. Packages are linked to, the workspaces among them are the copy's own. */
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const LEFT_BEHIND = new Set(['node_modules', '.git', 'results', 'mutation']);

const isOwnLink = (target) => !path.isAbsolute(target) && !target.includes('node_modules');

/** `node_modules` of the copy: a link per package; links to workspaces stay relative, so they lead into the copy. */
const linkPackages = (from, to) => {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isSymbolicLink() && isOwnLink(readlinkSync(source))) symlinkSync(readlinkSync(source), target);
    else if (entry.isDirectory() && entry.name.startsWith('@')) linkPackages(source, target);
    else if (entry.name !== '.package-lock.json') symlinkSync(source, target);
  }
};

/** Where the copy is; `remove` takes it away. */
export const copyCheckout = (root) => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'svc-mutate-'));
  // As a checkout is: a test may look at it as another user of the machine.
  chmodSync(dir, 0o755);
  cpSync(root, dir, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, filter: (file) => file === root || !LEFT_BEHIND.has(path.basename(file)) });
  if (existsSync(path.join(root, 'node_modules'))) linkPackages(path.join(root, 'node_modules'), path.join(dir, 'node_modules'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }) };
};
