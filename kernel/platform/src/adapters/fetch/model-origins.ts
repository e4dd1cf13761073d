/**
 * Where model providers are, and servers that an operator configured: base URLs that whoever keeps them has allowed, and nothing else.
 *
 * O1  A URL is allowed when its origin is that of a base URL and its path is that path or lies below it.
 * O2  An entry stands until it is taken back, or the generation that made it stops.
 */
import { type Disposable, parsedUrl } from '@svc/api';
import { fetchErrors } from '../errors.js';

/** More base URLs than a daemon has providers. */
const MAX_ENTRIES = 2_000;

export interface ModelOrigins {
  /** `proxy`: what requests there leave through. */
  allow(baseUrl: string, proxy?: string): Disposable;
  covers(url: URL): boolean;
  proxyOf(url: URL): string | undefined;
  proxies(): readonly string[];
}

/** The servers of one extension; `ws:` and `wss:` are WebSockets, and `tcp://host:port` is one that does not speak HTTP. */
export interface ServerOrigins extends ModelOrigins {
  coversTcp(host: string, port: number): boolean;
}

export const createModelOrigins = (): ModelOrigins => createOrigins(['http:', 'https:']);

export const createServerOrigins = (): ServerOrigins => {
  const origins = createOrigins(['http:', 'https:', 'ws:', 'wss:', 'tcp:']);
  return { ...origins, coversTcp: (host, port) => origins.covers(new URL(`tcp://${host.includes(':') ? `[${host}]` : host}:${port}`)) };
};

interface Entry {
  readonly path: string;
  readonly proxy: string | undefined;
}

const isBelow = ({ pathname }: URL, { path }: Entry): boolean => pathname === path || pathname.startsWith(`${path}/`);
const nearest = (entries: readonly Entry[]): Entry | undefined => [...entries].sort((one, other) => other.path.length - one.path.length)[0];

const createOrigins = (protocols: readonly string[]): ModelOrigins => {
  const perOrigin = new Map<string, Entry[]>();
  let count = 0;
  let withProxy = 0;
  return {
    allow: (baseUrl, proxy) => {
      const { origin, path } = parse(baseUrl, protocols);
      if (count >= MAX_ENTRIES) throw fetchErrors.too_many_origins(MAX_ENTRIES);
      count++;
      if (proxy !== undefined) withProxy++;
      const entries = perOrigin.get(origin) ?? [];
      const entry: Entry = { path, proxy };
      entries.push(entry);
      perOrigin.set(origin, entries);
      let isStanding = true;
      return {
        dispose: () => {
          if (!isStanding) return;
          isStanding = false;
          count--;
          if (proxy !== undefined) withProxy--;
          entries.splice(entries.indexOf(entry), 1);
          if (entries.length === 0 && perOrigin.get(origin) === entries) perOrigin.delete(origin);
        },
      };
    },
    covers: (url) => perOrigin.get(originOf(url))?.some((entry) => isBelow(url, entry)) ?? false,
    // The nearest base URL that has one.
    proxyOf: (url) => (withProxy === 0 ? undefined : nearest((perOrigin.get(originOf(url)) ?? []).filter((entry) => entry.proxy !== undefined && isBelow(url, entry)))?.proxy),
    proxies: () => [...new Set([...perOrigin.values()].flat().flatMap(({ proxy }) => proxy ?? []))],
  };
};

/** The path without slashes at its end: `` covers everything of its origin. */
const parse = (baseUrl: string, protocols: readonly string[]): { origin: string; path: string } => {
  const url = parsedUrl(baseUrl);
  if (!url) throw fetchErrors.bad_url('it is not a URL');
  if (!protocols.includes(url.protocol)) throw fetchErrors.bad_url(`${url.protocol.slice(0, -1)} is not ${protocols.map((one) => one.slice(0, -1)).join(' or ')}`);
  if (url.protocol === 'tcp:' && (url.hostname === '' || url.port === '')) throw fetchErrors.bad_url('an address of TCP is tcp://host:port');
  if (url.username !== '' || url.password !== '') throw fetchErrors.bad_url('it contains a user name or password');
  return { origin: originOf(url), path: url.pathname.replace(/(?<!\/)\/+$/, '') };
};

/** Schemes that browsers do not know have no origin of their own in the standard. */
const originOf = (url: URL): string => (url.protocol === 'tcp:' ? `tcp://${url.host.toLowerCase()}` : url.origin);
