/**
 * Who calls, and may they: admit → authenticate → authorize. Requests, socket upgrades and each message of a socket share it.
 *
 * I1  Fails closed: without anybody who can authenticate, only public rows answer.
 * I2  Every call is charged once, and before it is answered: with its row's cost, or with REFUSAL_COST where it came to no row.
 */
import type { IncomingMessage } from 'node:http';
import { type Actor, type Admission, type HookHandle, type HttpAdmit, type HttpAuthenticate, type HttpAuthorize, SvcError, type Verdict } from '@svc/api';
import type { Call } from '../call.js';
import { isLoopbackCaller } from './client-address.js';
import { httpErrors } from '../errors.js';
import type { Addressed, Row } from '../routes/route-table.js';

/** What a guessed path, a preflight and a refused upgrade take from the caller's rate limit. */
export const REFUSAL_COST = 1;
const NO_ROUTE = 'none';

export interface CallerHooks {
  readonly admit: HookHandle<typeof HttpAdmit>;
  readonly authenticate: HookHandle<typeof HttpAuthenticate>;
  readonly authorize: HookHandle<typeof HttpAuthorize>;
}

/** What of a row judges its callers. */
export type Guarded = Row<Addressed & { permission: string }>;

/** One for all of them, so nobody may change it. */
const PUBLIC: Actor = Object.freeze({ id: 'public', role: 'public', ownerId: 'public' });

/** Whose call this is. Throws the refusal. */
export const identify = async (hooks: CallerHooks, row: Guarded, call: Call, req: IncomingMessage): Promise<Actor> => {
  await charge(hooks, call, req, row.decl.id, row.decl.cost);
  return identifyAgain(hooks, row, call, req);
};

/** The same for a caller that stays, and was charged before. */
export const identifyAgain = async (hooks: CallerHooks, { decl }: Guarded, call: Call, req: IncomingMessage): Promise<Actor> => {
  if (decl.auth === 'public') return PUBLIC;
  if (hooks.authenticate.isEmpty()) throw httpErrors.security_unavailable('nothing can tell who calls.');
  const actor = await hooks.authenticate.call(admissionOf(call, req, decl.id, 0));
  if (!actor) throw httpErrors.unauthorized().with({ headers: { 'www-authenticate': 'Bearer' } });
  if (!hooks.authorize.isEmpty()) refuse(await hooks.authorize.call({ actor, method: call.method, routeId: decl.id, permission: decl.permission }));
  return actor;
};

/** Takes the cost from the caller's rate limit. Throws when there is not so much left. */
export const charge = (hooks: Pick<CallerHooks, 'admit'>, call: Call, req: IncomingMessage, routeId = NO_ROUTE, cost = REFUSAL_COST): Promise<void> => {
  call.isCharged = true;
  return hooks.admit.isEmpty() ? Promise.resolve() : hooks.admit.call(admissionOf(call, req, routeId, cost)).then(refuse);
};

/** What to answer to a call that is refused: the refusal, or, when it is one too many, just that. Never rejects. */
export const chargedRefusal = async (hooks: Pick<CallerHooks, 'admit'>, call: Call, req: IncomingMessage, refusal: unknown): Promise<unknown> => {
  if (call.isCharged) return refusal;
  return charge(hooks, call, req).then(
    () => refusal,
    (tooMuch: unknown) => tooMuch,
  );
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
