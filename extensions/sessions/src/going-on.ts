/** What sessions asks of whoever works in them, as hooks: sessions stands below runs and does not know it. */
import { Actor, type Plain, Type, defineGather, defineStep } from '@svc/api';

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

/** These sessions of an agent were closed: what goes on in them is stopped. A tap ends when it has ended, or after some seconds. */
export const SessionClosing = defineStep('session.closing', '1.0.0', {
  policy: 'closed',
  budgetMs: CLOSE_BUDGET_MS,
  subject: Type.Object({ actor: Actor, agentId: Type.String(), sessionIds: Type.Array(Type.String()) }),
});
