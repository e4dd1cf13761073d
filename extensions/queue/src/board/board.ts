/**
 * The task board.
 *
 * B1  A task is a row, made in one commit with the work that wakes its assignee.
 * B2  One agent gets a claim: of two, one changes the row.
 * B3  A claim whose run failed or is gone returns to the board; one whose run ended otherwise returns after claim_ttl_secs.
 * B4  Whoever completes a task holds its claim.
 */
import { createHash } from 'node:crypto';
import { type Actor, type Actors, type Clock, type Db, type Events, type Ids, isSvcError, type Scalar, uuidOfDigest, type Write } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { RunsService } from '@svc/ext-runs/contract';
import { taskErrors } from '../errors.js';
import { type BoardConfig, type BoardRow, TaskClaimed, TaskCompleted, TaskEnded, type TaskFact, TaskPosted } from './board-rows.js';

export interface TaskDraft {
  readonly title: string;
  readonly description?: string | undefined;
  /** Id or name of an agent. */
  readonly assignedTo?: string | undefined;
}

/** The agent that posts, claims or completes, in which run. */
export interface Doer {
  readonly agentId: string;
  readonly runId: string;
  readonly sessionId: string;
  readonly callId: string;
}

export interface BoardDeps {
  readonly db: Db;
  readonly events: Events;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly actors: Pick<Actors, 'of'>;
  readonly agents: Pick<AgentsService, 'find'>;
  readonly runs: Pick<RunsService, 'get' | 'stop'>;
  settings(): BoardConfig;
  /** Commits these writes with the work that wakes the assignee, where there is one to wake. */
  commit(row: BoardRow, writes: readonly Write[]): Promise<void>;
}

export interface Board {
  post(actor: Actor, draft: TaskDraft, by?: Doer): Promise<BoardRow>;
  find(actor: Actor, id: string): Promise<BoardRow | undefined>;
  /** Newest first, older than `before`. */
  page(actor: Actor, filter: { readonly status?: string | undefined; readonly before?: string | undefined; readonly limit: number }): Promise<BoardRow[]>;
  counts(actor: Actor): Promise<Record<TaskStatus, number>>;
  cancel(actor: Actor, row: BoardRow): Promise<void>;
  retry(actor: Actor, row: BoardRow): Promise<void>;
  /** The board of one person, as their agents see it: oldest first. */
  of(actor: Actor, status: string | undefined): Promise<BoardRow[]>;
  claim(actor: Actor, by: Doer, id: string | undefined): Promise<BoardRow | undefined>;
  complete(actor: Actor, by: Doer, id: string, result: string): Promise<BoardRow>;
  /** Returns claims of dead runs. Answers how many. */
  sweep(): Promise<number>;
  prune(): Promise<void>;
}

export const TASK_STATES = ['pending', 'in_progress', 'completed', 'failed', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATES)[number];

const MAX_OPEN = 1_000;
const MAX_SHOWN = 50;
const SWEPT_AT_ONCE = 200;
const KEEP_MS = 30 * 86_400_000;
const FREE = { claimed_by: null, claim_run: null, claimed_at: null } as const;

export const createBoard = (deps: BoardDeps): Board => ({
  post: (actor, draft, by) => post(deps, actor, draft, by),
  find: (actor, id) => deps.db.as(actor).first<BoardRow>({ from: 'board', where: { id: id.toLowerCase() } }),
  page: (actor, { status, before, limit }) =>
    deps.db.as(actor).select<BoardRow>({
      from: 'board',
      where: { ...(status === undefined ? {} : { status }), ...(before === undefined ? {} : { created_at: { lt: before } }) },
      order: [{ column: 'created_at', descending: true }, { column: 'id' }],
      limit,
    }),
  counts: async (actor) => {
    const reader = deps.db.as(actor);
    const counted = await Promise.all(TASK_STATES.map((status) => reader.count('board', { status })));
    return Object.fromEntries(TASK_STATES.map((status, index) => [status, counted[index] ?? 0])) as Record<TaskStatus, number>; // one for each
  },
  cancel: async (actor, row) => {
    await changed(deps, row, { status: 'cancelled', completed_at: deps.clock.iso(), error: 'cancelled by request' }, [eventOf(deps, TaskEnded, row)]);
    for (const runId of [row.wake_run, row.claim_run]) if (runId !== null) await deps.runs.stop(actor, { runId }, 'its task was cancelled');
  },
  retry: async (_actor, row) => {
    const next = { ...row, ...FREE, status: 'pending', round: row.round + 1, wakes: 0, resets: 0, wake_run: null, wake_at: null, result: null, error: null, completed_at: null };
    await repost(deps, row, next);
  },
  of: (actor, status) =>
    deps.db.as(actor).select<BoardRow>({ from: 'board', where: { owner_id: actor.ownerId, status: status ?? ['pending', 'in_progress'] }, order: [{ column: 'created_at' }], limit: MAX_SHOWN }),
  claim: (actor, by, id) => claim(deps, actor, by, id),
  complete: (actor, by, id, result) => complete(deps, actor, by, id, result),
  sweep: () => sweep(deps),
  prune: async () => {
    const before = new Date(deps.clock.now() - KEEP_MS).toISOString();
    await deps.db.commit([deps.db.remove('board', { completed_at: { lt: before } }, { expect: 'any' })]);
  },
});

