/**
 * What the audit trail hears of requests.
 *
 * A1  A route with an `audit` mark leaves an entry when it succeeds, with its route parameters and none of its body.
 * A2  Where the settings require it, the call is entered before its handler runs, and does not happen when that fails.
 *     Its outcome is entered as well, whatever it is.
 * A3  A caller without a valid key or without the permission is entered, too; a row of the same refusals as one entry.
 */
import { type Actor, type AtOnce, type AuditCategory, type AuditFact, isSvcError, type Reply, type RouteDecl, actorFrom, type AuditNote } from '@svc/api';
import { httpErrors } from './errors.js';
import type { Call } from './call.js';
import type { HandlerRequest } from './request.js';

export interface HttpAudit {
  /** Whether there is anybody who keeps the trail. */
  isOn(): boolean;
  isRequired(category: AuditCategory | undefined): boolean;
  /** Resolves when the entry is committed. */
  commit(note: AuditNote): Promise<void>;
  /** The same for one that the call does not depend on: a failure is counted and shown. Never rejects. */
  note(note: AuditNote): Promise<void>;
  /** A refusal, by what is the same of such refusals: within a minute those that follow the first are counted, and entered together. */
  refusal(key: string, note: AuditNote): void;
}

type Marked = Pick<RouteDecl, 'id' | 'audit' | 'auditCategory' | 'permission'>;
/** A route, or a socket, which has no mark. */
type Refused = Pick<Marked, 'id' | 'permission'> & Partial<Pick<Marked, 'audit'>>;
type Asked = Pick<HandlerRequest, 'id' | 'actor' | 'params' | 'query' | 'ip' | 'call'>;

const NOBODY: Actor = actorFrom({ id: 'public', role: 'public', ownerId: 'public' });
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

export const audited = (audit: HttpAudit | undefined, decl: Marked, request: Asked, handle: () => AtOnce<Reply>): AtOnce<Reply> =>
  decl.audit === undefined || !audit?.isOn() ? handle() : enteredCall(audit, decl, decl.audit, request, handle);

async function enteredCall(audit: HttpAudit, decl: Marked, type: string, request: Asked, handle: () => AtOnce<Reply>): Promise<Reply> {
  const note = (outcome: AuditFact['outcome'], more: AuditFact['details'] = {}, agentId?: string): AuditNote => noteOf(decl, type, request, outcome, more, agentId);
  const isRequired = audit.isRequired(decl.auditCategory);
  if (isRequired) await before(audit, note('requested'));
  try {
    const reply = await handle();
    const status = 'status' in reply ? reply.status : 200;
    const outcome = status < 400 ? note('ok', { status }, agentOf(reply)) : isRequired ? note('failed', { status }) : undefined;
    const entered = outcome && audit.note(outcome);
    // An act that no entry is required of does not wait for the database: it may be one that frees it.
    if (isRequired) await entered;
    return reply;
  } catch (error) {
    if (isRequired) {
      request.call.isAudited = true;
      await audit.note(note(isRefusal(error) ? 'refused' : 'failed', isSvcError(error) ? { status: error.status, code: error.code } : { status: 500 }));
    }
    throw error;
  }
}

async function before(audit: HttpAudit, note: AuditNote): Promise<void> {
  try {
    await audit.commit(note);
  } catch (cause) {
    throw httpErrors.audit_unavailable().with({ cause });
  }
}

/** A3. Whoever brought no key at all is not entered: a page asks so before its person has logged in. */
export const auditRefusal = (audit: HttpAudit | undefined, decl: Refused, call: Call, requestId: string, status: number): void => {
  if ((status !== UNAUTHORIZED && status !== FORBIDDEN) || call.isAudited || !audit?.isOn()) return;
  const hasKey = call.headers.authorization !== undefined || call.headers.cookie !== undefined;
  if (status === UNAUTHORIZED && !hasKey && decl.audit === undefined) return;
  const actor = call.actor ?? NOBODY;
  const type = status === UNAUTHORIZED ? 'authentication_refused' : 'permission_denied';
  audit.refusal([type, decl.id, actor.id, call.network].join(' '), {
    type,
    actor,
    outcome: 'refused',
    requestId,
    details: { operation: decl.id, permission: decl.permission, status },
    personal: { ip: call.ip },
  });
};

const noteOf = (decl: Marked, type: string, { id, actor, params, query, ip, call }: Asked, outcome: AuditFact['outcome'], more: AuditFact['details'], agentId?: string): AuditNote => {
  const given = params as Readonly<Record<string, unknown>>; // an object, whatever the route declares of it
  const facts = (isWanted: (name: string, value: unknown) => boolean): Record<string, string> =>
    Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (isWanted(name, value) ? [[name, String(value).slice(0, MAX_TEXT)]] : [])));
  const details = { operation: decl.id, ...more, ...facts(isPlain) };
  const personal = { ip, ...facts((name, value) => !isPlain(name, value)) };
  return { type, actor, outcome, requestId: id, agentId: agentId ?? agentIn(call.path, { ...(query as Readonly<Record<string, unknown>>), ...given }), details, personal };
};

const MAX_TEXT = 500;
const ID = /^(?:.*_)?(?:id|name|key|provider|action)$/;
const WORD = /^[\w.:@/-]{1,100}$/;
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;

/** Ids and names of things; paths and everything else may name people, and can be erased. */
const isPlain = (name: string, value: unknown): boolean => typeof value === 'string' && (UUID.test(value) || (ID.test(name) && WORD.test(value) && !value.includes('@')));

const agentIn = (path: string, { agent_id: agentId, id }: Record<string, unknown>): string => {
  const found = agentId ?? (path.startsWith('/api/agents/') ? id : undefined);
  return typeof found === 'string' && UUID.test(found) ? found : '';
};

/** Of what was made: the agent's id is in the answer. */
const agentOf = (reply: Reply): string | undefined => {
  const body = reply.kind === 'json' ? reply.body : undefined;
  const id = typeof body === 'object' && body !== null && 'agent_id' in body ? body.agent_id : undefined;
  return typeof id === 'string' && UUID.test(id) ? id : undefined;
};

const isRefusal = (error: unknown): boolean => isSvcError(error) && [UNAUTHORIZED, FORBIDDEN, 429].includes(error.status);
