/** Routes that keep their answer under the caller's `Idempotency-Key`, in the commit that caused it (the journal's receipts). */
import { createHash } from 'node:crypto';
import { type AtOnce, type Journal, REQUEST_KEY, type Reply, type RouteDecl } from '@svc/api';
import { httpErrors } from './errors.js';
import type { HandlerRequest } from './request.js';

export const RECEIPTS_KIND = 'http.request';

/** Answers from the receipt of an earlier request, or runs the handler, which may leave one. */
export type Once = Journal['once'];

/** With `verify` a handler that kept no receipt of a success fails: its next caller would do it again. */
export const answerOnce = (once: Once | undefined, decl: RouteDecl, request: HandlerRequest, verify: boolean, handle: () => AtOnce<Reply>): AtOnce<Reply> => {
  const key = request.headers['idempotency-key'];
  return decl.idempotent !== true || key === undefined || !once ? handle() : answerByKey(once, key, decl, request, verify, handle);
};

const answerByKey = async (once: Once, key: string, decl: RouteDecl, request: HandlerRequest, verify: boolean, handle: () => AtOnce<Reply>): Promise<Reply> => {
  if (!REQUEST_KEY.fits(key)) throw httpErrors.bad_idempotency_key();
  const asked = { actor: request.actor, kind: RECEIPTS_KIND, key: `${decl.id} ${key}`, fingerprint: fingerprintOf(request) };
  const { result, replayed } = await once<Reply>(asked, async (receipt) => {
    request.receipts = receipt;
    return handle();
  });
  if (verify && !replayed && isSuccess(result)) await once(asked, () => Promise.reject(new Error(`${decl.id} is idempotent, and its handler did not commit request.receipt(answer) with its effect`)));
  return replayed ? { ...result, headers: { ...result.headers, 'idempotency-replayed': 'true' } } : result;
};

const isSuccess = (reply: Reply): boolean => reply.kind === 'json' && reply.status < 400;

const fingerprintOf = ({ method, path, body }: HandlerRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([method, path, body ?? null]))
    .digest('hex');
