/**
 * The cookie of a login.
 *
 * K1  No script reads it (HttpOnly), and no other site's page makes a browser send it (SameSite=Strict): the page of the
 *     daemon holds no data, so that nobody misses the cookie where a link elsewhere leads to it; its calls are its own.
 * K2  Over https its name begins with `__Host-`: a browser then takes it from this host alone, and only with Secure.
 * K3  Browsers send a cookie to every port of a host. The port in its name keeps two daemons of one machine from logging
 *     each other out.
 * K4  A key beside it wins: where a header brings one, good or bad, the cookie is not looked at.
 */
import type { Admission } from '@svc/api';

/** 256 bits in base64url. */
const LOGIN_ID = /^[A-Za-z0-9_-]{43}$/;
const PORT = /:(\d{1,5})$/;

type Sent = Pick<Admission, 'headers' | 'isSecure'>;

/** The port is the one that the browser knows, which is not the daemon's own behind a proxy. */
export const cookieName = ({ headers, isSecure }: Sent): string => {
  const port = PORT.exec(headers.host ?? '')?.[1];
  return `${isSecure ? '__Host-' : ''}svc_session${port === undefined ? '' : `_${port}`}`;
};

/** The login that this request brings, if it can be one. */
export const sentLogin = (request: Sent): string | undefined => {
  const { cookie, authorization, 'x-api-key': key } = request.headers;
  if (cookie === undefined || authorization !== undefined || key !== undefined) return undefined;
  const start = `${cookieName(request)}=`;
  const found = cookie
    .split(';')
    .map((one) => one.trim())
    .find((one) => one.startsWith(start));
  const id = found?.slice(start.length);
  return id !== undefined && LOGIN_ID.test(id) ? id : undefined;
};

/** The header that gives the cookie to a browser. */
export const givenCookie = (request: Sent, id: string, forMs: number): { 'set-cookie': string } => ({
  'set-cookie': [`${cookieName(request)}=${id}`, 'Path=/', `Max-Age=${Math.max(0, Math.ceil(forMs / 1_000))}`, 'HttpOnly', 'SameSite=Strict', ...(request.isSecure ? ['Secure'] : [])].join('; '),
});

export const takenCookie = (request: Sent): { 'set-cookie': string } => givenCookie(request, '', 0);
