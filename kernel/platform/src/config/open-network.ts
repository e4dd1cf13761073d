/**
 * The rule of the open network: an address that other machines can reach needs a key.
 *
 * N1  It is validated at the start and at every reload, over every source of a key.
 * N2  At a start without a key that was ever known, there is no daemon.
 * N3  Later the last keys stay in force until there is another one, or a start finds an address of this machine only.
 */
import { defineErrors } from '@svc/api';
import { hasCallerKey, keySections } from './caller-keys.js';
import type { ConfigGuard } from './config-guard.js';
import type { Home } from './home.js';
import type { SectionClaims } from './kernel-sections.js';
import { isLoopbackName } from './loopback.js';
import { listenAddress } from './start-settings.js';

const networkErrors = defineErrors('daemon', {
  open_to_network: {
    status: 400,
    retry: false,
    message: (host: string) => `The listen address ${host} can be reached from other machines, and no API key is set.`,
    hint: 'Set api_key in config.toml (or SVC_API_KEY), or listen on 127.0.0.1.',
  },
});

type Env = Readonly<Record<string, string | undefined>>;
type Get = (section: string) => unknown;
type Claims = () => SectionClaims;

export interface KeyWatch {
  hasKey(): boolean;
}

/** Whether there is a key, without looking through all of them for every request. */
export function watchKeys(env: Env, claims: Claims, config: { get: Get; onChange(section: string, fn: () => void): unknown }): KeyWatch {
  const look = (): boolean => hasCallerKey(claims(), config.get, env);
  let has = look();
  const lookAgain = (): void => {
    has = look();
  };
  for (const section of keySections(claims())) config.onChange(section, lookAgain);
  return { hasKey: () => has };
}

/** `bound` is the host that is open already, whatever the settings say of the next start. */
export function networkGuard(env: Env, claims: Claims, home: Home, bound: () => string | undefined): ConfigGuard {
  const names = (): readonly string[] => keySections(claims()).map((name) => name.replace(/^\//, ''));
  const hostOf = (get: Get): string => bound() ?? listenAddress({ get }, home, undefined).host;
  return {
    get sections() {
      return keySections(claims());
    },
    refuses: (get) => !isLoopbackName(hostOf(get)) && !hasCallerKey(claims(), get, env),
    problem: (get) => ({
      key: names()[0] ?? '',
      message: `No API key is set now, and ${hostOf(get)} can be reached from other machines: the last key stays valid. Set another one, or listen on 127.0.0.1 and restart.`,
      expected: `a key in ${names().join(', ')}`,
    }),
  };
}

/** What a start says to these values (N2); undefined where it goes ahead. */
export function startRefusal(env: Env, claims: Claims, home: Home): (get: Get) => string | undefined {
  return (get) => {
    const { host } = listenAddress({ get }, home, undefined);
    return isLoopbackName(host) || hasCallerKey(claims(), get, env) ? undefined : networkErrors.open_to_network(host).message;
  };
}

export function refuseOpenNetwork(host: string, hasKey: boolean): void {
  if (!isLoopbackName(host) && !hasKey) throw networkErrors.open_to_network(host);
}
