/** Ratings over HTTP: set for one run, and counted. */
import { type Clock, Nullable, OneOf, reply, type RouteDecl, routeGroup, Type, Uuid } from '@svc/api';
import { conversationOf } from '../beside.js';
import { runErrors } from '../errors.js';
import { isOver } from '../loop/endings.js';
import { shownRun } from '../observed/listed-runs.js';
import { RunPath, visibleRun } from '../observed/one-run.js';
import type { ObservedDeps } from '../observed/routes.js';
import { inputOf } from '../run-input.js';
import { RunRating } from './rating-shape.js';
import type { Ratings } from './ratings.js';

interface RatingDeps extends Pick<ObservedDeps, 'agents' | 'sessions' | 'journal'> {
  readonly ratings: Ratings;
  readonly clock: Pick<Clock, 'now'>;
}

const route = routeGroup({ area: 'runs' });
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_COMMENT_CHARS = 1_000;

export const ratingRoutes = (deps: RatingDeps): RouteDecl[] => [rate(deps), count(deps)];

const rate = ({ journal, ratings, sessions }: RatingDeps): RouteDecl =>
  route({
    id: 'setRunRating',
    method: 'PUT',
    path: '/api/runs/{id}/rating',
    summary: 'Rate an answer',
    description:
      'One rating for each person and run, which replaces an earlier one; null takes it back. It is stored with the agent and the model that answered, and is deleted with the conversation.',
    audit: 'run_rated',
    params: RunPath,
    body: Type.Object({ value: Nullable(OneOf(['up', 'down'])), comment: Type.Optional(Nullable(Type.String({ maxLength: MAX_COMMENT_CHARS, description: 'Why, in a few words' }))) }),
    examples: { good: { value: 'up' }, 'bad, and why': { value: 'down', comment: 'The figures are of last year.' }, 'taken back': { value: null } },
    errors: [404, 409],
    responses: { 200: Type.Object({ run_id: Uuid, rating: RunRating }) },
    handler: async ({ actor, params, body: { comment, value } }) => {
      const run = await visibleRun(journal, actor, params.id);
      const input = inputOf(run);
      if (!isOver(run)) throw runErrors.not_ended(run.id);
      if (input.beside !== undefined) throw runErrors.not_rated();
      // One that was deleted has no rating.
      const { id: sessionId } = await sessions.get(actor, conversationOf(input));
      const rating = value === null ? undefined : { value, comment: comment?.trim() || null };
      await ratings.set(actor, { runId: run.id, agentId: input.agentId, sessionId, model: shownRun(run, await journal.steps(actor, run.id)).model }, rating);
      return reply(200, { run_id: run.id, rating: rating ?? null });
    },
  });

const count = ({ agents, clock, ratings }: RatingDeps): RouteDecl =>
  route({
    id: 'listRatings',
    method: 'GET',
    path: '/api/runs/ratings',
    summary: 'Count ratings by agent and model',
    description: 'Yours; an admin sees those of all people. The pairs with the most ratings first, 500 at most.',
    cost: 2,
    query: Type.Object({ days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650, default: DEFAULT_DAYS, description: 'Ratings of so many days back' })) }),
    responses: {
      200: Type.Object({
        ratings: Type.Array(
          Type.Object({
            agent_id: Uuid,
            agent_name: Nullable(Type.String(), { description: 'null if the agent was deleted' }),
            model: Type.String({ description: 'As provider/model; empty if no model was asked' }),
            up: Type.Integer(),
            down: Type.Integer(),
          }),
        ),
        days: Type.Integer(),
      }),
    },
    handler: async ({ actor, query: { days = DEFAULT_DAYS } }) => {
      const counts = await ratings.counts(actor, new Date(clock.now() - days * DAY_MS).toISOString());
      const briefs = await agents.briefs(actor, [...new Set(counts.map(({ agentId }) => agentId))]);
      return reply(200, { ratings: counts.map(({ agentId, ...counted }) => ({ agent_id: agentId, agent_name: briefs[agentId]?.name ?? null, ...counted })), days });
    },
  });
