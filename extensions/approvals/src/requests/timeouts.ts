/**
 * What becomes of a request without a person: its time is up, its run ends, or its run has to be told.
 *
 * W1  A run that fell asleep after its request was decided is woken: when that is heard, and every ten seconds for those of whom nobody heard.
 */
import type { Actors, Clock, ExtensionContext, Journal, Logger, Write } from '@svc/api';
import { isSvcError } from '@svc/api';
import type { Approval } from '../config.js';
import { ApprovalRequested, ApprovalResolved, type RequestRow, type RequestState, type Review } from '../contract.js';
import type { RequestStore } from './store.js';

export interface TimeoutDeps {
  readonly ctx: Pick<ExtensionContext, 'db' | 'events'>;
  readonly actors: Pick<Actors, 'system'>;
  readonly journal: Pick<Journal, 'wake'>;
  readonly clock: Pick<Clock, 'now' | 'iso'>;
  readonly store: RequestStore;
  readonly log: Logger;
  readonly settings: () => Approval;
}

export type Timeouts = ReturnType<typeof createTimeouts>;

const MAX_ESCALATIONS = 3;

export const factOf = (row: RequestRow, state: RequestState = 'pending') => ({
  id: row.id,
  ownerId: row.owner_id,
  agentId: row.agent_id,
  sessionId: row.session_id,
  runId: row.run_id,
  tool: row.tool,
  state,
});

export const createTimeouts = (deps: TimeoutDeps) => {
  const resolve = (row: RequestRow, state: Exclude<RequestState, 'pending'>, by: string): Promise<boolean> => resolveAlone(deps, row, state, by);
  const expire = async (row: RequestRow): Promise<void> => {
    const denied = denialOf(row);
    if (denied) {
      // The run sleeps until the request's first time is up, which the denial has shortened.
      if (await resolveAlone(deps, row, 'rejected', denied.by, denied.reason)) await wakeRun(deps, row);
    } else if (row.on_timeout === 'escalate' && row.escalations < MAX_ESCALATIONS) await escalate(deps, row);
    else await resolve(row, row.on_timeout === 'skip' ? 'skipped' : 'expired', 'timeout');
  };
  return {
    resolve,
    expire,
    /** Wakes the run where it waits for this. */
    wake: (row: Pick<RequestRow, 'id' | 'run_id'>): Promise<boolean> => wakeRun(deps, row),
    /** Of a run that has just fallen asleep. */
    runWaits: async (runId: string): Promise<void> => {
      for (const row of await deps.store.ofRun(runId)) if (row.is_open === 0) await wakeRun(deps, row);
    },
    /** Nobody can decide for a run that is over. */
    runEnded: async (runId: string): Promise<void> => {
      const rows = await deps.store.ofRun(runId);
      for (const row of rows) if (row.is_open === 1) await resolve(row, 'skipped', 'run ended');
      if (rows.length > 0) await deps.ctx.db.commit([deps.store.markWoken(rows.map(({ id }) => id))]);
    },
    agentGone: async (agentId: string): Promise<void> => {
      for (const row of await deps.store.openRowsOfAgent(agentId)) await resolve(row, 'skipped', 'agent killed');
    },
    sweep: async (): Promise<void> => {
      for (const row of await deps.store.overdue()) await expire(row);
      for (const row of await deps.store.unwoken()) await wakeRun(deps, row);
    },
  };
};

const denialOf = ({ review }: RequestRow): Review | undefined => {
  const given = review === null ? undefined : (JSON.parse(review) as Review); // written by reviews.ts
  return given?.decision === 'deny' ? given : undefined;
};

/** The run itself notes that it knows, when its call is looked at again. */
const wakeRun = async ({ actors, journal }: TimeoutDeps, { id, run_id: runId }: Pick<RequestRow, 'id' | 'run_id'>): Promise<boolean> =>
  runId !== '' && journal.wake(actors.system('decided'), id, { approval_id: id });

/** Whoever lost against another decision says nothing: that one stands. */
const resolveAlone = async (deps: TimeoutDeps, row: RequestRow, state: Exclude<RequestState, 'pending'>, by: string, feedback: string | null = null): Promise<boolean> => {
  const { ctx, store, clock } = deps;
  const decided = store.decide(row.id, { state, at: clock.iso(), by, feedback, secondFactor: false }, false);
  return unlessDecided(deps, [decided, ctx.events.event(ApprovalResolved, { ...factOf(row, state), decidedBy: by })]);
};

const escalate = async (deps: TimeoutDeps, row: RequestRow): Promise<void> => {
  const { ctx, store, clock, settings } = deps;
  const until = new Date(clock.now() + settings().escalation_secs * 1_000).toISOString();
  await unlessDecided(deps, [store.escalate(row, until), ctx.events.event(ApprovalRequested, { ...factOf(row), risk: row.risk, description: row.description })]);
};

const unlessDecided = async ({ ctx }: TimeoutDeps, writes: readonly Write[]): Promise<boolean> => {
  try {
    await ctx.db.commit(writes);
    return true;
  } catch (error) {
    if (isSvcError(error) && error.code === 'storage_conflict') return false;
    throw error;
  }
};
