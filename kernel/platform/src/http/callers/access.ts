/**
 * Who may call from where: Host, Origin and CORS.
 *
 * A1  Without an api_key only names of this machine are a valid Host: a page whose name was re-pointed
 *     at 127.0.0.1 (DNS rebinding) is refused.
 * A2  Without an api_key a request that a browser sends for another page is refused, simple POSTs included: only the page of this
 *     very address, scheme, name and port, and the origins that cors_origins names may call. Another port is another program, and
 *     maybe another person's. A person may still follow a link to here.
 * A3  With an api_key any program may call; pages only from cors_origins or from the service itself.
 *
 * `*` lets pages call with a key of their own; it makes no page one that a browser's cookie may be used by (`sendingPage`), and
 * without an api_key it names nobody: every page of the web would be the owner. Desktop apps are named like everybody else: all
 * apps that are made with Tauri have the same origin, whoever made them and whatever they show.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { SendingPage } from '@svc/api/internal';
import { isLoopbackName } from '../../config/loopback.js';
import { httpErrors } from '../errors.js';
import { hostNameOf } from '../host-name.js';

export interface Access {
  /** `[api] cors_origins`; `*` allows every origin. */
  corsOrigins(): readonly string[];
  hasApiKey(): boolean;
  /** The host part of the address that is listened on. */
  listenHost(): string;
  /** Addresses of proxies whose X-Forwarded-For is believed. Default none. */
  trustedProxies?(): readonly string[];
}

/** In cors_origins: every origin. */
const ANY = '*';

/** Throws when the request may not come from there. Returns the origin to name in CORS headers, if any. `isSecure`: it came over https. */
export const admitOrigin = (access: Access, headers: IncomingHttpHeaders, method: string, isSocket: boolean, isSecure: boolean): string | undefined => {
  const origin = headers.origin;
  const host = headers.host ?? '';
  if (!access.hasApiKey()) {
    if (!isOwnHost(access, hostNameOf(host))) throw httpErrors.forbidden_host(short(host));
    if (origin !== undefined && access.corsOrigins().includes(origin) && origin !== ANY) return origin;
    if (origin === undefined ? isForAnotherPage(headers, method) : !isOwnOrigin(origin, host, isSecure)) throw httpErrors.forbidden_origin(short(origin ?? 'another site'));
    return origin;
  }
  if (origin === undefined) return undefined;
  const allowed = access.corsOrigins();
  if (allowed.includes(origin) || allowed.includes(ANY) || originHost(origin) === host) return origin;
  // A cookie goes along without the page's doing; a bearer key does not. Sockets and preflights have no other guard.
  const changes = method !== 'GET' && method !== 'HEAD';
  if (isSocket || method === 'OPTIONS' || (changes && headers.cookie !== undefined)) throw httpErrors.forbidden_origin(short(origin));
  return undefined;
};

/** Which page sent it: what the browser says of the two sites, or else the origin that it names. */
export const sendingPage = (access: Pick<Access, 'corsOrigins'>, headers: IncomingHttpHeaders, isSecure: boolean): SendingPage => {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin === undefined && site === undefined) return 'none';
  if (site === 'same-origin') return 'own';
  if (origin !== undefined && access.corsOrigins().includes(origin)) return 'named';
  // `none`: a person typed the address or opened a bookmark.
  if (site !== undefined) return site === 'none' && origin === undefined ? 'none' : 'other';
  const isOwn = originHost(origin ?? '') === (headers.host ?? '') && (!isSecure || origin?.startsWith('https:') === true);
  return isOwn ? 'own' : 'other';
};

/** A name or address of the machine itself. */
const isOwnHost = (access: Access, name: string | undefined): boolean => name !== undefined && (isLoopbackName(name) || name === access.listenHost());

/** Without a port in the Host the scheme alone tells two programs apart: 80 and 443 are not one. */
const isOwnOrigin = (origin: string, host: string, isSecure: boolean): boolean =>
  originHost(origin)?.toLowerCase() === host.toLowerCase() && (/:\d+$/.test(host) || origin.startsWith(isSecure ? 'https:' : 'http:'));

/** Pictures, scripts and frames are asked for without an origin, but browsers say for whom. What a person opens is none of these. */
const isForAnotherPage = ({ 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest }: IncomingHttpHeaders, method: string): boolean => {
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  const isOpened = mode === 'navigate' && dest === 'document' && (method === 'GET' || method === 'HEAD');
  return !isOpened;
};

/** `host[:port]` of a web origin; undefined for `null` and anything else. */
const originHost = (origin: string): string | undefined => /^https?:\/\/([^/?#@\s]+)$/.exec(origin)?.[1];

/** Shown back to the caller: bounded. */
const short = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
