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

export interface Gate {
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

/** Throws where the gate is shut for everybody. */
export const assertOpen = (gate: Gate, hooks: CallerHooks, decl: Passing): void => {
  if (gate.state !== 'closed' || decl.auth === 'public') return;
  const canTell = gate.mayRepair === true && !hooks.authenticate.isEmpty() && !hooks.authorize.isEmpty();
  if (decl.repairs !== true || !canTell) throw shut(gate);
};

/** Throws where it is shut for this caller. */
export const assertMayPass = (gate: Gate, decl: Passing, actor: Actor): void => {
  if (gate.state === 'closed' && decl.auth !== 'public' && actor.role !== 'owner' && actor.role !== 'admin') throw shut(gate);
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

const shut = (gate: Gate): Error => httpErrors.security_unavailable(gate.reason ?? 'a security area is not active.');
