/** How many runs came over time, how many of them failed, and how long they took. */
import { Nullable, reply, type RouteDecl, routeGroup, type Static, timelineOf, TimelinePeriod, Type, UuidText } from '@svc/api';
import { RUN_KIND } from '../run-input.js';
import type { ObservedDeps } from './routes.js';

const route = routeGroup({ area: 'runs', errors: [404] });

const Interval = Type.Object(
  {
    start: Type.String({ format: 'date-time', description: 'When the interval began' }),
    runs: Type.Integer({ description: 'Accepted in it' }),
    done: Type.Integer({ description: 'How many of them are answered' }),
    failed: Type.Integer(),
    cancelled: Type.Integer(),
    median_ms: Nullable(Type.Integer(), {
      description: 'From acceptance to answer, of those that are answered: half of them took no longer. null if none is; only the newest 10,000 answered runs count',
    }),
    p95_ms: Nullable(Type.Integer(), { description: '95 of 100 took no longer' }),
  },
  { 'x-name': 'RunInterval' },
);

const NONE: Omit<Static<typeof Interval>, 'start'> = { runs: 0, done: 0, failed: 0, cancelled: 0, median_ms: null, p95_ms: null };

export const runTimelineRoute = ({ agents, journal, clock }: Pick<ObservedDeps, 'agents' | 'journal' | 'clock'>): RouteDecl =>
  route({
    id: 'getRunTimeline',
    method: 'GET',
    path: '/api/runs/timeline',
    summary: 'Get runs over time',
    description: 'Runs by when their message was accepted, in intervals of equal length, the oldest first, also those without a run.',
    cost: 5,
    query: Type.Object({ period: Type.Optional(TimelinePeriod), agent_id: Type.Optional(UuidText('Only of this agent')) }),
    responses: { 200: Type.Object({ period: TimelinePeriod, interval_seconds: Type.Integer(), intervals: Type.Array(Interval) }) },
    handler: async ({ actor, query: { period = 'day', agent_id: agentId } }) => {
      const subject = agentId === undefined ? {} : { subject: (await agents.get(actor, agentId)).id };
      const { interval, intervalSeconds, starts } = timelineOf(period, clock.now());
      const [since = ''] = starts;
      const found = new Map((await journal.timeline({ actor, kind: RUN_KIND, since, ...subject }, interval)).map((one) => [one.start, one]));
      const intervals = starts.map((start) => {
        const one = found.get(start);
        if (!one) return { start, ...NONE };
        const { done = 0, failed = 0, cancelled = 0 } = one.byStatus;
        const runs = Object.values(one.byStatus).reduce((sum, count) => sum + count, 0);
        return { start, runs, done, failed, cancelled, median_ms: one.medianMs, p95_ms: one.p95Ms };
      });
      return reply(200, { period, interval_seconds: intervalSeconds, intervals });
    },
  });
