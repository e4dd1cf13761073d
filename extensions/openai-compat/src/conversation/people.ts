/** Conversations of the people that a client speaks for: one for each, told apart by what the client calls them. */
import { createHash } from 'node:crypto';
import type { Actor, Clock, Db } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { compatErrors } from '../errors.js';

/** Sessions an agent may have before a name that was never heard begins no further one. */
const MAX_SESSIONS = 10_000;
const MAX_LABEL_CHARS = 100;

export interface People {
  /** The session of this person with this agent, begun if need be. It belongs to the caller. Throws `too_many_users`. */
  sessionOf(actor: Actor, agent: Agent, user: string): Promise<string>;
}

export const createPeople = (deps: { sessions: SessionsService; commit: Db['commit']; clock: Clock }): People => ({
  sessionOf: async (actor, agent, user) => {
    const id = idFor(actor.ownerId, agent.id, user);
    if ((await deps.sessions.agentOf(id)) !== undefined) return id;
    const { [agent.id]: count } = await deps.sessions.counts(actor, [agent.id], deps.clock.iso());
    if ((count?.all ?? 0) >= MAX_SESSIONS) throw compatErrors.too_many_users(agent.name, MAX_SESSIONS);
    // Two first messages at once begin one session: its id is the same.
    const { writes } = await deps.sessions.create(actor, agent.id, { id, label: labelFor(user) });
    await deps.commit(writes);
    return id;
  },
});

/** A UUID of version 8: the first bits of a hash of whose, with which agent, and who. */
const idFor = (ownerId: string, agentId: string, user: string): string => {
  const hash = createHash('sha256')
    .update(JSON.stringify(['openai-compat.user', ownerId, agentId, user]))
    .digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
};

/** As labels are written: what they have no letter for is a dash. */
const labelFor = (user: string): string => `user ${user.replaceAll(/[^A-Za-z0-9 _-]/g, '-').slice(0, MAX_LABEL_CHARS)}`;
