/**
 * Where the master key comes from: SVC_VAULT_KEY, else the file vault.key beside the vault, made at the first put.
 * Earlier keys open what was sealed with them, and seal nothing: SVC_VAULT_KEY_PREVIOUS, else the files that a rotation left.
 */
import { type Dir, type Ids, textThatIsSet } from '@svc/api';

export const MASTER_KEY_ENV = 'SVC_VAULT_KEY';
export const PREVIOUS_KEY_ENV = 'SVC_VAULT_KEY_PREVIOUS';
export const KEY_FILE = 'vault.key';

const KEY_BYTES = 32;
const OWNER_ONLY = 0o600;
const EARLIER_KEY_FILE = /^vault-[\w-]+\.key$/;
const MAX_EARLIER_KEYS = 20;
const MAX_KEY_CHARS = 1_000;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export type MasterKey = { readonly state: 'found'; readonly key: Buffer; readonly from: 'environment' | 'file' } | { readonly state: 'absent' } | { readonly state: 'bad'; readonly why: string };

/** Exactly 32 bytes in base64, or why not. Never quotes the text: it may be a key with a typo. */
export const decodeMasterKey = (text: string, source: string): Buffer | { readonly why: string } => {
  const trimmed = text.trim();
  const key = BASE64.test(trimmed) ? Buffer.from(trimmed, 'base64') : undefined;
  if (!key) return { why: `${source} is not base64` };
  if (key.length === KEY_BYTES) return key;
  const length = key.length;
  key.fill(0);
  return { why: `${source} decodes to ${length} bytes, not ${KEY_BYTES}` };
};

/** An environment variable that is set but wrong is not passed over for the file: nobody would see which key is in use. */
export const findMasterKey = async (data: Dir, fromEnv: string | undefined): Promise<MasterKey> => {
  if (textThatIsSet(fromEnv) !== undefined) return named(decodeMasterKey(fromEnv ?? '', MASTER_KEY_ENV), 'environment');
  if (!(await data.stat(KEY_FILE))) return { state: 'absent' };
  return named(decodeMasterKey(await data.readText(KEY_FILE, { maxBytes: MAX_KEY_CHARS }), KEY_FILE), 'file');
};

export const makeMasterKey = async (data: Dir, ids: Ids): Promise<Buffer> => {
  const key = Buffer.from(ids.bytes(KEY_BYTES));
  await data.write(KEY_FILE, `${key.toString('base64')}\n`, { mode: OWNER_ONLY });
  return key;
};

/** Newest first. What is no key is passed over: it opens nothing. */
export const earlierKeys = async (data: Dir, from: 'environment' | 'file', previousFromEnv: string | undefined): Promise<Buffer[]> => {
  const texts = from === 'environment' ? [textThatIsSet(previousFromEnv) ?? ''] : await Promise.all((await earlierFiles(data)).map((file) => data.readText(file, { maxBytes: MAX_KEY_CHARS })));
  return texts.map((text) => decodeMasterKey(text, PREVIOUS_KEY_ENV)).filter((key) => Buffer.isBuffer(key));
};

const earlierFiles = async (data: Dir): Promise<string[]> => {
  const names = (await data.list()).filter(({ kind, name }) => kind === 'file' && EARLIER_KEY_FILE.test(name)).map(({ name }) => name);
  return names.sort().reverse().slice(0, MAX_EARLIER_KEYS);
};

/** Writes the present key file beside itself, for what was sealed with it. The name of the copy ends in `.key`: no backup has it. */
export const copyKeyFile = async (data: Dir, ids: Ids, stamp: string): Promise<string> => {
  const copy = `vault-${stamp}-${Buffer.from(ids.bytes(2)).toString('hex')}.key`;
  await data.write(copy, await data.readText(KEY_FILE, { maxBytes: MAX_KEY_CHARS }), { mode: OWNER_ONLY });
  return copy;
};

const named = (decoded: Buffer | { readonly why: string }, from: 'environment' | 'file'): MasterKey =>
  Buffer.isBuffer(decoded) ? { state: 'found', key: decoded, from } : { state: 'bad', why: decoded.why };
