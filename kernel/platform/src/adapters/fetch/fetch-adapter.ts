/**
 * The one way out to the network.
 *
 * N1  `model`: the base URLs that were allowed (model-origins.ts) and nothing else, over a pool that keeps connections. No address check, no body timeout but the caller's.
 * N2  `tool`, `webhook`, `server`: name resolved, every address checked, the connection pinned to what was checked; each redirect again.
 * N5  `server`: what an operator configured (`Within.isServer`), also by redirect; private addresses too, cloud metadata and the daemon's own port never.
 * N3  Secrets are put into headers, forms and paths here and nowhere else; no message holds one, nor a query string.
 * N4  Every exchange has an end: a deadline, an idle limit or both; and a body cap unless it is a model's.
 * N6  Where a proxy is set (proxies.ts), requests leave through it, and every error names it. It looks up names, so only names and literal addresses are checked here.
 */
import { Readable } from 'node:stream';
import { type FetchInit, type FetchResponse, isHostGranted, isSvcError, type SecretRef, targetOf, parsedUrl } from '@svc/api';
import type { Dispatcher } from 'undici';
import type { TimerClock } from '../../clock/clock.js';
import type { ScopedLogger } from '../../log/log.js';
import { canonicalHost, readHost } from '../address-policy.js';
import { fetchErrors, secretErrors } from '../errors.js';
import { type AddressTerms, addressesAtProxy, assertNotOwnPort, publicAddresses, type ResolvedAddress, type ResolveHost, type Target } from '../resolved-address.js';
import { createExchangeGuard, type ExchangeGuard } from './exchange-guard.js';
import { asFetchError, toResponse } from './fetch-response.js';
import { type Head, Incoming } from './incoming.js';
import { createProxies, type Proxies, type ProxyAddress } from './proxies.js';
import { assertAdmitted, proxyAgent, shownThrough } from './proxy-agent.js';
import { lookAtProxies, type ProxyLook } from './proxy-look.js';

const CONNECT_TIMEOUT_MS = 5_000;
const TIMEOUT_MS = 30_000;
const IDLE_TIMEOUT_MS = 300_000;
const MAX_BYTES = 10 * 1024 * 1024;
const MAX_REDIRECTS = 10;
const MAX_MODEL_URLS = 200;
const POOL = { connections: 256, pipelining: 1, keepAliveTimeout: 30_000, keepAliveMaxTimeout: 600_000, headersTimeout: 0, bodyTimeout: 0 };
/** Proxies that model calls leave through at one time. */
const MAX_POOLS = 50;
const OWN_TO_AN_ORIGIN = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key'];

export type ResolveSecret = (ref: SecretRef) => Promise<string | undefined>;

export interface FetchAdapterDeps {
  config: { get(section: string): unknown };
  secrets: { resolve: ResolveSecret };
  clock: TimerClock;
  log: ScopedLogger;
  /** Whether a model provider is configured there. */
  isModelUrl: (url: URL) => boolean;
  /** The proxy that the provider there has for itself. */
  modelProxy?: (url: URL) => string | undefined;
  /** All of them. */
  modelProxies?: () => readonly string[];
  /** Of the daemon; proxies are set there. Default empty. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Where this daemon listens, once it does. */
  ownPort?: () => number | undefined;
  /** Name resolution; default the system's. */
  resolveHost?: ResolveHost;
}

/** What one extension reaches. */
export interface Within {
  /** Narrows the hosts, beside the call's own `allowHosts`. */
  readonly hosts?: readonly string[] | undefined;
  /** For `server`: what an operator configured. Left out: nothing. */
  readonly isServer?: (url: URL) => boolean;
}

export interface FetchAdapter {
  /** `resolve` narrows the secrets to those granted to one extension. */
  fetch(url: string, init: FetchInit, resolve?: ResolveSecret, within?: Within): Promise<FetchResponse>;
  /** Why a request of a tool or webhook to this URL would be refused by the settings of now; undefined where it would be sent, or its name cannot be resolved. Sends nothing. `resolveHost`: default the adapter's own. */
  refusal(url: string, resolveHost?: ResolveHost): Promise<string | undefined>;
  /** The proxy that a request of a tool to this URL leaves through, for a person. Throws `fetch_bad_proxy`. */
  proxyOf(url: string): string | undefined;
  /** Each proxy that is set, and whether it answers now. */
  proxies(): Promise<ProxyLook>;
  close(): Promise<void>;
}

