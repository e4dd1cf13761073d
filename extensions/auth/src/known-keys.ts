/** Which keys open this daemon, and to whom. */
import { isKeyHash, type JsonSchema, holdsCallerKey, type Plain, type Role, textThatIsSet } from '@svc/api';
import { ApiKey, ApiKeyHash, OwnerKeyHash, Users } from './config.js';
import { ExternalAuth } from './external-auth.js';

/** Of `[[users]]`. */
export type User = Plain<typeof Users>[number];

export interface KeySettings {
  /** SVC_API_KEY: stands above `api_key`. */
  readonly environment?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly apiKeyHash?: string | undefined;
  /** Of the key that the daemon made itself. */
  readonly ownerKeyHash?: string | undefined;
  readonly users: readonly User[];
  /** What `[external_auth]` says: a provider closes the daemon. */
  readonly externalAuth?: ExternalAuth | undefined;
}

export interface KnownKey {
  /** `owner`, or the name of a person in `[[users]]`. */
  readonly holder: string;
  readonly role: Role;
  readonly source: 'SVC_API_KEY' | 'api_key' | 'api_key_hash' | 'owner.key' | 'users';
  /** The key itself, or `sha256:<hex>` of it in small letters. */
  readonly text: string;
  readonly isHash: boolean;
}

const OWNER = { holder: 'owner', role: 'owner' } as const;

/** What the platform asks as well: with no key at all the daemon is open. */
export const hasKey = ({ environment, apiKey, apiKeyHash, ownerKeyHash, users, externalAuth }: KeySettings): boolean => {
  const env = { SVC_API_KEY: environment };
  const marked: ReadonlyArray<readonly [JsonSchema, unknown]> = [
    [ApiKey, apiKey],
    [ApiKeyHash, apiKeyHash],
    [OwnerKeyHash, ownerKeyHash],
    [Users, users],
    [ExternalAuth, externalAuth],
  ];
  return marked.some(([schema, value]) => holdsCallerKey(schema, value, env));
};

/** Somebody may sign in elsewhere. */
export const hasProvider = ({ externalAuth }: KeySettings): boolean => holdsCallerKey(ExternalAuth, externalAuth, {});

export const keysOf = (settings: KeySettings): readonly KnownKey[] => {
  const keys: KnownKey[] = [];
  const environment = textThatIsSet(settings.environment);
  const own = environment ?? textThatIsSet(settings.apiKey);
  const ownHash = textThatIsSet(settings.apiKeyHash);
  if (own !== undefined) keys.push({ ...OWNER, source: environment === undefined ? 'api_key' : 'SVC_API_KEY', ...formOf(own) });
  if (ownHash !== undefined) keys.push({ ...OWNER, source: 'api_key_hash', ...formOf(ownHash) });
  const made = textThatIsSet(settings.ownerKeyHash);
  if (made !== undefined) keys.push({ ...OWNER, source: 'owner.key', ...formOf(made) });
  for (const { name, role, api_key_hash: hash } of settings.users) if (hash !== undefined) keys.push({ holder: name, role, source: 'users', ...formOf(hash) });
  return keys;
};

const formOf = (key: string): Pick<KnownKey, 'text' | 'isHash'> => (isKeyHash(key) ? { text: key.toLowerCase(), isHash: true } : { text: key, isHash: false });
