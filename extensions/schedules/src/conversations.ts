/** The conversation of a job: one that all jobs of an agent share, apart from people's, or a new one for each fire. */
import type { Actor, Db, Ids } from '@svc/api';
import { isSvcError } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { Job } from './jobs.js';

export interface JobConversations {
  /** Id of the session that this fire speaks in; the same one when it is asked again. */
  of(actor: Actor, job: Job, agent: Agent, fireId: string): Promise<string>;
}

export interface ConversationDeps {
  readonly db: Db;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly sessions: Pick<SessionsService, 'create' | 'context' | 'get'>;
  /** 0: no limit. */
  limits(): { readonly messages: number; readonly tokens: number };
}

const LABEL = 'cron';

export const createConversations = (deps: ConversationDeps): JobConversations => ({
  of: async (actor, job, agent, fireId) => {
    if (job.session_mode === 'new') return begin(deps, actor, agent.id, fireId, job.name);
    const stored = await deps.db.as(actor).first<{ session_id: string }>({ from: 'cron_sessions', where: { agent_id: agent.id } });
    if (stored && (await isUsable(deps, actor, agent, stored.session_id))) return stored.session_id;
    const id = await begin(deps, actor, agent.id, deps.ids.uuid(), LABEL);
    await deps.db.commit([deps.db.upsert('cron_sessions', ['agent_id'], [{ agent_id: agent.id, owner_id: agent.ownerId, session_id: id }])]);
    return id;
  },
});

const begin = async ({ db, sessions }: ConversationDeps, actor: Actor, agentId: string, id: string, label: string): Promise<string> => {
  const { writes } = await sessions.create(actor, agentId, { id, label });
  await db.commit(writes).catch((error: unknown) => {
    // It was made before the daemon died.
    if (!(isSvcError(error) && error.code === 'storage_conflict')) throw error;
  });
  return id;
};

/** It is there, and within the limits. */
const isUsable = async ({ sessions, limits }: ConversationDeps, actor: Actor, { id, sessionId }: Agent, session: string): Promise<boolean> => {
  const { messages, tokens } = limits();
  const ref = await sessions.get(actor, session).catch((error: unknown) => {
    if (isSvcError(error) && error.status === 404) return undefined;
    throw error;
  });
  if (!ref || (messages > 0 && ref.seq >= messages)) return false;
  return tokens === 0 || (await sessions.context(actor, { id, sessionId }, session)).usedTokens < tokens;
};