interface AdapterState {
  readonly deps: FetchAdapterDeps;
  undici: Promise<typeof import('undici')> | undefined;
  /** Connections to models, by the proxy they leave through; empty: none. */
  readonly pools: Map<string, Dispatcher>;
  readonly proxies: Proxies;
  /** Where models were asked, by their text: few, and each asked again and again. */
  readonly modelUrls: Map<string, URL>;
  closed: boolean;
}

export const createFetchAdapter = (deps: FetchAdapterDeps): FetchAdapter => {
  const state: AdapterState = { deps, undici: undefined, pools: new Map(), proxies: createProxies(deps.config, deps.env ?? {}), modelUrls: new Map(), closed: false };
  return {
    fetch: (url, init, resolve, within) => {
      if (state.closed) return Promise.reject(fetchErrors.closed());
      return init.purpose === 'model' ? fetchModel(state, url, init, resolve) : fetchChecked(state, url, init, resolve, within);
    },
    refusal: (url, resolveHost = deps.resolveHost) => refusal(state, url, resolveHost),
    proxyOf: (url) => state.proxies.of(parseUrl(url))?.shown,
    proxies: () => lookAtProxies(state.proxies, deps.modelProxies?.() ?? []),
    close: async () => {
      state.closed = true;
      await Promise.all([...state.pools.values()].map((pool) => pool.destroy()));
    },
  };
};

const load = (state: AdapterState): Promise<typeof import('undici')> => {
  state.undici ??= import('undici');
  return state.undici;
};

const fetchModel = async (state: AdapterState, text: string, init: FetchInit, resolve?: ResolveSecret): Promise<FetchResponse> => {
  const url = modelUrl(state, text);
  if (!state.deps.isModelUrl(url)) throw fetchErrors.not_a_model(url.host);
  const { port } = targetOf(url);
  if (port === String(state.deps.ownPort?.()))
    await assertNotOwnPort({ host: canonicalHost(url.hostname), port, shown: url.host }, state.deps.ownPort?.(), state.deps.resolveHost, init.signal ?? AbortSignal.timeout(CONNECT_TIMEOUT_MS));
  const headers = await requestHeaders(state, init, resolve);
  const own = state.deps.modelProxy?.(url);
  const proxy = own === undefined ? state.proxies.of(url) : state.proxies.own(own);
  const pool = modelPool(state, await load(state), proxy);
  const host = shownThrough(url.host, proxy);
  const guard = createExchangeGuard(state.deps.clock, { host, timeoutMs: init.timeoutMs, idleTimeoutMs: init.idleTimeoutMs ?? IDLE_TIMEOUT_MS, signal: init.signal });
  const { incoming, head } = await send({ pool, proxy }, url, { method: methodOf(init), headers, body: init.body }, guard, () => guard.done());
  return toResponse(incoming, head, { url: url.href, host, guard, maxBytes: init.maxBytes });
};

const modelPool = ({ pools }: AdapterState, undici: typeof import('undici'), proxy: ProxyAddress | undefined): Dispatcher => {
  const key = proxy === undefined ? '' : `${proxy.origin} ${proxy.username}:${proxy.password}`;
  const standing = pools.get(key);
  if (standing) return standing;
  for (const [name, oldest] of pools) {
    if (pools.size < MAX_POOLS) break;
    pools.delete(name);
    void oldest.close();
  }
  const pool = proxy === undefined ? new undici.Agent({ ...POOL, connect: connector(undici) }) : proxyAgent(undici, proxy, POOL, CONNECT_TIMEOUT_MS);
  pools.set(key, pool);
  return pool;
};

