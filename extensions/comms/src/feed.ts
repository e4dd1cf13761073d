/**
 * The feed: one row for each thing that passed between agents.
 *
 * C1  What happens comes as durable events, and is a row once: a repeated event changes nothing. Messages are noted as they are sent.
 * C2  A row belongs to the owner of the agents. Words of messages go with either agent.
 */
import { createHash } from 'node:crypto';
import { type Actor, type Clock, type Db, type Events, isSvcError, uuidOfDigest } from '@svc/api';
import { AgentKilled, AgentSpawned, type AgentsService } from '@svc/ext-agents/contract';
import { TaskClaimed, TaskCompleted, type TaskFact, TaskPosted } from '@svc/ext-queue/contract';
import { AgentMessaged } from '@svc/ext-runs/contract';
import { type CommsEvent, CommsHappened, type FeedRow, type KINDS } from './contract.js';

export interface FeedDeps {
  readonly db: Db;
  readonly events: Events;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly agents: Pick<AgentsService, 'briefs'>;
  readonly of: (ownerId: string) => Actor;
}

type Kind = (typeof KINDS)[number];

export interface Noted {
  readonly ownerId: string;
  /** The same for one thing, however often it is noted. */
  readonly happening: string;
  readonly kind: Kind;
  readonly sourceId: string | null;
  /** Known where the agent is gone, or where it is no agent. */
  readonly sourceName?: string;
  readonly targetId: string | null;
  readonly targetName?: string;
  readonly detail: string;
}

export interface Feed {
  note(noted: Noted): Promise<void>;
  newest(actor: Actor, limit: number): Promise<{ events: CommsEvent[]; total: number }>;
  /** Oldest first, those after the one with this id. */
  after(actor: Actor, id: string): Promise<CommsEvent[]>;
  /** Words of messages of an agent that goes. */
  erase(agentId: string): Promise<void>;
  prune(): Promise<void>;
}

const MAX_DETAIL = 200;
const MAX_MISSED = 500;
const KEEP_MS = 30 * 86_400_000;

export const eventOf = ({ owner_id: _owner, happening: _happening, kind, ...row }: FeedRow): CommsEvent => ({ ...row, kind: kind as Kind }); // `note` writes no other

export const createFeed = (deps: FeedDeps): Feed => {
  const { db, events, clock } = deps;
  const feed: Feed = {
    note: (noted) => note(deps, noted),
    newest: async (actor, limit) => {
      const reader = db.as(actor);
      const [rows, total] = await Promise.all([reader.select<FeedRow>({ from: 'feed', order: [{ column: 'timestamp', descending: true }, { column: 'id' }], limit }), reader.count('feed')]);
      return { events: rows.map(eventOf), total };
    },
    after: async (actor, id) => {
      const reader = db.as(actor);
      const last = await reader.first<FeedRow>({ from: 'feed', where: { id } });
      return last
        ? (await reader.select<FeedRow>({ from: 'feed', where: { timestamp: { gt: last.timestamp } }, order: [{ column: 'timestamp' }, { column: 'id' }], limit: MAX_MISSED })).map(eventOf)
        : [];
    },
    erase: async (agentId) => {
      const gone = `UPDATE ${db.table('feed')} SET detail = '' WHERE kind = 'agent_message' AND (source_id = ? OR target_id = ?)`;
      await db.commit([db.sql(gone, [agentId, agentId])]);
    },
    prune: async () => void (await db.commit([db.remove('feed', { timestamp: { lt: new Date(clock.now() - KEEP_MS).toISOString() } }, { expect: 'any' })])),
  };
  listen(events, feed);
  return feed;
};

const listen = (events: Events, { note: add }: Feed): void => {
  events.on(AgentSpawned, ({ agentId, name, ownerId }) =>
    add({ ownerId, happening: `spawned:${agentId}`, kind: 'agent_spawned', sourceId: agentId, sourceName: name, targetId: agentId, targetName: name, detail: `${name} was spawned` }),
  );
  events.on(AgentKilled, ({ agentId, name, ownerId }) =>
    add({ ownerId, happening: `killed:${agentId}`, kind: 'agent_terminated', sourceId: agentId, sourceName: name, targetId: agentId, targetName: name, detail: `${name} was ended` }),
  );
  events.on(AgentMessaged, ({ ownerId, runId, fromId, toId, text }) => add({ ownerId, happening: `message:${runId}`, kind: 'agent_message', sourceId: fromId, targetId: toId, detail: text }));
  const task = (kind: Kind) => (fact: TaskFact) =>
    add({
      ownerId: fact.ownerId,
      happening: `${kind}:${fact.taskId}:${fact.round}`,
      kind,
      sourceId: fact.agentId,
      targetId: kind === 'task_posted' && fact.assigneeId !== null ? fact.assigneeId : fact.taskId,
      ...(kind === 'task_posted' && fact.assigneeId !== null ? {} : { targetName: fact.title }),
      detail: kind === 'task_completed' ? `${fact.title}: ${fact.result}` : fact.title,
    });
  events.on(TaskPosted, task('task_posted'));
  events.on(TaskClaimed, task('task_claimed'));
  events.on(TaskCompleted, task('task_completed'));
};

const idOf = (happening: string): string => {
  const hex = createHash('sha256').update(`comms|${happening}`).digest('hex');
  return uuidOfDigest(hex);
};

const note = async ({ db, events, clock, agents, of }: FeedDeps, noted: Noted): Promise<void> => {
  const { ownerId, happening, kind, sourceId, targetId } = noted;
  const names = await agents.briefs(
    of(ownerId),
    [sourceId, targetId].filter((id) => id !== null),
  );
  const row: FeedRow = {
    id: idOf(happening),
    owner_id: ownerId,
    happening,
    timestamp: clock.iso(),
    kind,
    source_id: sourceId,
    source_name: noted.sourceName ?? names[sourceId ?? '']?.name ?? (sourceId === null ? 'system' : 'an agent that is gone'),
    target_id: targetId,
    target_name: noted.targetName ?? names[targetId ?? '']?.name ?? 'an agent that is gone',
    detail: noted.detail.slice(0, MAX_DETAIL),
  };
  await db.commit([db.insert('feed', [row]), events.event(CommsHappened, { ownerId, ...eventOf(row) })]).catch((error: unknown) => {
    // It was noted before.
    if (!(isSvcError(error) && error.code === 'storage_conflict')) throw error;
  });
};
