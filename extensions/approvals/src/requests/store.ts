/**
 * Rows of requests and remembered approvals.
 *
 * S1  A request is decided once: the state is compared and set in one statement, and its time must not be up.
 */
import type { Actor, Clock, Db, Where, Write } from '@svc/api';
import { GrantRows, type GrantRow, RequestRows, type RequestRow, type RequestState } from '../contract.js';

const REQUESTS = RequestRows.name;
const GRANTS = GrantRows.name;
const SWEEP = 'requests whose time is up, and runs to be told';
const BATCH = 100;

export interface Decision {
  readonly state: Exclude<RequestState, 'pending'>;
  readonly at: string;
  readonly by: string;
  readonly feedback: string | null;
  readonly secondFactor: boolean;
}

/** The part of a row that says it waits, from now on for so many seconds. */
export const pendingFor = (clock: Pick<Clock, 'now' | 'iso'>, seconds: number) => ({
  state: 'pending' as const,
  is_open: 1,
  requested_at: clock.iso(),
  expires_at: new Date(clock.now() + seconds * 1_000).toISOString(),
  timeout_secs: seconds,
  escalations: 0,
  decided_at: null,
  decided_by: null,
  feedback: null,
  second_factor: 0,
});

export type RequestStore = ReturnType<typeof createRequestStore>;

export const createRequestStore = (db: Db, clock: Pick<Clock, 'iso'>) => {
  const requests = db.table(REQUESTS);
  return {
    insert: (row: RequestRow): Write => db.insert(REQUESTS, [row]),
    find: (actor: Actor, id: string): Promise<RequestRow | undefined> => db.as(actor).first<RequestRow>({ from: REQUESTS, where: { id } }),
    findMany: (actor: Actor, ids: readonly string[]): Promise<RequestRow[]> => db.as(actor).select<RequestRow>({ from: REQUESTS, where: { id: ids } }),
    ofCall: (runId: string, callId: string): Promise<RequestRow | undefined> => db.system('the request of a call').first<RequestRow>({ from: REQUESTS, where: { run_id: runId, call_id: callId } }),
    ofRun: (runId: string): Promise<RequestRow[]> => db.system('requests of a run').select<RequestRow>({ from: REQUESTS, where: { run_id: runId, is_woken: 0 }, limit: BATCH }),
    openOfAgent: (agentId: string): Promise<number> => db.system('pending requests of an agent').count(REQUESTS, { agent_id: agentId, is_open: 1 }),
    openRowsOfAgent: (agentId: string): Promise<RequestRow[]> =>
      db.system('pending requests of an agent that goes').select<RequestRow>({ from: REQUESTS, where: { agent_id: agentId, is_open: 1 }, limit: BATCH }),
    /** Pending ones first, then the newest. */
    list: async (actor: Actor, where: Where, page: { limit: number; offset: number }): Promise<{ rows: RequestRow[]; total: number }> => ({
      rows: await db.as(actor).select<RequestRow>({
        from: REQUESTS,
        where,
        order: [
          { column: 'is_open', descending: true },
          { column: 'requested_at', descending: true },
          { column: 'id', descending: true },
        ],
        ...page,
      }),
      total: await db.as(actor).count(REQUESTS, where),
    }),
    decided: async (actor: Actor, where: Where, page: { limit: number; offset: number }): Promise<{ rows: RequestRow[]; total: number }> => ({
      rows: await db.as(actor).select<RequestRow>({
        from: REQUESTS,
        where: { ...where, is_open: 0 },
        order: [
          { column: 'decided_at', descending: true },
          { column: 'id', descending: true },
        ],
        ...page,
      }),
      total: await db.as(actor).count(REQUESTS, { ...where, is_open: 0 }),
    }),
    count: (actor: Actor, where: Where = {}): Promise<number> => db.as(actor).count(REQUESTS, where),
    /** Fails with a conflict where somebody has decided, or where a person comes too late (S1). */
    decide: (id: string, { state, at, by, feedback, secondFactor }: Decision, isInTime: boolean): Write =>
      db.sql(
        `UPDATE ${requests} SET state = ?, is_open = 0, decided_at = ?, decided_by = ?, feedback = ?, second_factor = ? WHERE id = ? AND state = 'pending'${isInTime ? ' AND expires_at > ?' : ''}`,
        [state, at, by, feedback, secondFactor ? 1 : 0, id, ...(isInTime ? [at] : [])],
        { expect: 1 },
      ),
    /** Fails with a conflict where its time was up, or somebody has decided. */
    reviewed: (id: string, review: string): Write =>
      db.sql(`UPDATE ${requests} SET review = ?, review_until = NULL WHERE id = ? AND state = 'pending' AND review_until IS NOT NULL`, [review, id], { expect: 1 }),
    shorten: (id: string, until: string): Write => db.sql(`UPDATE ${requests} SET expires_at = ? WHERE id = ? AND state = 'pending'`, [until, id], { expect: 1 }),
    overdueReviews: (): Promise<RequestRow[]> => db.system(SWEEP).select<RequestRow>({ from: REQUESTS, where: { is_open: 1, review_until: { lte: clock.iso() } }, limit: BATCH }),
    escalate: ({ id, escalations }: RequestRow, until: string): Write =>
      db.sql(`UPDATE ${requests} SET escalations = escalations + 1, expires_at = ? WHERE id = ? AND state = 'pending' AND escalations = ?`, [until, id, escalations], { expect: 1 }),
    markWoken: (ids: readonly string[]): Write =>
      db.update(
        REQUESTS,
        ['id'],
        ids.map((id) => ({ id, is_woken: 1 })),
      ),
    overdue: (): Promise<RequestRow[]> => db.system(SWEEP).select<RequestRow>({ from: REQUESTS, where: { is_open: 1, expires_at: { lte: clock.iso() } }, limit: BATCH }),
    /** Decided, and the run may still wait: afterwards its own time wakes it. */
    unwoken: (): Promise<RequestRow[]> =>
      db.system(SWEEP).select<RequestRow>({ from: REQUESTS, where: { is_woken: 0, is_open: 0, expires_at: { gt: clock.iso() } }, order: [{ column: 'decided_at' }], limit: BATCH }),
    prune: (before: string): Write => db.remove(REQUESTS, { is_open: 0, decided_at: { lt: before } }),

    insertGrant: (row: GrantRow): Write => db.insert(GRANTS, [row]),
    grantsFor: (agentId: string, tool: string): Promise<GrantRow[]> =>
      db.system('remembered approvals of an agent').select<GrantRow>({ from: GRANTS, where: { agent_id: agentId, tool }, limit: 1_000 }),
    grants: (actor: Actor): Promise<GrantRow[]> => db.as(actor).select<GrantRow>({ from: GRANTS, order: [{ column: 'created_at', descending: true }], limit: 500 }),
    findGrant: (actor: Actor, id: string): Promise<GrantRow | undefined> => db.as(actor).first<GrantRow>({ from: GRANTS, where: { id } }),
    removeGrant: (id: string): Write => db.remove(GRANTS, { id }),
    pruneGrants: (): Write => db.remove(GRANTS, { expires_at: { lt: clock.iso() } }),
  };
};
