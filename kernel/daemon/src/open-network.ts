/**
 * The rule of the open network: an address that other machines can reach needs a key.
 *
 * N1  It is judged at the start and at every reload, over every source of a key.
 * N2  At a start without a key that was ever known, there is no daemon.
 * N3  Later the last keys stay in force until there is another one, or a start finds an address of this machine only.
 */
import { type KnownKey, keysOf } from '@svc/api';
import type { ConfigGuard } from '@svc/platform/config/config-guard';
import type { Home } from '@svc/platform/config/home';
import { isLoopbackName } from '@svc/platform/http/access';
import { listenAddress } from './daemon-settings.js';
import { daemonErrors } from './errors.js';

type Env = Readonly<Record<string, string | undefined>>;
type Get = (section: string) => unknown;

const SECTIONS = ['/api_key', '/api_key_hash', '/users'] as const;

export const knownKeys = (env: Env, get: Get): readonly KnownKey[] => keysOf({ environment: env.SVC_API_KEY, apiKey: get('/api_key'), apiKeyHash: get('/api_key_hash'), users: get('/users') });

export interface KeyWatch {
  hasKey(): boolean;
}

/** Whether there is a key, without looking through all of them for every request. */
export function watchKeys(env: Env, config: { get: Get; onChange(section: string, fn: () => void): unknown }): KeyWatch {
  const look = (): boolean => knownKeys(env, config.get).length > 0;
  let has = look();
  const lookAgain = (): void => {
    has = look();
  };
  for (const section of SECTIONS) config.onChange(section, lookAgain);
  return { hasKey: () => has };
}

/** `bound` is the address that is open already, whatever the settings say of the next start. */
export function networkGuard(env: Env, home: Home, bound: () => string): ConfigGuard {
  const hostOf = (get: Get): string => bound() || listenAddress({ get }, home, undefined).host;
  return {
    sections: SECTIONS,
    refuses: (get) => !isLoopbackName(hostOf(get)) && knownKeys(env, get).length === 0,
    problem: (get) => ({
      key: 'api_key',
      message: `No API key is set any more, and ${hostOf(get)} can be reached from other machines: the last key stays in force. Set another one, or listen on 127.0.0.1 and start again.`,
      expected: 'an api_key, an api_key_hash or a person with a key in [[users]]',
    }),
  };
}

export function refuseOpenNetwork(host: string, hasKey: boolean): void {
  if (!isLoopbackName(host) && !hasKey) throw daemonErrors.open_to_network(host);
}
