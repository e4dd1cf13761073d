/**
 * The reviewer of requests: asked first where `[approval.reviewer]` names one.
 *
 * V3  It fails closed: an error, silence, or an answer in another form leaves the request to a person. Nothing runs because a review failed.
 * V4  It approves nothing above `max_risk`, nothing that needs a code, and nothing that it was not shown as a whole.
 * V5  Its denial is not the end: a person can approve the call until `appeal_secs` are over. Then the call is refused with its reason.
 * V6  A review that a restart cut off is over when its time is: the sweep says so, and a person is asked.
 */
import { type Actors, AuditRecorded, auditFact, type Clock, type ExtensionContext, isSvcError, type Logger, type Write } from '@svc/api';
import type { Approval, Reviewer } from '../config.js';
import { ApprovalRequested, ApprovalResolved, type RequestRow, type Review } from '../contract.js';
import { isAtLeast, type Risk } from '../policy/risk.js';
import type { RequestStore } from '../requests/store.js';
import { factOf, type Timeouts } from '../requests/timeouts.js';
import { isCut } from './review-text.js';
import { askReviewer, NoReview, reviewerName, type ReviewerDeps } from './reviewer.js';

export interface ReviewDeps extends ReviewerDeps {
  readonly ctx: Pick<ExtensionContext, 'db' | 'events' | 'ids'>;
  readonly actors: Pick<Actors, 'of'>;
  readonly clock: Pick<Clock, 'now' | 'iso' | 'sleep'>;
  readonly store: RequestStore;
  readonly timeouts: Timeouts;
  readonly log: Logger;
  readonly settings: () => Approval;
  /** Whether approving a call of this tool needs a code, which no model has. */
  readonly needsCode: (tool: string) => boolean;
  /** Aborted when this generation ends: the next one's sweep leaves its reviews to a person. */
  readonly closing: AbortSignal;
}

export type Reviews = ReturnType<typeof createReviews>;

const MAX_AT_ONCE = 16;
/** Beyond the reviewer's own time: for the commit. */
const GRACE_MS = 5_000;

export const createReviews = (deps: ReviewDeps) => {
  let running = 0;
  return {
    /** The part of a new row that says it is reviewed first, or that nobody reviews it. */
    columnsFor: (row: Pick<RequestRow, 'tool' | 'risk' | 'payload' | 'preview'>): Pick<RequestRow, 'review' | 'review_until'> => {
      const reviewer = running < MAX_AT_ONCE ? reviewerOf(deps, row) : undefined;
      if (!reviewer) return { review: null, review_until: null };
      const review: Review = { by: reviewerName(reviewer), decision: 'pending', reason: '', at: deps.clock.iso() };
      return { review: JSON.stringify(review), review_until: new Date(deps.clock.now() + reviewer.timeout_secs * 1_000 + GRACE_MS).toISOString() };
    },
    /** Returns at once. The row is stored. */
    begin: (row: RequestRow): void => {
      const { reviewer } = deps.settings();
      if (row.review_until === null || !reviewer) return;
      running += 1;
      void review(deps, row, reviewer)
        .catch((cause: unknown) => deps.log.error('a review could not be stored; a person is asked', { request: row.id, cause }))
        .finally(() => {
          running -= 1;
        });
    },
    sweep: async (): Promise<void> => {
      for (const row of await deps.store.overdueReviews()) await leaveToPerson(deps, row, 'it did not answer in time', []);
    },
  };
};

const reviewerOf = ({ settings, needsCode }: ReviewDeps, row: Pick<RequestRow, 'tool' | 'risk' | 'payload' | 'preview'>): Reviewer | undefined => {
  const { reviewer } = settings();
  // What it could not approve it is not asked about.
  const risk = row.risk as Risk; // written by `rowOf`, from `riskOf`
  return reviewer && isAtLeast(reviewer.max_risk, risk) && !needsCode(row.tool) && !isCut(row) ? reviewer : undefined;
};

