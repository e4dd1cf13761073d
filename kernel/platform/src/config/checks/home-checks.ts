/** What doctor says of the home folder and the disk it is on. */
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { DoctorFinding } from '@svc/api';
import { errnoOf } from '../errno.js';
import { hasPlainKey } from '../file/stored-key.js';
import type { Home } from '../home.js';
import { type Exposed, exposedPaths } from '../privacy.js';

const LOW_DISK_BYTES = 100 * 1024 * 1024;
const OTHERS = 0o077;
const CLOSE = 'svc doctor --fix';

export const homeFindings = async (where: Pick<Home, 'home' | 'configFile'>): Promise<DoctorFinding[]> => {
  const exposed = await exposedPaths(where);
  return [await homeFinding(where.home), privacyFinding(exposed), ...(await keyFindings(where.configFile)), await envFileFinding(where.home), await diskFinding(where.home)];
};

const homeFinding = async (home: string): Promise<DoctorFinding> => {
  const check = 'home';
  try {
    await access(home, constants.W_OK);
    return { check, result: 'pass', message: `${home} can be written.` };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { check, result: 'pass', message: `${home} is made at the first start.` };
    return { check, result: 'fail', message: `${home} cannot be written (${errnoOf(error) ?? 'unknown error'}).`, fix: 'make it yours, or set SVC_HOME to a folder that is' };
  }
};

const privacyFinding = (exposed: readonly Exposed[]): DoctorFinding => {
  const check = 'PrivateFilesCheck';
  if (exposed.length === 0) return { check, result: 'pass', message: 'No other user of this machine can read the home and its settings.' };
  // A folder that can be entered is untidy; a key that can be read is lost.
  return { check, result: exposed.some(({ holdsKey }) => holdsKey) ? 'fail' : 'warn', message: `${exposed.map(({ what }) => what).join('; ')}.`, fix: CLOSE };
};

const keyFindings = async (configFile: string): Promise<DoctorFinding[]> =>
  (await hasPlainKey(configFile)) ? [{ check: 'ApiKeyStorageCheck', result: 'warn', message: `${configFile} holds the API key as it is; its hash would do.`, fix: 'svc key hash --write' }] : [];

/** Nothing here reads it: who keeps keys in one believes that something does. */
const envFileFinding = async (home: string): Promise<DoctorFinding> => {
  const check = 'env_file';
  const file = join(home, '.env');
  const found = await stat(file).catch(() => undefined);
  if (!found) return { check, result: 'pass', message: `There is no ${file}, and none is needed.` };
  const isOpen = process.platform !== 'win32' && (found.mode & OTHERS) !== 0;
  const open = isOpen ? ' Other users of this machine can read it.' : '';
  return {
    check,
    result: 'warn',
    message: `${file} is not read by the daemon.${open}`,
    fix: `${isOpen ? `chmod 600 ${file}; ` : ''}keep keys of providers in the vault: svc providers set-key PROVIDER; the rest belongs into the environment`,
  };
};

const diskFinding = async (home: string): Promise<DoctorFinding> => {
  const check = 'disk_space';
  try {
    const disk = await statfs(home);
    const free = disk.bavail * disk.bsize;
    const message = `${Math.floor(free / 1024 / 1024).toLocaleString('en')} MB are free.`;
    return free < LOW_DISK_BYTES ? { check, result: 'warn', message, fix: 'make room: the daemon refuses to lose what it accepted, and needs space to keep it' } : { check, result: 'pass', message };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { check, result: 'pass', message: 'The disk is looked at after the first start.' };
    return { check, result: 'warn', message: `How much of the disk is free is not known (${errnoOf(error) ?? 'unknown error'}).`, fix: `df ${home}` };
  }
};