const fetchChecked = async (state: AdapterState, text: string, init: FetchInit, resolve?: ResolveSecret, within?: Within): Promise<FetchResponse> => {
  const limits = limitsOf(state, init);
  let url = await withSecretPath(state, parseUrl(text), init, resolve);
  let hop: Hop = { method: methodOf(init), ...(await requestParts(state, init, url, resolve)) };
  // Servers of many sites answer for the one that this header names, also for one that is not granted.
  if (hop.headers.host !== undefined) throw fetchErrors.bad_request(url.host, 'the header host is set by svc, from the URL');
  hop.headers['accept-encoding'] ??= 'identity'; // the cap counts the bytes that arrive, so nothing is inflated here
  const undici = await load(state);
  const guard = createExchangeGuard(state.deps.clock, { host: url.host, timeoutMs: limits.timeoutMs, idleTimeoutMs: limits.idleTimeoutMs, signal: init.signal });
  try {
    for (let redirects = 0; ; redirects++) {
      if (redirects > MAX_REDIRECTS) throw fetchErrors.too_many_redirects(url.host, MAX_REDIRECTS);
      const proxy = state.proxies.of(url);
      const addresses = await checkedAddresses(state, url, { purpose: init.purpose, lists: [init.allowHosts, within?.hosts], isServer: within?.isServer, proxy }, limits.allowed, guard);
      const pool = proxy ? proxyAgent(undici, proxy, { ...POOL, connections: 1 }, CONNECT_TIMEOUT_MS) : new undici.Agent({ ...POOL, connections: 1, connect: connector(undici, addresses) });
      let isLast = true;
      const { incoming, head } = await send({ pool, proxy }, url, hop, guard, () => {
        void pool.destroy();
        if (isLast) guard.done();
      });
      const next = init.redirect === 'manual' || init.secretPath ? undefined : redirectOf(head, url);
      if (!next) return toResponse(incoming, head, { url: init.secretPath ? text : url.href, host: shownThrough(url.host, proxy), guard, maxBytes: limits.maxBytes });
      isLast = false;
      incoming.stop(fetchErrors.cancelled(url.host)); // nobody reads what stands beside a redirect
      hop = followed(hop, head.status, next.origin !== url.origin, Object.keys(init.secretHeaders ?? {}));
      if (init.secretForm && hop.body !== undefined && next.origin !== url.origin) throw fetchErrors.bad_request(url.host, 'it was redirected to another host, and its form holds a secret');
      if (isStreamed(hop.body)) throw fetchErrors.bad_request(url.host, 'it was redirected, and a streamed body cannot be sent again');
      url = next;
    }
  } catch (error) {
    guard.done();
    throw error;
  }
};

interface Way {
  readonly pool: Dispatcher;
  readonly proxy: ProxyAddress | undefined;
}

/** Resolves with the head of the answer. `over` is told when nothing more will come of this exchange. */
const send = async ({ pool, proxy }: Way, url: URL, { method, headers, body }: Hop, guard: ExchangeGuard, over: () => void): Promise<{ incoming: Incoming; head: Head }> => {
  const shown = shownThrough(url.host, proxy);
  const incoming = new Incoming({ touch: guard.touch, over });
  guard.onEnd((why) => incoming.stop(why));
  try {
    // The method is checked by undici itself; its type lists only the common ones.
    pool.dispatch({ origin: url.origin, path: `${url.pathname}${url.search}`, method: method as Dispatcher.HttpMethod, headers, body: bodyOf(body, guard) }, incoming);
    const head = await incoming.head;
    if (proxy) assertAdmitted(head.status, shown, incoming);
    return { incoming, head };
  } catch (error) {
    throw asFetchError(error, shown, guard, CONNECT_TIMEOUT_MS);
  }
};

/** Each piece that is taken counts as a sign of life. What is sent in vain is closed by the stream's own end. */
const bodyOf = (body: FetchInit['body'], guard: ExchangeGuard): string | Uint8Array | Readable | null => {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body ?? null;
  return Readable.from(touching(body, guard), { objectMode: false });
};

async function* touching(body: AsyncIterable<Uint8Array>, guard: ExchangeGuard): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    guard.touch();
    yield piece;
  }
}

/** Sockets without delay: each streamed piece leaves at once. With `pinned`, the name is not looked up again. */
const connector = (undici: typeof import('undici'), pinned?: readonly ResolvedAddress[]): ReturnType<typeof undici.buildConnector> => {
  const pin = pinned && { lookup: pinnedLookup(pinned) };
  const connect = undici.buildConnector({ timeout: CONNECT_TIMEOUT_MS, ...pin });
  return (options, callback) =>
    connect(options, (...result) => {
      result[1]?.setNoDelay(true);
      callback(...result);
    });
};

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | Array<{ address: string; family: number }>, family?: number) => void;

const pinnedLookup =
  (pinned: readonly ResolvedAddress[]) =>
  (_host: string, options: { all?: boolean | undefined }, callback: LookupCallback): void => {
    const first = pinned[0];
    if (options.all || !first) callback(null, [...pinned]);
    else callback(null, first.address, first.family);
  };

