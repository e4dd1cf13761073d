/**
 * `owner.key` in the home: the key that the daemon made for its owner, as the daemon and the command line read it.
 *
 * F1  Nothing is taken from a link, from a file of another user, or from one that others could read or write.
 */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../errno.js';

export const ownerKeyFile = (home: string): string => join(home, 'owner.key');

export type OwnerKeyFile = { readonly kind: 'key'; readonly key: string } | { readonly kind: 'none' } | { readonly kind: 'unusable'; readonly why: string };

const KEY = /^svc_[A-Za-z0-9_-]{43}$/;
const OTHERS = 0o077;
const MAX_BYTES = 1_024;

export const readOwnerKey = async (file: string): Promise<OwnerKeyFile> => {
  let handle: FileHandle;
  try {
    // Not blocked by a pipe that stands in its place.
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errnoOf(error);
    return code === 'ENOENT' ? { kind: 'none' } : { kind: 'unusable', why: code === 'ELOOP' ? 'it is a link' : `it cannot be opened (${code ?? 'unknown'})` };
  }
  try {
    const why = await faultOf(handle);
    if (why !== undefined) return { kind: 'unusable', why };
    const key = (await handle.readFile('utf8')).trim();
    return KEY.test(key) ? { kind: 'key', key } : { kind: 'unusable', why: 'it holds no key' };
  } catch (error) {
    return { kind: 'unusable', why: `it cannot be read (${errnoOf(error) ?? 'unknown'})` };
  } finally {
    await handle.close();
  }
};

const faultOf = async (handle: FileHandle): Promise<string | undefined> => {
  const { mode, size, uid } = await handle.stat();
  if ((mode & constants.S_IFMT) !== constants.S_IFREG) return 'it is not a file';
  if (size > MAX_BYTES) return 'it holds no key';
  if (process.getuid !== undefined && uid !== process.getuid()) return 'it belongs to another user';
  if ((mode & OTHERS) !== 0) return 'other users of this machine can read it: chmod 600';
  return undefined;
};
