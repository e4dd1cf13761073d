/** Conversations of the people that a client speaks for: one for each, told apart by what the client calls them. */
import type { Actor, Clock, Db, Ids } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { compatErrors } from '../errors.js';
import { uuidOf } from './derived-ids.js';

/** Sessions an agent may have before a name that was never heard begins no further one. */
const MAX_SESSIONS = 10_000;
const MAX_LABEL_CHARS = 100;
const CLIENT_LABEL = 'API client';

export interface PeopleDeps {
  readonly sessions: SessionsService;
  readonly commit: Db['commit'];
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface People {
  /** The session of this person with this agent, begun if need be. It belongs to the caller. Throws `too_many_users`. */
  sessionOf(actor: Actor, agent: Agent, user: string): Promise<string>;
  /** The session of a client that names nobody: of the person whose key it has, with this agent. Not the one that the page and channels go on with. */
  ownSession(actor: Actor, agent: Agent): Promise<string>;
  freshSession(actor: Actor, agent: Agent, label: string): Promise<string>;
}

export const createPeople = (deps: PeopleDeps): People => ({
  sessionOf: (actor, agent, user) => begun(deps, actor, agent, uuidOf(['openai-compat.user', actor.ownerId, agent.id, user]), labelFor(user)),
  freshSession: (actor, agent, label) => begun(deps, actor, agent, deps.ids.uuid(), label),
  ownSession: (actor, agent) => begun(deps, actor, agent, uuidOf(['openai-compat.client', actor.id, agent.id]), CLIENT_LABEL),
});

async function begun({ sessions, commit, clock }: PeopleDeps, actor: Actor, agent: Agent, id: string, label: string): Promise<string> {
  if ((await sessions.agentOf(id)) !== undefined) return id;
  const { [agent.id]: count } = await sessions.counts(actor, [agent.id], clock.iso());
  if ((count?.all ?? 0) >= MAX_SESSIONS) throw compatErrors.too_many_users(agent.name, MAX_SESSIONS);
  // Two first messages at once begin one session: its id is the same.
  const { writes } = await sessions.create(actor, agent.id, { id, label });
  await commit(writes);
  return id;
}

/** As labels are written: what they have no letter for is a dash. */
const labelFor = (user: string): string => `user ${user.replaceAll(/[^A-Za-z0-9 _-]/g, '-').slice(0, MAX_LABEL_CHARS)}`;
