/**
 * Which keys open this daemon. Everybody who has to know asks here: who lets callers in,
 * the rule of the open network, the rule of foreign hosts, the command line and doctor.
 *
 * K1  Empty and blank are unset, wherever a key may stand.
 * K2  `sha256:<hex>` in place of a key is the hash of one, and never the key itself.
 */
import type { Role } from './actor.js';

export interface KeySettings {
  /** SVC_API_KEY: stands above `api_key`. */
  readonly environment?: unknown;
  readonly apiKey: unknown;
  readonly apiKeyHash: unknown;
  /** `[[users]]`, already judged by their schema. */
  readonly users: unknown;
}

export interface KnownKey {
  /** `owner`, or the name of a person in `[[users]]`. */
  readonly holder: string;
  readonly role: Role;
  readonly source: 'SVC_API_KEY' | 'api_key' | 'api_key_hash' | 'users';
  /** The key itself, or `sha256:<hex>` of it in small letters. */
  readonly text: string;
  readonly isHash: boolean;
}

const HASH = /^sha256:[0-9a-f]{64}$/i;
const OWNER = { holder: 'owner', role: 'owner' } as const;

/** A text that says something, without the blanks around it; undefined for whatever counts as unset. */
export const textThatIsSet = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined);

export const isKeyHash = (text: string): boolean => HASH.test(text);

/** None: the daemon is open. */
export const keysOf = (settings: KeySettings): readonly KnownKey[] => {
  const keys: KnownKey[] = [];
  const environment = textThatIsSet(settings.environment);
  const own = environment ?? textThatIsSet(settings.apiKey);
  const ownHash = textThatIsSet(settings.apiKeyHash);
  if (own !== undefined) keys.push({ ...OWNER, source: environment === undefined ? 'api_key' : 'SVC_API_KEY', ...formOf(own) });
  if (ownHash !== undefined) keys.push({ ...OWNER, source: 'api_key_hash', ...formOf(ownHash) });
  for (const { name, role, api_key_hash: hash } of usersOf(settings.users)) keys.push({ holder: name, role, source: 'users', ...formOf(hash) });
  return keys;
};

const formOf = (key: string): Pick<KnownKey, 'text' | 'isHash'> => (isKeyHash(key) ? { text: key.toLowerCase(), isHash: true } : { text: key, isHash: false });

/** The schema of `[[users]]` gave them this form. */
const usersOf = (users: unknown): ReadonlyArray<{ name: string; role: Role; api_key_hash: string }> => (Array.isArray(users) ? users : []);