const isStreamed = (body: FetchInit['body']): boolean => body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array);

const parseUrl = (text: string): URL => {
  const url = parsedUrl(text);
  if (!url) throw fetchErrors.bad_url('it is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw fetchErrors.bad_url(`${url.protocol.slice(0, -1)} is not http or https`);
  if (url.username !== '' || url.password !== '') throw fetchErrors.bad_url('it contains a user name or password');
  if (readHost(url.hostname) === undefined) throw fetchErrors.bad_url('its host is not a host name or address');
  return url;
};

const modelUrl = (state: AdapterState, text: string): URL => {
  const known = state.modelUrls.get(text);
  if (known) return known;
  const url = parseUrl(text);
  if (state.modelUrls.size >= MAX_MODEL_URLS) state.modelUrls.clear();
  state.modelUrls.set(text, url);
  return url;
};

const methodOf = (init: FetchInit): string => (init.method ?? 'GET').toUpperCase();

const requestHeaders = async (state: AdapterState, init: FetchInit, resolve: ResolveSecret = state.deps.secrets.resolve): Promise<Record<string, string>> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(init.headers ?? {})) headers[name.toLowerCase()] = value;
  headers['user-agent'] ??= 'svc';
  for (const [name, ref] of Object.entries(init.secretHeaders ?? {})) {
    const value = await resolve(ref);
    if (value === undefined) throw secretErrors.missing(ref.secret, ref.env);
    headers[name.toLowerCase()] = `${ref.prefix ?? ''}${value}`;
  }
  return headers;
};

const requestParts = async (state: AdapterState, init: FetchInit, url: URL, resolve: ResolveSecret = state.deps.secrets.resolve): Promise<Pick<Hop, 'headers' | 'body'>> => {
  const headers = await requestHeaders(state, init, resolve);
  if (!init.secretForm) return { headers, body: init.body };
  if (init.body !== undefined && typeof init.body !== 'string') throw fetchErrors.bad_request(url.host, 'secrets of a form go with a text as its body');
  const form = new URLSearchParams(init.body ?? '');
  for (const [name, ref] of Object.entries(init.secretForm)) {
    const value = await resolve(ref);
    if (value === undefined) throw secretErrors.missing(ref.secret, ref.env);
    form.set(name, value);
  }
  headers['content-type'] = 'application/x-www-form-urlencoded';
  return { headers, body: form.toString() };
};

