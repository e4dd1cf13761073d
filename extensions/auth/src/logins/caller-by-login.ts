/**
 * Whose a request is that brings no key, but a login.
 *
 * C1  A browser sends the cookie along without the page's doing. So what may change something, and every WebSocket,
 *     must say that it comes from a page of this service: SameSite alone lets in what runs on other ports of the host.
 */
import type { Actor, Admission } from '@svc/api';
import { authErrors, WWW_AUTHENTICATE } from '../errors.js';
import { sentLogin } from './cookie.js';
import type { Login, Logins } from './logins.js';

/** Throws where it is nobody's. Answers at once for a login that was seen a moment ago. */
export const callerByLogin = (logins: Pick<Logins, 'find'>, request: Admission): Actor | Promise<Actor> => {
  const id = sentLogin(request);
  if (id === undefined) throw authErrors.key_missing().with({ headers: WWW_AUTHENTICATE });
  if (request.method !== 'GET' || request.headers.upgrade !== undefined) assertOwnPage(request);
  const found = logins.find(id);
  return found instanceof Promise ? found.then(actorOf) : actorOf(found);
};

/** Throws for what neither a page of this service nor one that `cors_origins` names has sent. */
export const assertOwnPage = ({ page }: Pick<Admission, 'page'>): void => {
  if (page !== 'own' && page !== 'named') throw authErrors.foreign_page();
};

const actorOf = (login: Login | undefined): Actor => {
  if (!login) throw authErrors.login_over().with({ headers: WWW_AUTHENTICATE });
  return login.actor;
};
