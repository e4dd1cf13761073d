/**
 * Puts a changed text in the place of config.toml.
 *
 * R1  What stood there is what the change was made from; another text there means that somebody was quicker, and it stays.
 * R2  A link stays a link: the file that it names is the one that changes.
 * R3  A file that its owner made read-only is not written, whoever runs the daemon.
 */
import { copyFile, mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { atomicWrite } from '../../adapters/files/atomic-write.js';
import { errnoOf } from '../errno.js';
import { configErrors } from '../errors.js';
import { readConfigFile } from './config-file.js';

const BYTE_ORDER_MARK = '\uFEFF';
const ANY_WRITE = 0o222;
/** In words: what a person does about it depends on it. */
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is mounted read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EBUSY: 'it is mounted as a single file, which can only be changed from outside',
  ENOTDIR: 'something that is no folder stands where one is needed',
};

export interface EditableFile {
  /** Without its byte order mark; empty where there is no file. */
  readonly text: string;
  readonly exists: boolean;
  /** What stood in it, byte for byte. */
  readonly bytes: Buffer | undefined;
  /** The file itself, where `path` is a link. */
  readonly target: string;
  readonly path: string;
}

/** Throws `config_file_invalid` where it cannot be read as text, and `config_read_only`. */
export const openForEdit = async (path: string): Promise<EditableFile> => {
  const { text, unreadable } = await readConfigFile(path);
  if (unreadable !== undefined) throw configErrors.file_invalid(unreadable);
  const target = await realpath(path).catch(() => path);
  if (text === null) return { text: '', exists: false, bytes: undefined, target, path };
  if (!(await isWritable(target))) throw configErrors.read_only(path);
  const bytes = await bytesOf(target);
  // Half of it would be written back as question marks.
  if (bytes === undefined || !Buffer.from(bytes.toString('utf8')).equals(bytes)) throw configErrors.file_invalid('it is not UTF-8 text');
  return { text, exists: true, bytes, target, path };
};

export const isWritable = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found === undefined || (found.mode & ANY_WRITE) !== 0;
};

/** Keeps what was there in backups/config.toml.prev. Throws `config_changed_meanwhile` or `config_write_failed`. */
export const replaceText = async (file: EditableFile, text: string): Promise<void> => {
  const mark = file.bytes?.toString('utf8').startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  try {
    if (file.exists) await keepFormer(file);
    else await mkdir(dirname(file.target), { recursive: true, mode: 0o700 });
    await atomicWrite(file.target, mark + text, { modeWhenNew: 0o600, beforeRename: () => refuseOther(file) });
  } catch (cause) {
    if (isOurs(cause)) throw cause;
    throw writeFailed(cause);
  }
};

const isOurs = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'config_changed_meanwhile';

export const writeFailed = (cause: unknown): Error => {
  const code = errnoOf(cause) ?? 'unknown error';
  return configErrors.write_failed(REASONS[code] ?? code).with({ cause });
};

const keepFormer = async ({ path, target }: EditableFile): Promise<void> => {
  const backups = join(dirname(path), 'backups');
  await mkdir(backups, { recursive: true, mode: 0o700 });
  await copyFile(target, join(backups, `${basename(path)}.prev`));
};

const refuseOther = async ({ path, bytes }: EditableFile): Promise<void> => {
  const now = await bytesOf(path);
  const isSame = now === undefined || bytes === undefined ? now === bytes : now.equals(bytes);
  if (!isSame) throw configErrors.changed_meanwhile();
};

const bytesOf = async (path: string): Promise<Buffer | undefined> => {
  try {
    return await readFile(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};
