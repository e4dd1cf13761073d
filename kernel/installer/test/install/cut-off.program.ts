/**
 * Changes copies of a store, each of them up to its n-th change of the disk: from there on nothing that it asks for is ever
 * done, as after a power switch. The last one ends the whole process there. Without any it makes the change whole and prints
 * what was changed, a line each: what was done, and in which folder of the store.
 *
 *   cut-off <what> <source> <ext> [<copy> <n>]…
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { relative, sep } from 'node:path';
import { createInstaller } from '../../src/install/installer.js';

const [what = '', source = '', whole = '', ...cuts] = process.argv.slice(2);

interface Cut {
  readonly ext: string;
  readonly at: number;
  readonly isLast: boolean;
  readonly changes: string[];
  reached(): void;
}

/** The one that is worked on. */
let now: Cut | undefined;
const over: string[] = [];
const never = new Promise<never>(() => undefined);

// What the installer imports is what stands in the module: each change of the disk is counted before it happens.
const fs: Record<string, unknown> = createRequire(import.meta.url)('node:fs/promises');
const isRead = (args: readonly unknown[]): boolean => args[1] === undefined || args[1] === 'r' || typeof args[1] === 'number';
for (const name of ['open', 'rename', 'rm', 'mkdir', 'mkdtemp', 'chmod', 'copyFile', 'link']) {
  const original = fs[name];
  if (typeof original !== 'function') throw new Error(name);
  fs[name] = (...args: unknown[]) => {
    const path = String(args[0]);
    if (over.some((ext) => path === ext || path.startsWith(`${ext}${sep}`))) return never;
    if (now === undefined || (name === 'open' && isRead(args))) return original(...args);
    if (now.changes.length === now.at) {
      if (now.isLast) process.kill(process.pid, 'SIGKILL');
      over.push(now.ext);
      now.reached();
      return never;
    }
    now.changes.push(`${name} ${relative(now.ext, path).split('/')[0] || '.'}`);
    return original(...args);
  };
}
syncBuiltinESMExports();

const change = async (dir: string, at: number, isLast: boolean): Promise<readonly string[]> => {
  const installer = await createInstaller({
    dir,
    apiVersion: '0.1.0',
    installed: () => [],
    policy: () => ({ thirdParty: 'any', isolation: 'isolated', registry: undefined, index: undefined }),
    clock: { iso: () => '2026-03-01T10:00:00.000Z' },
  });
  const work: Readonly<Record<string, () => Promise<unknown>>> = {
    install: async () => installer.commit(await installer.stage(source), { grants: 'all', trustKey: true }),
    rollback: () => installer.rollback('acme-weather'),
    remove: () => installer.remove('acme-weather', { purge: true }),
  };
  const cut = new Promise<void>((reached) => {
    now = { ext: dir, at, isLast, changes: [], reached };
  });
  const { changes = [] } = now ?? {};
  await Promise.race([cut, work[what]?.()]);
  now = undefined;
  return changes;
};

if (cuts.length === 0) process.stdout.write((await change(whole, -1, false)).join('\n'));
for (let index = 0; index < cuts.length; index += 2) await change(cuts[index] ?? '', Number(cuts[index + 1]), index + 2 === cuts.length);
