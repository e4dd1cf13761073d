/**
 * The owner's key in config.toml: put there as its hash, or turned into one where it stands as it is.
 *
 * H1  The file afterwards is for its owner only, and differs in that one setting.
 * H2  What the hash replaced stands in no copy that the daemon made.
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isKeyHash, textThatIsSet } from '@svc/api';
import { atomicWrite } from '../../adapters/files/atomic-write.js';
import { readConfigFile } from './config-file.js';
import { writeFailed } from './replace-file.js';
import { configErrors } from '../errors.js';
import { hashOfKey } from './stored-secrets.js';
import { editToml, renameToml } from './toml-edit.js';
import { loadToml, type ParseToml } from './toml-parse.js';

const OWNER_ONLY = 0o600;

/** Replaces the `api_key` of the file by its hash. Throws `config_no_plain_key`, `config_two_keys` and what an edit throws. */
export const hashStoredKey = async (file: string): Promise<string> => {
  const parse = await loadToml();
  const text = await textOf(file);
  const plain = plainKeyOf(read(text ?? '', parse));
  if (text === undefined || plain === undefined) throw configErrors.no_plain_key(file);
  await write(file, withHash(file, text, hashOfKey(plain), parse));
  await hashInCopies(file, parse);
  return hashOfKey(plain);
};

/** Sets `api_key_hash` in place of whatever key of the owner there was. */
export const storeKeyHash = async (file: string, hash: string): Promise<void> => {
  const parse = await loadToml();
  const text = (await textOf(file)) ?? '';
  const tree = read(text, parse);
  const isOnlyPlain = tree.api_key !== undefined && tree.api_key_hash === undefined;
  const without = tree.api_key !== undefined && !isOnlyPlain ? editToml(text, ['api_key'], undefined, parse) : text;
  await write(file, isOnlyPlain ? renameToml(text, 'api_key', 'api_key_hash', hash, parse) : editToml(without, ['api_key_hash'], hash, parse));
  await hashInCopies(file, parse);
};

/** Whether the file holds the key as it is. What cannot be read holds none that anybody knows of. */
export const hasPlainKey = async (file: string): Promise<boolean> => {
  const text = await textOf(file).catch(() => undefined);
  if (text === undefined || !text.includes('api_key')) return false;
  const parse = await loadToml();
  try {
    return plainKeyOf(parse(text)) !== undefined;
  } catch {
    return false; // broken: the daemon's own message names the line
  }
};

const withHash = (file: string, text: string, hash: string, parse: ParseToml): string => {
  const stored = textThatIsSet(parse(text).api_key_hash);
  if (stored === undefined && parse(text).api_key_hash === undefined) return renameToml(text, 'api_key', 'api_key_hash', hash, parse);
  if (stored !== undefined && stored.toLowerCase() !== hash) throw configErrors.two_keys(file);
  return editToml(editToml(text, ['api_key'], undefined, parse), ['api_key_hash'], hash, parse);
};

/** The text before the last change made by the daemon (config.ts, `save`). */
const hashInCopies = async (file: string, parse: ParseToml): Promise<void> => {
  const copy = join(dirname(file), 'backups', `${basename(file)}.prev`);
  const text = await textOf(copy);
  const plain = text === undefined ? undefined : plainKeyOf(read(text, parse));
  if (text !== undefined && plain !== undefined) await write(copy, editToml(text, ['api_key'], hashOfKey(plain), parse));
};

const plainKeyOf = (tree: Record<string, unknown>): string | undefined => {
  const key = textThatIsSet(tree.api_key);
  return key === undefined || isKeyHash(key) ? undefined : key;
};

const read = (text: string, parse: ParseToml): Record<string, unknown> => {
  try {
    return parse(text);
  } catch (error) {
    throw configErrors.file_invalid(error instanceof Error ? error.message : String(error)).with({ cause: error });
  }
};

const textOf = async (file: string): Promise<string | undefined> => {
  const { text, unreadable } = await readConfigFile(file);
  if (unreadable !== undefined) throw configErrors.file_invalid(unreadable);
  return text ?? undefined;
};

/** Through a link: the file that it names is the one that people edit. */
const write = async (file: string, text: string): Promise<void> => {
  try {
    await atomicWrite(await realpath(file).catch(() => file), text, { mode: OWNER_ONLY });
  } catch (cause) {
    throw writeFailed(cause);
  }
};
