/**
 * What people decide.
 *
 * D1  A request is decided once, by whoever comes first; everybody else gets 409. Those of others are not found.
 * D2  The decision, the code that was used for it and what is remembered are one commit.
 * D3  Several at once are all decided, or none is.
 */
import { type Actor, type Clock, type Ids, isSvcError, type Write } from '@svc/api';
import type { ExtensionContext } from '@svc/api';
import { ApprovalResolved, type RequestRow } from '../contract.js';
import { approvalErrors } from '../errors.js';
import type { Totp } from '../totp/totp.js';
import { grantOfRequest, type Remember } from './remembered.js';
import type { RequestStore } from './store.js';
import { factOf, type Timeouts } from './timeouts.js';

export interface DecisionDeps {
  readonly ctx: Pick<ExtensionContext, 'db' | 'events'>;
  readonly clock: Pick<Clock, 'now' | 'iso'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly store: RequestStore;
  readonly timeouts: Timeouts;
  readonly totp: Totp;
  /** Whether a call of this tool needs a code. */
  readonly needsCode: (tool: string) => boolean;
  /** `cache_approvals_per_session`. */
  readonly remembersSession: () => boolean;
}

export interface Given {
  readonly decision: 'approve' | 'reject';
  readonly feedback?: string;
  readonly code?: string;
  readonly remember?: Remember;
}

export interface Decided {
  readonly id: string;
  readonly state: 'approved' | 'rejected';
  readonly at: string;
}

export const decideOne = async (deps: DecisionDeps, actor: Actor, id: string, given: Given): Promise<Decided> => {
  const row = await deps.store.find(actor, id);
  if (!row) throw approvalErrors.not_found(id);
  await refuseDecided(deps, row);
  const isApproval = given.decision === 'approve';
  const at = deps.clock.iso();
  const grant = isApproval ? grantWrites(deps, actor, row, given.remember) : [];
  const factor = isApproval && deps.needsCode(row.tool) ? await deps.totp.factor(actor, given.code) : undefined;
  const secondFactor = factor?.isUsed ?? false;
  try {
    await commitFor(deps, row, [...decisionWrites(deps, actor, row, { ...given, at, secondFactor }), ...(factor?.writes ?? []), ...grant]);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const now = await deps.store.find(actor, id);
    if (!now) throw approvalErrors.not_found(id);
    await refuseDecided(deps, now);
    // The request is still open: what somebody else used meanwhile is the code.
    throw approvalErrors.totp_replayed();
  }
  return { id, state: isApproval ? 'approved' : 'rejected', at };
};

export const decideMany = async (deps: DecisionDeps, actor: Actor, ids: readonly string[], given: Given): Promise<Decided[]> => {
  const rows = await openRows(deps, actor, ids);
  const guarded = given.decision === 'approve' ? rows.filter(({ tool }) => deps.needsCode(tool)) : [];
  if (guarded.length > 0) throw approvalErrors.totp_in_batch(guarded.map(({ id }) => id));
  const at = deps.clock.iso();
  try {
    await deps.ctx.db.commit(
      rows.flatMap((row) => [...decisionWrites(deps, actor, row, { ...given, at, secondFactor: false }), ...(given.decision === 'approve' ? grantWrites(deps, actor, row, undefined) : [])]),
    );
  } catch (error) {
    if (!isConflict(error)) throw error;
    await openRows(deps, actor, ids);
    throw error;
  }
  for (const row of rows) await deps.timeouts.wake(row);
  return rows.map(({ id }) => ({ id, state: given.decision === 'approve' ? 'approved' : 'rejected', at }));
};

/** In the order of the ids. Throws where one is missing, or not open any more. */
const openRows = async ({ store, clock }: DecisionDeps, actor: Actor, ids: readonly string[]): Promise<RequestRow[]> => {
  const found = new Map((await store.findMany(actor, ids)).map((row) => [row.id, row]));
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length > 0) throw approvalErrors.some_not_found(missing);
  const rows = ids.flatMap((id) => found.get(id) ?? []);
  const over = rows.filter((row) => row.state !== 'pending' || row.expires_at <= clock.iso());
  if (over.length > 0) throw approvalErrors.some_resolved(over.map(({ id }) => id));
  return rows;
};

const refuseDecided = async ({ clock }: DecisionDeps, row: RequestRow): Promise<void> => {
  if (row.state !== 'pending') throw approvalErrors.resolved(row.id, row.state);
  if (row.expires_at <= clock.iso()) throw approvalErrors.resolved(row.id, 'expired');
};

const decisionWrites = ({ store, ctx }: DecisionDeps, actor: Actor, row: RequestRow, given: Given & { at: string; secondFactor: boolean }): Write[] => {
  const state = given.decision === 'approve' ? 'approved' : 'rejected';
  return [
    store.decide(row.id, { state, at: given.at, by: actor.id, feedback: given.feedback ?? null, secondFactor: given.secondFactor }, true),
    ctx.events.event(ApprovalResolved, { ...factOf(row, state), decidedBy: actor.id }),
  ];
};

const grantWrites = ({ store, ids, clock, remembersSession }: DecisionDeps, actor: Actor, row: RequestRow, remember: Remember | undefined): Write[] => {
  const grant = (wish: Remember): Write => store.insertGrant(grantOfRequest(row, wish, actor.id, ids.uuid(), clock.now()));
  if (remember) return [grant(remember)];
  if (!remembersSession() || row.run_id === '') return [];
  try {
    return [grant({ what: row.command === null ? 'tool' : 'call', for: 'session' })];
  } catch (error) {
    // Nobody asked for this one to be remembered: a command that cannot be is asked about again.
    if (isSvcError(error) && error.code === 'approvals_cannot_remember') return [];
    throw error;
  }
};

/** With the run's wake where it sleeps already; one that falls asleep in this moment is woken when that is heard. */
const commitFor = async ({ ctx, timeouts }: DecisionDeps, row: RequestRow, writes: readonly Write[]): Promise<void> => {
  await ctx.db.commit(writes);
  await timeouts.wake(row);
};

const isConflict = (error: unknown): boolean => isSvcError(error) && error.code === 'storage_conflict';
