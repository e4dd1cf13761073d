/**
 * Changes a store and ends as by a power switch before its n-th change of the disk. When it came to its end it prints
 * what those changes were, a line each: what was done, and in which folder of the store.
 *
 *   cut-off <ext> <n> <what> [source]
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { relative } from 'node:path';
import { createInstaller } from '../../src/install/installer.js';

const [ext = '', cutAt = '', what = '', source = ''] = process.argv.slice(2);

// What the installer imports is what stands in the module: each change of the disk is counted before it happens.
const fs: Record<string, unknown> = createRequire(import.meta.url)('node:fs/promises');
const changes: string[] = [];
let isOpen = false;
const isRead = (args: readonly unknown[]): boolean => args[1] === undefined || args[1] === 'r' || typeof args[1] === 'number';
for (const name of ['open', 'rename', 'rm', 'mkdir', 'mkdtemp', 'chmod', 'copyFile', 'link']) {
  const original = fs[name];
  if (typeof original !== 'function') throw new Error(name);
  fs[name] = (...args: unknown[]) => {
    if (!isOpen || (name === 'open' && isRead(args))) return original(...args);
    if (changes.length === Number(cutAt)) process.kill(process.pid, 'SIGKILL');
    changes.push(`${name} ${relative(ext, String(args[0])).split('/')[0] || '.'}`);
    return original(...args);
  };
}
syncBuiltinESMExports();

const installer = await createInstaller({
  dir: ext,
  apiVersion: '0.1.0',
  installed: () => [],
  policy: () => ({ thirdParty: 'any', isolation: 'isolated', registry: undefined, index: undefined }),
  clock: { iso: () => '2026-03-01T10:00:00.000Z' },
});
isOpen = true;
const work: Readonly<Record<string, () => Promise<unknown>>> = {
  install: async () => installer.commit(await installer.stage(source), { grants: 'all', trustKey: true }),
  rollback: () => installer.rollback('acme-weather'),
  remove: () => installer.remove('acme-weather', { purge: true }),
};
await work[what]?.();
process.stdout.write(changes.join('\n'));