/** What may stand in a path as it is. */
const PLAIN_PART = /^[A-Za-z0-9._~:@!$&'()*+,;=-]+$/;

const withSecretPath = async (state: AdapterState, url: URL, { secretPath }: FetchInit, resolve: ResolveSecret = state.deps.secrets.resolve): Promise<URL> => {
  if (!secretPath) return url;
  const whole = new URL(url);
  for (const [name, ref] of Object.entries(secretPath)) {
    const value = await resolve(ref);
    if (value === undefined) throw secretErrors.missing(ref.secret, ref.env);
    if (!PLAIN_PART.test(value) || /^\.\.?$/.test(value)) throw fetchErrors.bad_request(url.host, `the secret ${ref.secret} has characters that a path cannot hold`);
    whole.pathname = whole.pathname.replaceAll(`%7B${name}%7D`, value);
  }
  return whole;
};

interface ExchangeLimits {
  readonly allowed: readonly string[];
  readonly timeoutMs: number | undefined;
  readonly idleTimeoutMs: number | undefined;
  readonly maxBytes: number | undefined;
}

/** A server streams for as long as it likes, and is not silent for long; what else is fetched has the operator's limits. */
const limitsOf = ({ deps }: AdapterState, init: FetchInit): ExchangeLimits => {
  const { allowed, timeoutMs, maxBytes } = webLimits(deps.config.get('web'));
  if (init.purpose === 'server') return { allowed, timeoutMs: init.timeoutMs, idleTimeoutMs: init.idleTimeoutMs ?? IDLE_TIMEOUT_MS, maxBytes: init.maxBytes };
  return { allowed, timeoutMs: atMost(timeoutMs, init.timeoutMs), idleTimeoutMs: init.idleTimeoutMs, maxBytes: atMost(maxBytes, init.maxBytes) };
};

/** A caller may ask for less than the operator allows, never for more. */
const atMost = (limit: number, asked: number | undefined): number => Math.min(limit, asked ?? limit);

interface WebLimits {
  allowed: readonly string[];
  maxBytes: number;
  timeoutMs: number;
}

/** The section was validated at load; here it is only read. */
const webLimits = (section: unknown): WebLimits => {
  const { fetch = {} } = (section ?? {}) as { fetch?: { ssrf_allowed_hosts?: readonly string[]; max_response_bytes?: number; timeout_secs?: number } };
  return {
    allowed: fetch.ssrf_allowed_hosts ?? [],
    maxBytes: fetch.max_response_bytes ?? MAX_BYTES,
    timeoutMs: fetch.timeout_secs === undefined ? TIMEOUT_MS : fetch.timeout_secs * 1_000,
  };
};

/** Every list that is given has to grant the host. */
interface Reach {
  readonly purpose: FetchInit['purpose'];
  readonly lists: ReadonlyArray<readonly string[] | undefined>;
  readonly isServer?: Within['isServer'];
  readonly proxy: ProxyAddress | undefined;
}

const checkedAddresses = ({ deps }: AdapterState, url: URL, { purpose, lists, isServer, proxy }: Reach, allowed: readonly string[], guard: ExchangeGuard): Promise<readonly ResolvedAddress[]> => {
  const { host, port } = targetAt(url);
  if (lists.some((list) => list && !isHostGranted(list, host, port))) throw fetchErrors.host_not_allowed(url.host);
  const isConfigured = purpose === 'server';
  if (isConfigured && !isServer?.(url)) throw fetchErrors.not_a_server(url.host);
  return reachable(deps, url, { granted: lists.find((list) => list) ?? [], allowed, isConfigured, isAtProxy: proxy !== undefined }, deps.resolveHost, guard.signal).catch((error: unknown) => {
    if (isSvcError(error) && error.code === 'fetch_refused_address') deps.log.warn('A request to a refused address was stopped.', { host: url.host, why: error.message, purpose });
    throw error;
  });
};

const targetAt = (url: URL): Target => ({ host: canonicalHost(url.hostname), port: targetOf(url).port, shown: url.host });

const reachable = (
  { ownPort }: FetchAdapterDeps,
  url: URL,
  { isAtProxy, ...terms }: Pick<AddressTerms, 'granted' | 'allowed' | 'isConfigured'> & { readonly isAtProxy: boolean },
  resolveHost: ResolveHost | undefined,
  signal: AbortSignal,
): Promise<readonly ResolvedAddress[]> => (isAtProxy ? addressesAtProxy : publicAddresses)(targetAt(url), { ...terms, ownPort: ownPort?.() }, resolveHost, signal);

const refusal = async ({ deps, proxies }: AdapterState, text: string, resolveHost: ResolveHost | undefined): Promise<string | undefined> => {
  const deadline = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  try {
    const url = parseUrl(text);
    await reachable(deps, url, { granted: [], allowed: webLimits(deps.config.get('web')).allowed, isAtProxy: proxies.of(url) !== undefined }, resolveHost, deadline);
    return undefined;
  } catch (error) {
    if (deadline.aborted || (isSvcError(error) && error.code === 'fetch_network')) return undefined;
    if (isSvcError(error)) return error.message;
    throw error;
  }
};

const redirectOf = ({ status, headers }: Head, from: URL): URL | undefined => {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(status) || typeof location !== 'string') return undefined;
  const next = parsedUrl(location, from);
  if (!next) throw fetchErrors.bad_url(`${from.host} redirects to something that is not a URL`);
  return parseUrl(next.href);
};

interface Hop {
  method: string;
  body: FetchInit['body'];
  headers: Record<string, string>;
}

/** What goes on to the next address: never credentials to another origin; a body only where the status keeps it. */
const followed = (hop: Hop, status: number, isOtherOrigin: boolean, secretHeaders: readonly string[]): Hop => {
  const becomesGet = (status === 303 && hop.method !== 'HEAD') || ((status === 301 || status === 302) && hop.method === 'POST');
  const headers = { ...hop.headers };
  const dropped = [...(isOtherOrigin ? [...OWN_TO_AN_ORIGIN, ...secretHeaders.map((name) => name.toLowerCase())] : []), ...(becomesGet ? ['content-type', 'content-length'] : []), 'host'];
  for (const name of dropped) delete headers[name];
  return becomesGet ? { method: 'GET', body: undefined, headers } : { ...hop, headers };
};
