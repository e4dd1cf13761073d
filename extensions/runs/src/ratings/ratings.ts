/**
 * Ratings of answers.
 *
 * G1  A person has one rating of a run, and reads only their own; counts are over all that the caller may see.
 * G2  It goes with its conversation, its agent and its person. A message beside a conversation has none.
 */
import type { Actor, Clock, Db, Events } from '@svc/api';
import { RunRated } from '../contract.js';
import type { RatingRow } from './rating-rows.js';
import type { Rating } from './rating-shape.js';

export interface RatedRun {
  readonly runId: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly model: string | null;
}

export interface RatingCount {
  readonly agentId: string;
  readonly model: string;
  readonly up: number;
  readonly down: number;
}

export interface Ratings {
  set(actor: Actor, run: RatedRun, rating: Rating | undefined): Promise<void>;
  /** Of the actor, by run. */
  own(actor: Actor, runIds: readonly string[]): Promise<ReadonlyMap<string, Rating>>;
  /** By agent and model, since an ISO time, those with the most ratings first. */
  counts(actor: Actor, since: string): Promise<readonly RatingCount[]>;
}

const MAX_COUNTED = 500;

export const createRatings = ({ db, events, clock }: { readonly db: Db; readonly events: Events; readonly clock: Pick<Clock, 'iso'> }): Ratings => ({
  set: async ({ ownerId }, { agentId, model, runId, sessionId }, rating) => {
    const row = rating && {
      run_id: runId,
      owner_id: ownerId,
      agent_id: agentId,
      session_id: sessionId,
      model: model ?? '',
      value: rating.value === 'up' ? 1 : -1,
      comment: rating.comment,
      rated_at: clock.iso(),
    };
    const write = row ? db.upsert('ratings', ['run_id', 'owner_id'], [row]) : db.remove('ratings', { run_id: runId, owner_id: ownerId });
    await db.commit([write, events.event(RunRated, { runId, agentId, sessionId, ownerId, ...(rating ? { value: rating.value } : {}) })]);
  },
  own: async (actor, runIds) => {
    const rows = await db.as(actor).select<RatingRow>({ from: 'ratings', where: { run_id: [...runIds], owner_id: actor.ownerId } });
    return new Map(rows.map(({ comment, run_id, value }) => [run_id, { value: Number(value) > 0 ? 'up' : 'down', comment }]));
  },
  counts: async (actor, since) => {
    const rows = await db.as(actor).read<{ agent_id: string; model: string; up: number | string; down: number | string }>(
      `SELECT agent_id, model, SUM(CASE WHEN value > 0 THEN 1 ELSE 0 END) AS up, SUM(CASE WHEN value < 0 THEN 1 ELSE 0 END) AS down FROM ${db.table('ratings')}
       WHERE rated_at >= ? GROUP BY agent_id, model ORDER BY COUNT(*) DESC, agent_id, model LIMIT ${MAX_COUNTED}`,
      [since],
    );
    // PostgreSQL gives counts as text.
    return rows.map(({ agent_id: agentId, down, model, up }) => ({ agentId, model, up: Number(up), down: Number(down) }));
  },
});
