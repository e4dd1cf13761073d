/** Connections through a proxy: http requests to it whole, all else through a tunnel that it opens. */
import type { Agent, Dispatcher } from 'undici';
import { fetchErrors } from '../errors.js';
import type { Incoming } from './incoming.js';
import type { ProxyAddress } from './proxies.js';

const ASKS_FOR_LOGIN = 'the proxy asks for a user name and a password, which are set in the environment (HTTPS_PROXY=http://user:password@host:port)';

type Undici = typeof import('undici');

export const proxyAgent = ({ ProxyAgent, Pool }: Undici, { origin, username, password }: ProxyAddress, pool: Agent.Options, connectTimeoutMs: number): Dispatcher => {
  const timeout = { timeout: connectTimeoutMs };
  const login = `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`;
  return new ProxyAgent({
    ...pool,
    uri: username !== '' && origin.startsWith('socks5:') ? origin.replace('//', `//${login}`) : origin,
    ...(username !== '' && !origin.startsWith('socks5:') ? { token: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` } : {}),
    proxyTunnel: false,
    // The library takes options of TLS for a wish for TLS, which no SOCKS proxy speaks.
    ...(origin.startsWith('socks5:') ? {} : { proxyTls: timeout }),
    requestTls: timeout,
    factory: (target, options) => new Pool(target, { ...pool, ...options }),
  });
};

/** As errors name the host of a request that left through a proxy. */
export const shownThrough = (host: string, proxy: ProxyAddress | undefined): string => (proxy === undefined ? host : `${host} through the proxy ${proxy.shown}`);

/** 407 is a proxy's own answer. */
export const assertAdmitted = (status: number, shown: string, incoming: Pick<Incoming, 'stop'>): void => {
  if (status !== 407) return;
  const error = fetchErrors.network(shown, ASKS_FOR_LOGIN);
  incoming.stop(error);
  throw error;
};

/** What a proxy answered instead of opening a tunnel, from the words of the library: it has no code for it. */
export const tunnelRefusal = (error: unknown): string | undefined => {
  const status = error instanceof Error ? /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(error.message)?.[1] : undefined;
  if (status === undefined) return undefined;
  return status === '407' ? ASKS_FOR_LOGIN : `the proxy refused the connection with ${status}`;
};
