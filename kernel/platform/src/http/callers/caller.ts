/**
 * Who calls, and may they: admit → authenticate → authorize. Requests, socket upgrades and each message of a socket share it.
 *
 * I1  Fails closed: without anybody who can authenticate, only public rows answer.
 * I2  Every call is charged once, and before it is answered: with its row's cost, or with REFUSAL_COST where it came to no row.
 */
import type { IncomingMessage } from 'node:http';
import {
  type Actor,
  type Admission,
  type AtOnce,
  type HookDecl,
  type HttpAdmit,
  type HttpAuthenticate,
  type HttpAuthorize,
  type OwnHook,
  type RouteDecl,
  SvcError,
  type Verdict,
  whenKnown,
  actorFrom,
} from '@svc/api';
import type { Call } from '../call.js';
import { isLoopbackCaller } from './client-address.js';
import { httpErrors } from '../errors.js';
import type { Addressed, Row } from '../routes/route-table.js';

/** What a guessed path, a preflight and a refused upgrade take from the caller's rate limit. */
export const REFUSAL_COST = 1;
const NO_ROUTE = 'none';

/** What the adapters ask: most of its answers are there at once. */
export type CallerHook<H extends HookDecl> = Pick<OwnHook<H>, 'isEmpty' | 'atOnce'>;

export interface CallerHooks {
  readonly admit: CallerHook<typeof HttpAdmit>;
  readonly authenticate: CallerHook<typeof HttpAuthenticate>;
  readonly authorize: CallerHook<typeof HttpAuthorize>;
}

/** What of a row validates its callers. */
export type Guarded = Row<Addressed & { permission: string; callers?: RouteDecl['callers'] }>;

/** One for all of them, so nobody may change it. */
const PUBLIC: Actor = actorFrom({ id: 'public', role: 'public', ownerId: 'public' });

/** Whose call this is. Throws the refusal, or rejects with it where somebody had to wait. */
export const identify = (hooks: CallerHooks, row: Guarded, call: Call, req: IncomingMessage): AtOnce<Actor> =>
  whenKnown(charge(hooks, call, req, row.decl.id, row.decl.cost), () => identifyAgain(hooks, row, call, req));

/** The same for a caller that stays, and was charged before. */
export const identifyAgain = (hooks: CallerHooks, row: Guarded, call: Call, req: IncomingMessage): AtOnce<Actor> => {
  if (row.decl.auth === 'public') return PUBLIC;
  if (hooks.authenticate.isEmpty()) throw httpErrors.security_unavailable('nothing can identify callers.');
  const admission = admissionOf(call, req, row.decl.id, 0);
  const { callers } = row.decl;
  // Callers of the route alone come first.
  const known = callers ? whenKnown(callers(admission), (own) => own ?? hooks.authenticate.atOnce(admission)) : hooks.authenticate.atOnce(admission);
  return whenKnown(known, (actor) => authorized(hooks, row, call, actor));
};

const authorized = (hooks: CallerHooks, { decl }: Guarded, call: Call, actor: Actor | undefined): AtOnce<Actor> => {
  if (!actor) throw httpErrors.unauthorized().with({ headers: { 'www-authenticate': 'Bearer' } });
  call.actor = actor;
  if (hooks.authorize.isEmpty()) return actor;
  return whenKnown(hooks.authorize.atOnce({ actor, method: call.method, routeId: decl.id, permission: decl.permission }), (verdict) => {
    refuse(verdict);
    return actor;
  });
};

/** Takes the cost from the caller's rate limit. Throws or rejects when there is not so much left. */
export const charge = (hooks: Pick<CallerHooks, 'admit'>, call: Call, req: IncomingMessage, routeId = NO_ROUTE, cost = REFUSAL_COST): AtOnce<void> => {
  call.isCharged = true;
  return hooks.admit.isEmpty() ? undefined : whenKnown(hooks.admit.atOnce(admissionOf(call, req, routeId, cost)), refuse);
};

/** What to answer to a call that is refused: the refusal, or, when it is one too many, just that. Never rejects. */
export const chargedRefusal = async (hooks: Pick<CallerHooks, 'admit'>, call: Call, req: IncomingMessage, refusal: unknown): Promise<unknown> => {
  if (call.isCharged) return refusal;
  try {
    await charge(hooks, call, req);
    return refusal;
  } catch (tooMuch) {
    return tooMuch;
  }
};

const admissionOf = (call: Call, req: IncomingMessage, routeId: string, cost: number): Admission => ({
  ip: call.ip,
  network: call.network,
  method: call.method,
  path: call.path,
  routeId,
  cost,
  isLoopback: isLoopbackCaller(req),
  isSecure: call.isSecure,
  page: call.page,
  headers: call.headers,
});

/** Throws when the verdict denies. Nothing waits for a person here: a suspension is a refusal. */
export const refuse = (verdict: Verdict | undefined): void => {
  if (verdict) throw refusalOf(verdict);
};

export const refusalOf = (verdict: Verdict): SvcError => {
  if ('suspend' in verdict) return httpErrors.forbidden(verdict.suspend.reason);
  const plain = verdict.code === 'rate_limited' ? httpErrors.rate_limited(verdict.deny) : verdict.code === 'hook_failed' ? httpErrors.check_failed() : httpErrors.forbidden(verdict.deny);
  return new SvcError(verdict.code ?? plain.code, plain.message, { status: verdict.status ?? plain.status, retry: plain.retry, hint: plain.hint, headers: { ...verdict.headers } });
};
