/**
 * Who may call from where: Host, Origin and CORS.
 *
 * A1  Without an api_key only names of this machine are a valid Host: a page whose name was re-pointed
 *     at 127.0.0.1 (DNS rebinding) is refused.
 * A2  Without an api_key a request that a browser sends from another origin is refused, simple POSTs included.
 * A3  With an api_key any program may call; pages only from cors_origins or from the service itself.
 *
 * `*` lets pages call with a key of their own; it makes no page one that a browser's cookie may be used by (`sendingPage`).
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { SendingPage } from '@svc/api';
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

const LOCAL_APP_ORIGINS = new Set(['tauri://localhost', 'https://tauri.localhost']);

/** Throws when the request may not come from there. Returns the origin to name in CORS headers, if any. */
export const admitOrigin = (access: Access, headers: IncomingHttpHeaders, method: string, isSocket: boolean): string | undefined => {
  const origin = headers.origin;
  const host = headers.host ?? '';
  if (!access.hasApiKey()) {
    if (!isOwnHost(access, hostNameOf(host))) throw httpErrors.forbidden_host(short(host));
    if (origin === undefined) return undefined;
    if (!isLocalOrigin(access, origin)) throw httpErrors.forbidden_origin(short(origin));
    return origin;
  }
  if (origin === undefined) return undefined;
  const allowed = access.corsOrigins();
  if (allowed.includes(origin) || allowed.includes('*') || originHost(origin) === host) return origin;
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

const isLocalOrigin = (access: Access, origin: string): boolean => {
  if (LOCAL_APP_ORIGINS.has(origin)) return true;
  return isOwnHost(access, hostNameOf(originHost(origin) ?? ''));
};

/** `host[:port]` of a web origin; undefined for `null` and anything else. */
const originHost = (origin: string): string | undefined => /^https?:\/\/([^/?#@\s]+)$/.exec(origin)?.[1];

/** Shown back to the caller: bounded. */
const short = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
