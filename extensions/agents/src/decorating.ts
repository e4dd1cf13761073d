/**
 * What other areas do for agents, as hooks: agents stands below them and knows none of them.
 *
 * D1  One call is for a whole list: an area answers its columns for all agents of it.
 * D2  A column that nobody answers is unknown, and is shown as null. A tap that fails fails the call: no column is guessed.
 */
import { Actor, Nullable, type Plain, Type, defineAsk, defineGather } from '@svc/api';

const BUDGET_MS = 10_000;
/** Ending runs waits for those who hold them. */
const HALT_BUDGET_MS = 60_000;

const Choice = Type.Object({ provider: Type.String(), model: Type.String() });
const AgentId = Type.String();

/** Each by agent id. */
const Columns = Type.Object({
  canThink: Type.Optional(Type.Record(AgentId, Nullable(Type.Boolean()), { description: 'Whether its model supports thinking; null if its provider is unknown' })),
  spentMicros: Type.Optional(Type.Record(AgentId, Type.Number(), { description: 'Micro-dollars of its model calls; an agent that is left out has spent nothing' })),
  sessions: Type.Optional(
    Type.Record(AgentId, Type.Object({ all: Type.Integer(), recent: Type.Integer() }), { description: 'Sessions with at least one message; an agent that is left out has none' }),
  ),
});

/** What an area knows of the agents that a list shows. */
export const AgentColumns = defineGather('agent.columns', '1.0.0', {
  policy: 'closed',
  budgetMs: BUDGET_MS,
  subject: Type.Object({
    actor: Actor,
    agents: Type.Array(Type.Object({ id: AgentId, ...Choice.properties }), { description: 'With the model that each answers with' }),
    since: Type.String({ description: 'ISO time: what `spentMicros` and `sessions.recent` count from' }),
  }),
  answer: Columns,
});
export type AgentColumns = Plain<typeof Columns>;

/** The provider and model that answer for a choice: `default`, aliases and prefixes resolved. A tap throws where the model cannot be asked. */
export const ResolveModel = defineAsk('agent.model', '1.0.0', { policy: 'closed', budgetMs: BUDGET_MS, subject: Choice, answer: Choice });

/** An agent is being suspended: whatever works for it is stopped. Each tap answers how many runs it stopped. */
export const AgentHalt = defineGather('agent.halt', '1.0.0', {
  policy: 'closed',
  budgetMs: HALT_BUDGET_MS,
  subject: Type.Object({ actor: Actor, agentId: AgentId, why: Type.String() }),
  answer: Type.Integer(),
});
