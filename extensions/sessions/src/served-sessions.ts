/** The service of this area: the conversations themselves, and what lists, deletion and the window of a model say of them. */
import type { HookHandle, OptionalHandle } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { LlmService } from '@svc/ext-llm/contract';
import type { Catalogue } from './catalogue/catalogue.js';
import type { Closing } from './closing/closing.js';
import { contextOf } from './context.js';
import type { SessionSent, SessionsService } from './contract.js';
import { infoOf, type Listing } from './listing.js';
import { SessionsOfAgent } from './routes/shapes.js';
import type { ConversationService } from './service.js';

interface ServedDeps {
  readonly sessions: ConversationService;
  readonly agents: AgentsService;
  readonly llm: OptionalHandle<LlmService>;
  readonly sent: HookHandle<typeof SessionSent>;
  readonly catalogue: Pick<Catalogue, 'catchUp'>;
  readonly closing: Closing;
  readonly listing: Listing;
}

export const servedSessions = ({ sessions, agents, llm, sent, catalogue, closing, listing }: ServedDeps): SessionsService => ({
  ...sessions,
  counts: async (actor, agentIds, since) => sessions.counts(actor, agentIds, since),
  wipe: closing.wipe,
  conversations: async (actor, agentId) => {
    await catalogue.catchUp(1);
    return sessions.conversations(actor, agentId);
  },
  remove: async (actor, agent, sessionId) => {
    const { id } = await sessions.named(actor, agent, sessionId);
    const keptUntil = await closing.remove(actor, { id, agentId: agent.id });
    return { sessionId: (await agents.get(actor, agent.id)).sessionId, keptUntil };
  },
  erase: async (actor, agent, sessionId) => {
    const { id } = await sessions.named(actor, agent, sessionId);
    await closing.erase(actor, { id, agentId: agent.id });
    return (await agents.get(actor, agent.id)).sessionId;
  },
  context: async (actor, agent, sessionId) => {
    const ref = await sessions.named(actor, agent, sessionId);
    return contextOf({ agents, llm, sent }, actor, agent, await sessions.project(actor, ref, { budgetTokens: Number.MAX_SAFE_INTEGER, aside: {} }));
  },
  describe: async (actor, agent, sessionId) => {
    await catalogue.catchUp(1);
    const [session, active] = await Promise.all([listing.one(actor, sessionId), listing.active(actor, agent.id)]);
    return session?.agentId === agent.id ? infoOf(session, agent.sessionId, active) : undefined;
  },
  recent: async (actor, agent, limit) => {
    await catalogue.catchUp(1);
    const [{ rows }, active] = await Promise.all([listing.page(actor, SessionsOfAgent, { limit }, agent.id), listing.active(actor, agent.id)]);
    return rows.map((session) => infoOf(session, agent.sessionId, active));
  },
});
