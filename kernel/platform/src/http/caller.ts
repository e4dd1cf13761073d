/**
 * Who calls, and may they: admit → authenticate → authorize. Requests and socket upgrades share it.
 * Fails closed: without anybody who can authenticate, only public rows answer.
 */
import type { IncomingMessage } from 'node:http';
import { type Actor, type Admission, type HookHandle, type HookMap, SvcError, type Verdict } from '@svc/api';
import { isLoopbackCaller } from './client-address.js';
import { httpErrors } from './errors.js';
import type { Addressed, Row } from './route-table.js';

export interface CallerHooks {
  readonly admit: HookHandle<HookMap['http.admit']>;
  readonly authenticate: HookHandle<HookMap['http.authenticate']>;
  readonly authorize: HookHandle<HookMap['http.authorize']>;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly ip: string;
  readonly headers: Admission['headers'];
}

const PUBLIC: Actor = { id: 'public', role: 'public', ownerId: 'public' };

/** Whose call this is. Throws the refusal. */
export const identify = async (hooks: CallerHooks, row: Row<Addressed & { permission: string }>, call: Call, req: IncomingMessage): Promise<Actor> => {
  const { decl } = row;
  const isPublic = decl.auth === 'public';
  if (!isPublic && hooks.authenticate.isEmpty()) throw httpErrors.security_unavailable('nothing can tell who calls.');
  const admission = isPublic && hooks.admit.isEmpty() ? undefined : admissionOf(row, call, req, decl.cost);
  if (admission && !hooks.admit.isEmpty()) refuse(await hooks.admit.call(admission));
  if (isPublic || !admission) return PUBLIC;
  const actor = await hooks.authenticate.call(admission);
  if (!actor) throw httpErrors.unauthorized().with({ headers: { 'www-authenticate': 'Bearer' } });
  if (!hooks.authorize.isEmpty()) refuse(await hooks.authorize.call({ actor, method: call.method, routeId: decl.id, permission: decl.permission }));
  return actor;
};

export const admissionOf = (row: Row<Addressed>, call: Call, req: IncomingMessage, cost: number): Admission => ({
  ip: call.ip,
  method: call.method,
  path: call.path,
  routeId: row.decl.id,
  cost,
  isLoopback: isLoopbackCaller(req),
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
