/** What can be read off a request before anybody has validated it. */
import type { IncomingMessage } from 'node:http';
import type { Actor, Admission } from '@svc/api';
import type { SendingPage } from '@svc/api/internal';
import { networkOf } from '../adapters/ip-range.js';
import { type Access, sendingPage } from './callers/access.js';
import { cameOverHttps, clientAddress } from './callers/client-address.js';

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly ip: string;
  /** By what callers are counted: an IPv4 address, or the /64 around an IPv6 one. */
  readonly network: string;
  readonly headers: Admission['headers'];
  readonly isSecure: boolean;
  readonly page: SendingPage;
  /** Whether the rate limit has been asked for it. */
  isCharged: boolean;
  /** Once somebody has said who it is. */
  actor: Actor | undefined;
  /** Whether the audit trail has its outcome. */
  isAudited: boolean;
}

/** HEAD is answered as GET. */
export const callOf = (req: IncomingMessage, access: Access, headers: Call['headers'] = headersSeen(req)): Call => {
  const trusted = access.trustedProxies?.() ?? [];
  const ip = clientAddress(req, trusted);
  const isSecure = cameOverHttps(req, trusted);
  return {
    method: req.method === 'HEAD' ? 'GET' : (req.method ?? 'GET'),
    ...splitTarget(req.url ?? '/'),
    ip,
    network: networkOf(ip),
    headers,
    isSecure,
    page: sendingPage(access, req.headers, isSecure),
    isCharged: false,
    actor: undefined,
    isAudited: false,
  };
};

/** The headers, by lower-case name. Those that node gives as lists are joined. */
export const headersSeen = (req: IncomingMessage): Call['headers'] => req.headers as Call['headers']; // only set-cookie is a list, and no request carries it

/** Path and query of a request's target. `/api/v1/x` is another name of `/api/x`. */
export const splitTarget = (url: string): { path: string; query: string } => {
  const target = url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/]*/i, '') || '/';
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return { path: path.startsWith('/api/v1/') ? `/api${path.slice(7)}` : path, query: mark < 0 ? '' : target.slice(mark + 1) };
};
