/**
 * Through which proxy a request leaves.
 *
 * X1  A provider's own proxy, else [proxy] of config.toml, else the environment (`https_proxy`, `http_proxy`, `all_proxy`, in small or capital letters).
 * X2  This machine and the hosts of no_proxy are reached directly. A provider's own proxy has no exceptions.
 * X3  A proxy looks up names itself. Names and literal addresses are checked here, the addresses of a name are not.
 * X4  A login of a proxy is read from the environment alone, and no message has it.
 */
import { parsedUrl, targetOf } from '@svc/api';
import { canonicalHost } from '../address-policy.js';
import { fetchErrors } from '../errors.js';
import { type IpRange, isInRange, parseAddress, parseRange } from '../ip-range.js';

export interface ProxyAddress {
  /** Scheme, host and port: `http:`, `https:` or `socks5:`. */
  readonly origin: string;
  readonly username: string;
  readonly password: string;
  /** For a person: without a login, with where it was set. */
  readonly shown: string;
}

export interface Proxies {
  /** Undefined where the request goes out directly. Throws `fetch_bad_proxy`. */
  of(url: URL): ProxyAddress | undefined;
  /** One that a provider has for itself. Throws `fetch_bad_proxy`. */
  own(text: string): ProxyAddress;
  /** One of `set`. Throws `fetch_bad_proxy`. */
  parse(text: string, from: string): ProxyAddress;
  /** The texts of the two that hold for everything, with where each was set. */
  set(): readonly SetProxy[];
  /** The hosts that are reached directly, as written. */
  direct(): string;
}

export interface SetProxy {
  readonly text: string;
  readonly from: string;
}

type Environment = Readonly<Record<string, string | undefined>>;
interface Rules {
  readonly section: unknown;
  readonly http: SetProxy | undefined;
  readonly https: SetProxy | undefined;
  readonly noProxy: string;
  readonly exceptions: readonly Exception[];
}
type Exception = (host: string, port: string) => boolean;

export const createProxies = (config: { get(section: string): unknown }, env: Environment): Proxies => {
  let rules: Rules | undefined;
  const current = (): Rules => {
    const section = config.get('proxy');
    if (rules?.section !== section || rules === undefined) rules = rulesOf(section, env);
    return rules;
  };
  const logins = (): readonly string[] => ENVIRONMENT.flatMap((name) => env[name] ?? []);
  return {
    of: (url) => {
      const { http, https, exceptions } = current();
      const found = url.protocol === 'https:' ? https : http;
      if (!found) return undefined;
      const host = canonicalHost(url.hostname);
      const { port } = targetOf(url);
      if (isThisMachine(host) || exceptions.some((matches) => matches(host, port))) return undefined;
      return parsed(found, logins());
    },
    parse: (text, from) => parsed({ text, from }, logins()),
    own: (text) => parsed({ text, from: 'set for this provider' }, logins()),
    set: () => {
      const { http, https } = current();
      return [https, http].filter((one, at, all): one is SetProxy => one !== undefined && all.findIndex((other) => other?.text === one.text) === at);
    },
    direct: () => current().noProxy,
  };
};

const HTTPS = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];
const HTTP = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'];
const ENVIRONMENT = [...new Set([...HTTPS, ...HTTP])];

const rulesOf = (section: unknown, env: Environment): Rules => {
  const { http_proxy, https_proxy, no_proxy } = (section ?? {}) as { http_proxy?: string; https_proxy?: string; no_proxy?: string };
  const noProxy = no_proxy ?? env.no_proxy ?? env.NO_PROXY ?? '';
  return {
    section,
    http: setBy(http_proxy, '[proxy] http_proxy', env, HTTP),
    https: setBy(https_proxy, '[proxy] https_proxy', env, HTTPS),
    noProxy,
    exceptions: noProxy
      .split(/[\s,]+/)
      .filter((entry) => entry !== '')
      .map(exceptionOf),
  };
};

/** An empty text means that there is none. */
const setBy = (configured: string | undefined, from: string, env: Environment, names: readonly string[]): SetProxy | undefined => {
  if (configured !== undefined) return configured === '' ? undefined : { text: configured, from };
  const name = names.find((one) => env[one] !== undefined);
  const text = name === undefined ? '' : (env[name] ?? '').trim();
  return name === undefined || text === '' ? undefined : { text, from: name };
};

/** `*`, a name with all names below it, an address, a range; a name or address also with a port. */
const exceptionOf = (entry: string): Exception => {
  if (entry === '*') return () => true;
  const range = parseRange(entry.replace(/^\[|\]$/g, ''));
  if (range) return (host) => isWithin(host, range);
  const [, bracketed, plain, wanted] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  const name = (bracketed ?? plain ?? entry).toLowerCase().replace(/^\*?\.?/, '');
  return (host, port) => (wanted === undefined || wanted === port) && name !== '' && (host === name || host.endsWith(`.${name}`));
};

const isWithin = (host: string, range: IpRange): boolean => {
  const address = parseAddress(host);
  return address !== undefined && isInRange(address, range);
};

const LOOPBACK = ['127.0.0.0/8', '::1/128'].flatMap((text) => parseRange(text) ?? []);
const isThisMachine = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost') || LOOPBACK.some((range) => isWithin(host, range));

const SCHEMES: Readonly<Record<string, string>> = { 'http:': 'http:', 'https:': 'https:', 'socks5:': 'socks5:', 'socks5h:': 'socks5:', 'socks:': 'socks5:' };
const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'socks5:': '1080' };

const parsed = ({ text, from }: SetProxy, logins: readonly string[]): ProxyAddress => {
  const url = addressOf(text);
  if (!url) throw fetchErrors.bad_proxy(from);
  const login = url.username === '' ? logins.map(addressOf).find((other) => other !== undefined && other.username !== '' && originOf(other) === originOf(url)) : url;
  return { origin: originOf(url), username: decoded(login?.username ?? ''), password: decoded(login?.password ?? ''), shown: `${originOf(url)} (${from})` };
};

/** As other programs read it: without a scheme it is http. */
const addressOf = (text: string): URL | undefined => {
  const url = parsedUrl(text.includes('://') ? text : `http://${text}`);
  return url && url.hostname !== '' && Object.hasOwn(SCHEMES, url.protocol) ? url : undefined;
};

/** Schemes that browsers do not know have no origin of their own in the standard. */
const originOf = (url: URL): string => {
  const scheme = SCHEMES[url.protocol] ?? '';
  return `${scheme}//${url.hostname}:${url.port === '' ? PORTS[scheme] : url.port}`;
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
