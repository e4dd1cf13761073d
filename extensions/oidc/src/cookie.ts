/**
 * The cookie that ties a sign-in to the browser that began it.
 *
 * B1  No script reads it. A link back from the provider brings it along (SameSite=Lax); a form of the provider does too, over https alone (None and Secure).
 * B2  It opens nothing: without a state that was made for it, it is worthless.
 */
import type { Req } from '@svc/api';

const PORT = /:(\d{1,5})$/;
const VALUE = /^[A-Za-z0-9_-]{43}$/;

type Sent = Pick<Req, 'headers' | 'isSecure'>;

/** The port in its name keeps two daemons of one machine apart, as with the cookie of a login. */
const nameOf = ({ headers, isSecure }: Sent): string => {
  const port = PORT.exec(headers.host ?? '')?.[1];
  return `${isSecure ? '__Host-' : ''}svc_oidc${port === undefined ? '' : `_${port}`}`;
};

export const sentBrowser = (request: Sent): string | undefined => {
  const start = `${nameOf(request)}=`;
  const found = (request.headers.cookie ?? '')
    .split(';')
    .map((one) => one.trim())
    .find((one) => one.startsWith(start))
    ?.slice(start.length);
  return found !== undefined && VALUE.test(found) ? found : undefined;
};

export const givenBrowser = (request: Sent, value: string, { forMs, isForm }: { readonly forMs: number; readonly isForm: boolean }): string =>
  [`${nameOf(request)}=${value}`, 'Path=/', `Max-Age=${Math.ceil(forMs / 1_000)}`, 'HttpOnly', `SameSite=${isForm ? 'None' : 'Lax'}`, ...(request.isSecure ? ['Secure'] : [])].join('; ');