export const factOf = (row: BoardRow, by?: Doer, result = ''): TaskFact => ({
  ownerId: row.owner_id,
  taskId: row.id,
  title: row.title,
  assigneeId: row.assigned_to,
  creatorId: row.creator_id,
  agentId: by?.agentId ?? null,
  runId: by?.runId ?? null,
  result,
  round: row.round,
});

const eventOf = ({ events }: Pick<BoardDeps, 'events'>, event: typeof TaskPosted, row: BoardRow, by?: Doer, result?: string): Write => events.event(event, factOf(row, by, result));

/** Changes the row if it still is what was read: its state and its round. */
const moved = (db: Db, { id, status, round }: BoardRow, set: Readonly<Record<string, Scalar>>): Write =>
  db.sql(
    `UPDATE ${db.table('board')} SET ${Object.keys(set)
      .map((column) => `${column} = ?`)
      .join(', ')} WHERE id = ? AND status = ? AND round = ?`,
    [...Object.values(set), id, status, round],
    { expect: 1 },
  );

const isConflict = (error: unknown): boolean => isSvcError(error) && error.code === 'storage_conflict';

const changed = async (deps: BoardDeps, row: BoardRow, set: Readonly<Record<string, Scalar>>, also: readonly Write[]): Promise<void> => {
  await deps.db.commit([moved(deps.db, row, set), ...also]).catch((error: unknown) => {
    throw isConflict(error) ? taskErrors.changed(row.id) : error;
  });
};

const post = async (deps: BoardDeps, actor: Actor, { title, description = '', assignedTo }: TaskDraft, by: Doer | undefined): Promise<BoardRow> => {
  const agent = assignedTo === undefined || assignedTo === '' ? undefined : await deps.agents.find(actor, assignedTo);
  if (!agent && assignedTo) throw taskErrors.no_agent(assignedTo);
  const ownerId = agent?.ownerId ?? actor.ownerId;
  // A call that a restart repeats posts once.
  const id = by === undefined ? deps.ids.uuid() : idOf(by);
  const posted = by === undefined ? undefined : await deps.db.as(actor).first<BoardRow>({ from: 'board', where: { id } });
  if (posted) return posted;
  if ((await deps.db.system('limit of tasks').count('board', { owner_id: ownerId, status: ['pending', 'in_progress'] })) >= MAX_OPEN) throw taskErrors.board_full(MAX_OPEN);
  const row: BoardRow = {
    id,
    owner_id: ownerId,
    title: title.trim(),
    description,
    status: 'pending',
    assigned_to: agent?.id ?? null,
    creator_id: by?.agentId ?? null,
    creator_run: by?.runId ?? null,
    creator_session: by?.sessionId ?? null,
    ...FREE,
    wakes: 0,
    wake_run: null,
    wake_at: null,
    round: 1,
    resets: 0,
    result: null,
    error: null,
    created_at: deps.clock.iso(),
    completed_at: null,
  };
  await deps.commit(row, [deps.db.insert('board', [row]), eventOf(deps, TaskPosted, row, by)]);
  return row;
};

const idOf = ({ runId, callId }: Doer): string => {
  const hex = createHash('sha256').update(`task|${runId}|${callId}`).digest('hex');
  return uuidOfDigest(hex);
};

