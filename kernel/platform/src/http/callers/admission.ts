/**
 * Whether work is taken at all, and what is answered where it is not.
 *
 * O1  While something that security needs is missing, nobody is served but by public rows.
 * O2  One way back stays: rows that repair (they switch areas on, they say what is wrong) answer an owner or admin, as long as
 *     an auth that is active says who that is and what they may do. Where even that is not so, the way is on the machine itself.
 * O3  While the rate limit is off as well, wrong keys are counted here: after so many, by whomever, nobody may try until the minute is over.
 */
import { type Actor, type Clock, isSvcError } from '@svc/api';
import type { CallerHooks } from './caller.js';
import { httpErrors } from '../errors.js';

export interface Admission {
  /** `closed`: something security needs is missing; only public rows answer. */
  readonly state: 'starting' | 'ready' | 'stopping' | 'closed';
  readonly reason?: string;
  /** While closed: whether auth, as far as it is active, can be believed. Not so while a setting is invalid that it may rest on. */
  readonly mayRepair?: boolean;
}

const MOST_WRONG_KEYS = 20;
const WINDOW_MS = 60_000;

interface Passing {
  readonly auth: string;
  readonly repairs?: boolean;
}

/** Throws where admission is shut for everybody. */
export const assertOpen = (admission: Admission, hooks: CallerHooks, decl: Passing): void => {
  if (admission.state !== 'closed' || decl.auth === 'public') return;
  const canKnow = admission.mayRepair === true && !hooks.authenticate.isEmpty() && !hooks.authorize.isEmpty();
  if (decl.repairs !== true || !canKnow) throw shut(admission);
};

/** Throws where it is shut for this caller. */
export const assertMayPass = (admission: Admission, decl: Passing, actor: Actor): void => {
  if (admission.state === 'closed' && decl.auth !== 'public' && actor.role !== 'owner' && actor.role !== 'admin') throw shut(admission);
};

/** O3. */
export interface WrongKeys {
  /** Throws `rate_limited` when there were too many. */
  assertFew(): void;
  note(refusal: unknown): void;
}

export const createWrongKeys = (clock: Pick<Clock, 'mono'>): WrongKeys => {
  let sinceMs = Number.NEGATIVE_INFINITY;
  let wrong = 0;
  return {
    assertFew: () => {
      if (clock.mono() - sinceMs >= WINDOW_MS) wrong = 0;
      if (wrong < MOST_WRONG_KEYS) return;
      const seconds = Math.ceil((sinceMs + WINDOW_MS - clock.mono()) / 1_000);
      throw httpErrors.rate_limited('Too many wrong keys while the rate limit is off.').with({ headers: { 'retry-after': String(seconds) } });
    },
    note: (refusal) => {
      if (!isSvcError(refusal) || refusal.status !== 401) return;
      if (wrong === 0) sinceMs = clock.mono();
      wrong += 1;
    },
  };
};

const shut = (admission: Admission): Error => httpErrors.security_unavailable(admission.reason ?? 'a security area is not active.');
