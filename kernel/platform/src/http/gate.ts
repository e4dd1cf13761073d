/**
 * Whether work is taken at all, and what is answered where it is not.
 *
 * O1  While something that security needs is missing, nobody is served but by public rows.
 * O2  One way back stays: rows that repair (they switch areas on, they say what is wrong) answer an owner or admin, as long as
 *     an auth that is active says who that is and what they may do. Where even that is not so, the way is on the machine itself.
 */
import type { Actor } from '@svc/api';
import type { CallerHooks } from './caller.js';
import { httpErrors } from './errors.js';

export interface Gate {
  /** `closed`: something security needs is missing; only public rows answer. */
  readonly state: 'starting' | 'ready' | 'stopping' | 'closed';
  readonly reason?: string;
  /** While closed: whether auth, as far as it is active, can be believed. Not so while a setting is invalid that it may rest on. */
  readonly mayRepair?: boolean;
}

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

const shut = (gate: Gate): Error => httpErrors.security_unavailable(gate.reason ?? 'a security area is not active.');
