/**
 * Sessions that calls of models are made with.
 *
 * E1  A session is used until five minutes before it ends, and opened once by however many calls wait for it.
 * E2  It stands in memory alone, and is forgotten when the provider's key changes.
 */
import type { Clock, SecretRef } from '@svc/api';
import { EDITOR_HEADERS, type LoginServer, type Session } from './server.js';

const EARLY_MS = 300_000;
/** Keys of one provider; more than a pool can have. */
const MAX_SESSIONS = 50;

export const createSessions = (server: Pick<LoginServer, 'session'>, clock: Pick<Clock, 'now'>) => {
  const sessions = new Map<string, Promise<Session>>();
  const opened = (ref: SecretRef): Promise<Session> => {
    const key = `${ref.secret} ${ref.env ?? ''}`;
    const next = server.session(ref, clock.now());
    if (sessions.size >= MAX_SESSIONS) sessions.clear();
    sessions.set(key, next);
    next.catch(() => {
      if (sessions.get(key) === next) sessions.delete(key);
    });
    return next;
  };
  return {
    open: async (ref: SecretRef): Promise<Record<string, string>> => {
      const before = sessions.get(`${ref.secret} ${ref.env ?? ''}`);
      const known = await before;
      const { token } = known && known.expiresAtMs - EARLY_MS > clock.now() ? known : await newer(ref, before);
      return { ...EDITOR_HEADERS, authorization: `Bearer ${token}` };
    },
    forget: (): void => sessions.clear(),
  };

  /** The one that another caller opened in the meantime, else a new one. */
  function newer(ref: SecretRef, before: Promise<Session> | undefined): Promise<Session> {
    const now = sessions.get(`${ref.secret} ${ref.env ?? ''}`);
    return now !== undefined && now !== before ? now : opened(ref);
  }
};
