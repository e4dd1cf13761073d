/**
 * Secrets by name. Values are kept by whoever answers the `secret.*` hooks; here they pass
 * through on their way into a request, after the log has learnt to hide them.
 */
import { createHmac } from 'node:crypto';
import type { HmacOptions, SecretRef, Secrets } from '@svc/api';
import type { Log } from '../log/log.js';
import { secretErrors } from './errors.js';
import { createSigningKeys } from './signing-keys.js';

const NAME = /^[A-Za-z0-9._:/-]{1,200}$/;
const GRANT = 'secrets:';
const LOGIN_GRANT = 'secrets-login';
/** The key that opens the store itself is nobody's secret to use. */
const NEVER_FROM_ENV = /^SVC_(VAULT_KEY|STATE_SECRET|API_KEY)/;

export interface SecretChange {
  op: 'put' | 'delete' | 'list';
  name: string;
  value?: string;
}

export interface SecretsDeps {
  env: Readonly<Record<string, string | undefined>>;
  /** The stored value; undefined when nobody keeps it. What it throws is passed on where the environment has no value either. */
  ask: (name: string) => Promise<{ readonly value: string } | undefined>;
  /** Undefined when nobody keeps secrets. */
  change: (change: SecretChange) => Promise<{ readonly changed: boolean; readonly names?: readonly string[] } | undefined>;
  log: Pick<Log, 'redact'>;
}

export interface SecretsAdapter extends Secrets {
  /** The value, for adapters only: the stored one first, else the environment's. */
  resolve(ref: SecretRef): Promise<string | undefined>;
  /** The same for one extension: names outside its grants `secrets:<name>` or `secrets:<prefix>*` are refused. */
  limited(grants: readonly string[]): { readonly secrets: Secrets; readonly resolve: (ref: SecretRef) => Promise<string | undefined> };
}

export const createSecrets = (deps: SecretsDeps): SecretsAdapter => {
  const sign = createSigningKeys({ resolve: async (name) => (await find(deps, { secret: name }))?.value, put: (name, value) => put(deps, name, value) });
  const adapter: Omit<SecretsAdapter, 'limited'> = {
    resolve: async (ref) => (await find(deps, ref))?.value,
    where: async (ref) => (await find(deps, ref))?.where,
    login: async (ref) => (await find(deps, ref))?.value,
    put: (name, value) => put(deps, name, value),
    delete: async (name) => (await change(deps, { op: 'delete', name: checked(name) })).changed,
    list: async (prefix) => [...((await change(deps, { op: 'list', name: prefix })).names ?? [])].filter((name) => name.startsWith(prefix)).sort(),
    sign,
    hmac: async (name, data, { algorithm, key }) => {
      const found = await find(deps, { secret: name });
      return found && new Uint8Array(createHmac(algorithm, keyOf(found.value, key)).update(data).digest());
    },
  };
  return { ...adapter, limited: (grants) => limited(adapter, grants) };
};

const STANDARD_PREFIX = 'whsec_';

const keyOf = (value: string, key: HmacOptions['key']): Buffer => {
  if (key !== 'whsec') return Buffer.from(value, key);
  return value.startsWith(STANDARD_PREFIX) ? Buffer.from(value.slice(STANDARD_PREFIX.length), 'base64') : Buffer.from(value, 'utf8');
};

const find = async (deps: SecretsDeps, ref: SecretRef): Promise<{ value: string; where: 'stored' | 'environment' } | undefined> => {
  const value = ref.env === undefined || NEVER_FROM_ENV.test(ref.env) ? undefined : deps.env[ref.env]?.trim();
  const stored = await deps.ask(checked(ref.secret)).catch((broken: unknown) => {
    // Whoever set a key in the environment goes on; without one, a broken store is not an empty one.
    if (value) return undefined;
    throw broken;
  });
  if (stored) return hidden(deps, stored.value, 'stored');
  return value ? hidden(deps, value, 'environment') : undefined;
};

const hidden = <W>(deps: SecretsDeps, value: string, where: W): { value: string; where: W } => {
  deps.log.redact(value);
  return { value, where };
};

const put = async (deps: SecretsDeps, name: string, value: string): Promise<void> => {
  deps.log.redact(value);
  await change(deps, { op: 'put', name: checked(name), value });
};

const change = async (deps: SecretsDeps, wanted: SecretChange): Promise<{ readonly changed: boolean; readonly names?: readonly string[] }> => {
  const answer = await deps.change(wanted);
  if (!answer) throw secretErrors.no_store();
  return answer;
};

const checked = (name: string): string => {
  if (!NAME.test(name)) throw secretErrors.bad_name();
  return name;
};

const limited = (adapter: Omit<SecretsAdapter, 'limited'>, grants: readonly string[]): ReturnType<SecretsAdapter['limited']> => {
  const patterns = grants.filter((grant) => grant.startsWith(GRANT)).map((grant) => grant.slice(GRANT.length));
  const isGranted = (name: string): boolean => patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
  const granted = async (name: string): Promise<void> => {
    if (!isGranted(name)) throw secretErrors.not_granted(name);
  };
  const usable = async (given: SecretRef): Promise<SecretRef> => {
    const ref = { ...given };
    await granted(ref.secret);
    if (ref.env !== undefined && !grants.includes('secrets-env') && !grants.includes(`env:${ref.env}`)) throw secretErrors.env_not_granted(ref.env);
    return ref;
  };
  return {
    resolve: (ref) => usable(ref).then(adapter.resolve),
    secrets: {
      where: (ref) => usable(ref).then(adapter.where),
      login: async (ref) => {
        if (!grants.includes(LOGIN_GRANT)) throw secretErrors.not_granted(ref.secret);
        return adapter.login(await usable(ref));
      },
      put: (name, value) => granted(name).then(() => adapter.put(name, value)),
      delete: (name) => granted(name).then(() => adapter.delete(name)),
      list: async (prefix) => (await adapter.list(prefix)).filter(isGranted),
      sign: (name, data) => granted(name).then(() => adapter.sign(name, data)),
      hmac: (name, data, options) => granted(name).then(() => adapter.hmac(name, data, options)),
    },
  };
};