const review = async (deps: ReviewDeps, row: RequestRow, reviewer: Reviewer): Promise<void> => {
  const late = new AbortController();
  const over = new AbortController();
  const end = deps.clock.sleep(reviewer.timeout_secs * 1_000, over.signal).then(
    () => {
      late.abort();
      throw new NoReview(`it did not answer within ${reviewer.timeout_secs} s`);
    },
    () => new Promise<never>(() => undefined), // it answered in time
  );
  try {
    const given = await Promise.race([askReviewer(deps, deps.actors.of(row.owner_id), row, reviewer, AbortSignal.any([late.signal, deps.closing])), end]);
    if (given.decision === 'approve') await approve(deps, row, given);
    else if (given.decision === 'deny') await deny(deps, row, given, reviewer);
    else await leaveToPerson(deps, row, given.reason, given.settle);
  } catch (error) {
    if (deps.closing.aborted) return;
    if (!(error instanceof NoReview)) deps.log.error('a review failed; a person is asked', { request: row.id, cause: error });
    const { message: why, settle, saysNothing } = error instanceof NoReview ? error : new NoReview('it failed');
    await leaveToPerson(deps, row, saysNothing ? '' : why, settle, why);
  } finally {
    over.abort();
  }
};

interface Given {
  readonly by: string;
  readonly reason: string;
  readonly settle: readonly Write[];
}

const approve = async (deps: ReviewDeps, row: RequestRow, { by, reason, settle }: Given): Promise<void> => {
  const { store, ctx } = deps;
  const at = deps.clock.iso();
  // Settings may be others than when it was asked.
  if (!reviewerOf(deps, row)) return leaveToPerson(deps, row, 'it may not approve this any more', settle);
  const decided = store.decide(row.id, { state: 'approved', at, by, feedback: reason, secondFactor: false }, true);
  const done = await commitOpen(deps, row, { by, decision: 'approve', reason, at }, settle, [decided, ctx.events.event(ApprovalResolved, { ...factOf(row, 'approved'), decidedBy: by })]);
  if (done) await deps.timeouts.wake(row);
};

const deny = async (deps: ReviewDeps, row: RequestRow, { by, reason, settle }: Given, { appeal_secs: seconds }: Reviewer): Promise<void> => {
  const until = new Date(deps.clock.now() + seconds * 1_000).toISOString();
  const expires = row.expires_at < until ? row.expires_at : until;
  const announced = deps.ctx.events.event(ApprovalRequested, { ...factOf(row), risk: row.risk, description: `${by} denied it: ${reason}`.slice(0, 1_000) });
  await commitOpen(deps, row, { by, decision: 'deny', reason, at: deps.clock.iso() }, settle, [deps.store.shorten(row.id, expires), announced]);
};

/** `reason` is what a card shows; none, where it is empty. */
const leaveToPerson = async (deps: ReviewDeps, row: RequestRow, reason: string, settle: readonly Write[], audited = reason): Promise<void> => {
  const by = row.review === null ? 'reviewer' : (JSON.parse(row.review) as Review).by; // written by `columnsFor`
  const announced = deps.ctx.events.event(ApprovalRequested, { ...factOf(row), risk: row.risk, description: row.description });
  await commitOpen(deps, row, { by, decision: 'ask', reason, at: deps.clock.iso() }, settle, [announced], audited);
};

/** False where a person decided meanwhile, or the run is over: then only what the call cost is stored. */
const commitOpen = async (deps: ReviewDeps, row: RequestRow, review: Review, settle: readonly Write[], writes: readonly Write[], audited = review.reason): Promise<boolean> => {
  const { ctx, store } = deps;
  const note = {
    type: 'approval_reviewed',
    actor: deps.actors.of(row.owner_id),
    agentId: row.agent_id,
    details: { request_id: row.id, tool: row.tool.slice(0, 200), decision: review.decision, reviewer: review.by.slice(0, 200) },
    personal: { reason: audited },
  };
  try {
    await ctx.db.commit([store.reviewed(row.id, JSON.stringify(review)), ...writes, ...settle, ctx.events.event(AuditRecorded, auditFact({ ids: ctx.ids, clock: deps.clock }, note))]);
    return true;
  } catch (error) {
    if (!isSvcError(error) || error.code !== 'storage_conflict') throw error;
    if (settle.length > 0) await ctx.db.commit(settle);
    return false;
  }
};