const repost = async (deps: BoardDeps, row: BoardRow, next: BoardRow): Promise<void> => {
  const { id: _id, owner_id: _owner, title: _title, description: _description, created_at: _created, ...set } = next;
  await deps.commit(next, [moved(deps.db, row, set), eventOf(deps, TaskPosted, next)]).catch((error: unknown) => {
    throw isConflict(error) ? taskErrors.changed(row.id) : error;
  });
};

/** The oldest task that is the agent's own, else the oldest that is nobody's. */
const claim = async (deps: BoardDeps, actor: Actor, by: Doer, id: string | undefined): Promise<BoardRow | undefined> => {
  const reader = deps.db.as(actor);
  const free = { owner_id: actor.ownerId, status: 'pending' };
  const order = [{ column: 'created_at' }];
  for (const assigned_to of [by.agentId, null]) {
    const rows = await reader.select<BoardRow>({ from: 'board', where: { ...free, assigned_to, ...(id === undefined ? {} : { id: id.toLowerCase() }) }, order, limit: MAX_SHOWN });
    for (const row of rows) {
      const set = { status: 'in_progress', claimed_by: by.agentId, claim_run: by.runId, claimed_at: deps.clock.iso() };
      const won = await deps.db.commit([moved(deps.db, row, set), eventOf(deps, TaskClaimed, row, by)]).then(
        () => true,
        (error: unknown) => {
          if (isConflict(error)) return false;
          throw error;
        },
      );
      if (won) return { ...row, ...set };
    }
  }
  return undefined;
};

const complete = async (deps: BoardDeps, actor: Actor, by: Doer, id: string, result: string): Promise<BoardRow> => {
  const row = await deps.db.as(actor).first<BoardRow>({ from: 'board', where: { id: id.toLowerCase(), owner_id: actor.ownerId } });
  if (!row) throw taskErrors.not_found(id);
  if (row.status !== 'in_progress' || row.claimed_by !== by.agentId) {
    // The call was made before the daemon died.
    if (row.status === 'completed' && row.claimed_by === by.agentId && row.result === result) return row;
    throw taskErrors.not_yours(row.id, row.status);
  }
  const set = { status: 'completed', result, completed_at: deps.clock.iso() };
  await changed(deps, row, set, [eventOf(deps, TaskCompleted, row, by, result)]);
  return { ...row, ...set };
};

const OVER: ReadonlySet<string> = new Set(['done', 'failed', 'cancelled']);

const sweep = async (deps: BoardDeps): Promise<number> => {
  const held = await deps.db.system('claims').select<BoardRow>({ from: 'board', where: { status: 'in_progress' }, order: [{ column: 'claimed_at' }], limit: SWEPT_AT_ONCE });
  let returned = 0;
  for (const row of held) if (await returnClaim(deps, row)) returned += 1;
  return returned;
};

const returnClaim = async (deps: BoardDeps, row: BoardRow): Promise<boolean> => {
  const { claim_ttl_secs: ttl, max_retries: most } = deps.settings();
  const status = row.claim_run === null ? 'gone' : await statusOf(deps, row.owner_id, row.claim_run);
  const isDead = status === 'failed' || status === 'cancelled' || status === 'gone';
  const isStale = OVER.has(status) && deps.clock.now() - Date.parse(row.claimed_at ?? '') > ttl * 1_000;
  if (!isDead && !isStale) return false;
  const resets = row.resets + 1;
  try {
    if (most > 0 && resets > most) {
      await changed(deps, row, { status: 'failed', resets, completed_at: deps.clock.iso(), error: `${resets} claims ended without a result` }, [eventOf(deps, TaskEnded, row)]);
      return true;
    }
    await repost(deps, row, { ...row, ...FREE, status: 'pending', round: row.round + 1, resets, wake_run: null, wake_at: null });
    return true;
  } catch (error) {
    // Completed or returned meanwhile.
    if (isSvcError(error) && error.code === taskErrors.changed('').code) return false;
    throw error;
  }
};

const statusOf = ({ runs, actors }: BoardDeps, ownerId: string, runId: string): Promise<string> =>
  runs.get(actors.of(ownerId), runId).then(
    ({ status }) => status,
    (error: unknown) => {
      if (isSvcError(error) && error.status === 404) return 'gone';
      throw error;
    },
  );
