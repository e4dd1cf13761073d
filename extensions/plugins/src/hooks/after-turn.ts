/** What `after_turn` gets to read: the conversation, as it stands behind the answer. */
import type { Actor, Plain } from '@svc/api';
import type { RunEnded } from '@svc/ext-runs/contract';
import { type SessionsService, textOfParts } from '@svc/ext-sessions/contract';
import type { Asked, Engine } from './engine.js';

const MAX_ENTRIES = 100;
const MAX_CHARS = 200_000;

type Ended = Plain<(typeof RunEnded)['data']>;

export interface AfterTurnDeps {
  readonly engine: Engine;
  readonly sessions: Pick<SessionsService, 'get' | 'newest'>;
  actorOf(ownerId: string): Actor;
}

export const afterTurn = async (deps: AfterTurnDeps, ended: Ended): Promise<void> => {
  if (ended.status !== 'done') return;
  const homes = await deps.engine.afterTurn(ended.agentId);
  if (homes.length === 0) return;
  let read: Promise<Asked | undefined> | undefined;
  const asked = (): Promise<Asked | undefined> => (read ??= askedOf(deps, ended));
  for (const home of homes) deps.engine.queue(home, asked);
};

/** Undefined for a conversation that is gone, and for a message beside one: nothing of it is to stay. */
const askedOf = async ({ sessions, actorOf }: AfterTurnDeps, { ownerId, agentId, sessionId, runId }: Ended): Promise<Asked | undefined> => {
  const actor = actorOf(ownerId);
  const session = await sessions.get(actor, sessionId).catch(() => undefined);
  if (!session || session.aside) return undefined;
  const entries = await sessions.newest(actor, sessionId, { after: Math.max(0, session.seq - MAX_ENTRIES), limit: MAX_ENTRIES });
  const messages: Array<{ role: 'user' | 'assistant'; content: string }> = [];
  let left = MAX_CHARS;
  for (const { kind, parts } of [...entries].reverse()) {
    if (kind !== 'user' && kind !== 'assistant') continue;
    const content = textOfParts(parts);
    left -= content.length;
    if (left < 0) break;
    if (content !== '') messages.unshift({ role: kind, content });
  }
  const question = entries.find((entry) => entry.runId === runId && entry.kind === 'user');
  return { ownerId, agentId, sessionId, runId, message: textOfParts(question?.parts), peerId: question?.via?.sender ?? null, more: { messages } };
};
