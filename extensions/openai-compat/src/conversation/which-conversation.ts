/**
 * Which conversation a request belongs to.
 *
 * W1  Said by the model's id or a header; both may say it, if they say the same. A conversation and none at once is refused.
 * W2  A conversation that is named is there, is the agent's and the caller's to see. Nothing is begun by a slip in its name.
 * W3  Else whoever `user` names has one of their own, the same each time, begun with their first message. Who names nobody has one as
 *     well: of the person whose key it is. The agent's current session, which the page goes on with, is never written to unasked.
 * W4  Messages of one conversation take turns. A stateless request has none, and waits for nobody.
 */
import { type Actor, isUuid, textForm } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { compatErrors } from '../errors.js';
import type { Named } from './model-ids.js';
import type { People } from './people.js';

type Headers = Readonly<Record<string, string | undefined>>;

const SESSION = 'x-svc-session';

/** W1. Throws `session_conflict`, `bad_header`. */
export function isStateless(named: Named, headers: Headers): boolean {
  const says = saysStateless(headers['x-svc-stateless']);
  if (named.isStateless !== true && !says) return false;
  if (headers[SESSION] !== undefined || named.session !== undefined) throw compatErrors.session_conflict('a session and stateless: remove one of the two');
  return true;
}

/** Of a request that is not stateless. */
export async function sessionOf(deps: { sessions: SessionsService; people: People }, actor: Actor, named: Named, headers: Headers, user: string | null | undefined): Promise<string> {
  const header = headers[SESSION];
  if (header === '') throw compatErrors.bad_header('X-Svc-Session', 'the id or label of a session');
  const ids = await Promise.all([named.session, header].map((name) => (name === undefined ? undefined : sessionNamed(deps.sessions, actor, named.agent, name))));
  const [byModel, byHeader] = ids;
  if (byModel !== undefined && byHeader !== undefined && byModel !== byHeader) throw compatErrors.session_conflict('two sessions, one by its model id and one by X-Svc-Session');
  return byModel ?? byHeader ?? (user ? deps.people.sessionOf(actor, named.agent, user) : deps.people.ownSession(actor, named.agent));
}

/** Of the header X-Svc-Stateless. */
export const STATELESS = textForm('^(?:0|1|false|true)$');

const saysStateless = (value = '0'): boolean => {
  if (!STATELESS.fits(value)) throw compatErrors.bad_header('X-Svc-Stateless', '1 or 0');
  return value === '1' || value === 'true';
};

/** W2. Throws `sessions_session_not_found`, `session_not_found`, `session_ambiguous`. */
export async function sessionNamed(sessions: SessionsService, actor: Actor, agent: Agent, name: string): Promise<string> {
  if (isUuid(name)) return (await sessions.named(actor, agent, name.toLowerCase())).id;
  const [found, another] = await sessions.labelled(actor, agent.id, name);
  if (!found) throw compatErrors.session_not_found(name);
  if (another) throw compatErrors.session_ambiguous(name);
  return found.id;
}
