/**
 * What svc has on this machine, and how it goes.
 *
 * R1  Only what svc makes itself is deleted, by name: a home folder that is also something else keeps the rest.
 * R2  Nobody uses it meanwhile: the home is locked, and a daemon that runs refuses it.
 * R3  Everything is renamed before anything is deleted: a process that dies in between leaves no half of a database.
 */
import { lstat, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { isSvcError } from '@svc/api';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import type { Settings } from '../settings.js';

export interface HomePart {
  readonly path: string;
  /** In words. */
  readonly what: string;
  readonly bytes: number;
}

export type Scope = 'config' | 'data' | 'all' | 'everything';

/** What a removal that died left. */
const REMOVED = '.removed-';

const DATA: Readonly<Record<string, string>> = {
  data: 'database with all agents, conversations and settings, vault, uploads, extensions',
  workspaces: 'files of the agents',
  checkpoints: 'earlier versions of files of the agents',
  templates: 'templates',
};
const REST: Readonly<Record<string, string>> = {
  logs: 'logs',
  '.env': 'environment file',
  'owner.key': "the daemon's key for you",
  'daemon.json': 'address of the daemon',
  'restore.json': 'record of the last restore',
};

/** Those that are there. `all` keeps backups, `everything` does not. */
export const homeParts = async ({ configFile, home }: Pick<Settings, 'configFile' | 'home'>, scope: Scope): Promise<HomePart[]> => {
  const wanted: Array<[file: string, what: string]> = [];
  const inHome = (parts: Readonly<Record<string, string>>): void => void wanted.push(...Object.entries(parts).map(([name, what]): [string, string] => [path.join(home, name), what]));
  if (scope !== 'data') wanted.push([configFile, 'settings']);
  if (scope !== 'config') inHome(DATA);
  if (scope === 'all' || scope === 'everything') inHome(REST);
  if (scope === 'everything') inHome({ backups: 'backups' });
  if (scope !== 'config') for (const name of await namesIn(home)) if (name.startsWith(REMOVED)) wanted.push([path.join(home, name), 'left by a removal that was interrupted']);
  const found = await Promise.all(wanted.map(async ([file, what]) => ({ path: file, what, bytes: await sizeOf(file) })));
  return found.flatMap(({ bytes, ...part }) => (bytes === undefined ? [] : [{ ...part, bytes }]));
};

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []); // there is none

/** Undefined where nothing is there; a link counts as itself. */
const sizeOf = async (file: string): Promise<number | undefined> => {
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined || !found.isDirectory()) return found?.size;
  const sizes = await Promise.all((await namesIn(file)).map((name) => sizeOf(path.join(file, name))));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
};

/** R2, R3. Throws `daemon_already_running`. */
export const removeParts = async ({ home }: Pick<Settings, 'home'>, parts: readonly HomePart[]): Promise<void> => {
  if (parts.length === 0) return;
  const aside = path.join(home, `${REMOVED}${process.pid}-${Date.now()}`);
  // A file elsewhere, as SVC_CONFIG may name one, may be on another disk.
  const [inside, outside] = [parts.filter((part) => isIn(home, part)), parts.filter((part) => !isIn(home, part))];
  const { whileLocked } = await import('@svc/daemon/offline/local-home');
  await whileLocked(home, async () => {
    await mkdir(aside, { mode: 0o700 });
    await moveAll(inside, aside);
    await rm(aside, { recursive: true, force: true });
    for (const part of outside) await rm(part.path, { recursive: true, force: true });
  }).catch((error: unknown) => {
    throw isSvcError(error) ? new Failure(error.message, { code: error.code, fix: error.code === 'daemon_already_running' ? 'svc stop' : error.hint }) : error;
  });
  // A folder that still has something is kept.
  await rmdir(home).catch(() => undefined);
};

const isIn = (home: string, part: HomePart): boolean => path.dirname(part.path) === path.resolve(home);

/** All of them, or none: one that cannot be moved brings the others back. */
const moveAll = async (parts: readonly HomePart[], aside: string): Promise<void> => {
  const moved: Array<readonly [from: string, to: string]> = [];
  for (const [index, part] of parts.entries()) {
    const to = path.join(aside, String(index));
    try {
      await rename(part.path, to);
    } catch (error) {
      for (const [from, place] of moved) await rename(place, from);
      await rmdir(aside);
      throw new Failure(`${part.path} could not be removed, so nothing was.`, {
        code: 'cli_remove_failed',
        why: error instanceof Error ? error.message : String(error),
        fix: 'Repeat the command when the file can be changed.',
      });
    }
    moved.push([part.path, to]);
  }
};

/** Throws where a daemon of this home runs. */
export const refuseBesideDaemon = ({ daemonFile, home }: Pick<Settings, 'daemonFile' | 'home'>): void => {
  const running = daemonFile();
  if (running !== undefined)
    throw new Failure('The daemon is running, and it uses what would be deleted.', { code: 'daemon_already_running', exit: EXIT.failed, why: `process ${running.pid} uses ${home}`, fix: 'svc stop' });
};
