/** Whose a request is: by the key that it brings, the token of a provider, or the cookie of a login. */
import type { Actor, Admission } from '@svc/api';
import { looksLikeJwt } from './bearer.js';
import type { Credentials } from './credentials.js';
import { authErrors, WWW_AUTHENTICATE } from './errors.js';
import { type Keyring, OWNER } from './keyring.js';
import type { Attempts } from './logins/attempts.js';
import { callerByLogin } from './logins/caller-by-login.js';
import type { Logins } from './logins/logins.js';
import type { Revocations } from './revocations.js';

export interface CallersDeps {
  readonly keyring: () => Keyring;
  readonly credentials: Credentials;
  readonly revocations: Revocations;
  readonly logins: Logins;
  readonly attempts: Attempts;
  /** Somebody called with a key of the settings. */
  readonly saw: (actor: Actor) => void;
  readonly bearer: (token: string) => Promise<Actor | undefined>;
  readonly presentedKey: (request: Pick<Admission, 'headers'>) => string | undefined;
}

/** Throws where it is nobody's. Answers at once for whoever is known. */
export const createCallers = ({ attempts, bearer, credentials, keyring, logins, presentedKey, revocations, saw }: CallersDeps) => {
  /** The headers of calls that came while there was no key: of one that stays they are the same object for as long as it lives. */
  const welcomed = new WeakSet<object>();
  const refused = (request: Admission, key: string): never => {
    attempts.failed(request.network);
    throw (keyring().isOfDisabled(key) ? authErrors.person_disabled() : authErrors.key_invalid()).with({ headers: WWW_AUTHENTICATE });
  };
  const seen = (actor: Actor): Actor => {
    const credential = actor.id === OWNER.id ? undefined : keyring().issuedBy(actor);
    if (credential) credentials.sawIfIssued(credential.id);
    else saw(actor);
    return actor;
  };
  const authenticate = (request: Admission): Promise<Actor> | Actor => {
    if (keyring().isOpen) {
      welcomed.add(request.headers);
      return OWNER;
    }
    const key = presentedKey(request);
    // A stream or socket of before: it stays when the daemon makes a key by itself (U3).
    if (key === undefined && keyring().isOwnerKeyUsed && welcomed.has(request.headers)) return OWNER;
    if (key === undefined) return callerByLogin(logins, request);
    const actor = keyring().find(key);
    if (actor) return seen(actor);
    if (looksLikeJwt(key)) return bearer(key).then((caller) => caller ?? refused(request, key));
    return credentials.learn(key).then(() => seen(keyring().find(key) ?? refused(request, key)));
  };
  /** Undefined once it is known what opens this daemon. Keys of the settings do not wait for what areas issued, once it was read. */
  const reading = (request: Admission): Promise<void> | undefined => {
    const first = revocations.reading();
    if (first) return first.then(() => credentials.reading());
    const issued = credentials.reading();
    if (!issued) return undefined;
    const key = presentedKey(request);
    return key !== undefined && credentials.wasRead() && keyring().isOfSettings(key) ? undefined : issued;
  };
  return (request: Admission): Promise<Actor> | Actor => reading(request)?.then(() => authenticate(request)) ?? authenticate(request);
};
