/** What sessions asks of whoever works in them, as hooks: sessions stands below runs and does not know it. */
import { Actor, type Plain, Type, defineAsk, defineGather, defineStep } from '@svc/api';
import { ModelMessage } from '@svc/ext-llm/contract';

const BUDGET_MS = 10_000;
/** Each run that is stopped is waited for. */
const CLOSE_BUDGET_MS = 60_000;

const Going = Type.Array(Type.Object({ runId: Type.String(), sessionId: Type.String() }));
export type GoingOn = Plain<typeof Going>;

/** Which runs go on, wait or are queued in sessions, as far as the actor sees; of one agent, or of all. */
export const SessionActive = defineGather('session.active', '1.0.0', {
  policy: 'closed',
  budgetMs: BUDGET_MS,
  subject: Type.Object({ actor: Actor, agentId: Type.Optional(Type.String()) }),
  answer: Going,
});

/** What the newest model call of an agent was sent beside its conversation, else what the next one would be. */
export const SessionSent = defineGather('session.sent', '1.0.0', {
  policy: 'open',
  budgetMs: BUDGET_MS,
  subject: Type.Object({ agentId: Type.String() }),
  answer: Type.Union([Type.Object({ instructionTokens: Type.Integer(), toolTokens: Type.Integer(), tools: Type.Integer() }), Type.Null()]),
});

/** These sessions of an agent were closed: what goes on in them is stopped. A tap ends when it has ended, or after some seconds. */
export const SessionClosing = defineStep('session.closing', '1.0.0', {
  policy: 'closed',
  budgetMs: CLOSE_BUDGET_MS,
  subject: Type.Object({ actor: Actor, agentId: Type.String(), sessionIds: Type.Array(Type.String()) }),
});

export const CompactionAnswer = Type.Object({
  text: Type.String({ description: 'The summary; with `model`, what the model is given to summarise' }),
  model: Type.Optional(
    Type.Object({
      instruction: Type.String(),
      maxTokens: Type.Integer(),
      keep: Type.String({ description: 'Stands behind the summary, word for word' }),
    }),
  ),
});
export type CompactionAnswer = Plain<typeof CompactionAnswer>;
/** Asked before the older part of a conversation is summarised: who answers says what stands in its place. `model` has the agent's model write it. */
export const SessionCompacting = defineAsk('session.compacting', '1.0.0', {
  policy: 'open',
  budgetMs: 35_000,
  remote: true,
  subject: Type.Object({
    actor: Actor,
    agentId: Type.String(),
    sessionId: Type.String(),
    messages: Type.Array(ModelMessage, { description: 'What is to be summarised, an earlier summary included' }),
    model: Type.String(),
    contextWindowTokens: Type.Number(),
    usedTokens: Type.Number({ description: 'Of the conversation as it is, estimated' }),
  }),
  answer: CompactionAnswer,
});
