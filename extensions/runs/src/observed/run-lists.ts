/** Runs of all agents, and those of one conversation. Both are read from the newest on, a page at a time; a page names where the next one goes on. */
import { type Actor, DAY_OR_TIME, type Journal, type JournalRun, Nullable, reply, type RouteDecl, routeGroup, type RunFilter, TextOf, timeOfText, Type, Uuid, UuidText } from '@svc/api';
import { runErrors } from '../errors.js';
import type { Ratings } from '../ratings/ratings.js';
import { RUN_KIND } from '../run-input.js';
import { ListedRun, RunStatusText, SessionRun, shownRun, shownSessionRun } from './listed-runs.js';
import type { ObservedDeps } from './routes.js';

type RunListDeps = Pick<ObservedDeps, 'agents' | 'sessions' | 'journal'> & { readonly ratings: Pick<Ratings, 'own'> };

const route = routeGroup({ area: 'runs', errors: [404] });
const DEFAULT_RUNS = 50;
const MAX_RUNS = 200;
const DEFAULT_SESSION_RUNS = 20;
const MAX_SESSION_RUNS = 100;

const Next = Nullable(Uuid, { description: 'Send it as `before` to get older ones; null if there are none' });
const Before = Type.Optional(Type.String({ format: 'uuid', description: 'Only runs that were accepted before this one: `next` of the page before' }));

export const runListRoutes = (deps: RunListDeps): RouteDecl[] => [listRuns(deps), listSessionRuns(deps)];

const listRuns = ({ agents, sessions, journal }: RunListDeps): RouteDecl =>
  route({
    id: 'listRuns',
    method: 'GET',
    path: '/api/runs',
    summary: 'List runs, newest first',
    description:
      "Every accepted message starts a run. Filter by agent, session, state or time. Each row has the run's progress, usage, error and what it waits for. " +
      'Ended runs are kept for thirty days. Runs beside a conversation (side questions, incognito messages) are also listed, except when you filter by session.',
    cost: 2,
    query: Type.Object({
      agent_id: Type.Optional(UuidText('Only of this agent')),
      session_id: Type.Optional(UuidText('Only of this session')),
      root_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only this run and all that it led to' })),
      status: Type.Optional({ ...RunStatusText, description: 'Only runs in this state' }),
      since: Type.Optional(TextOf(DAY_OR_TIME, { maxLength: 40, description: 'Accepted at this time or later: a day, or a time in ISO 8601' })),
      before: Before,
      limit: Type.Optional(Type.Integer({ minimum: 1, default: DEFAULT_RUNS, description: `How many at most; more than ${MAX_RUNS} is ${MAX_RUNS}` })),
    }),
    responses: { 200: Type.Object({ runs: Type.Array(ListedRun), next: Next }) },
    handler: async ({ actor, query }) => {
      const { agent_id: agentId, session_id: sessionId, root_id: rootId, status, since, before } = query;
      const limit = Math.min(query.limit ?? DEFAULT_RUNS, MAX_RUNS);
      const subject = agentId === undefined ? undefined : (await agents.get(actor, agentId)).id;
      const lane = sessionId === undefined ? undefined : (await sessions.get(actor, sessionId.toLowerCase())).id;
      const page = await pageOf(journal, actor, {
        before,
        limit,
        filter: {
          ...(subject === undefined ? {} : { subject }),
          ...(lane === undefined ? {} : { lane }),
          ...(rootId === undefined ? {} : { rootId: rootId.toLowerCase() }),
          ...(status === undefined ? {} : { status: [status] }),
          ...(since === undefined ? {} : { since: timeOf(since) }),
        },
      });
      const briefs = await agents.briefs(actor, [...new Set(page.runs.flatMap(({ subject: of }) => of ?? []))]);
      return reply(200, { runs: page.runs.map((run) => ({ ...shownRun(run, page.stepsOf(run)), agent_name: briefs[run.subject ?? '']?.name ?? null })), next: page.next });
    },
  });

const listSessionRuns = ({ sessions, journal, ratings }: RunListDeps): RouteDecl =>
  route({
    id: 'listSessionRuns',
    method: 'GET',
    path: '/api/sessions/{id}/runs',
    summary: "List a session's runs with their steps",
    description:
      'The newest runs of a session in the order in which they were accepted, including failed, stopped, waiting and active ones, each with its model and tool calls. A queued run has its `message`. Match them with the `run_id` of the messages in `GET /api/agents/{id}/session`. Use `next` to get older ones.',
    cost: 2,
    params: Type.Object({ id: UuidText('Session id') }),
    query: Type.Object({
      before: Before,
      limit: Type.Optional(Type.Integer({ minimum: 1, default: DEFAULT_SESSION_RUNS, description: `How many at most; more than ${MAX_SESSION_RUNS} is ${MAX_SESSION_RUNS}` })),
    }),
    responses: { 200: Type.Object({ session_id: Uuid, runs: Type.Array(SessionRun), next: Next }) },
    handler: async ({ actor, params, query: { before, limit: asked } }) => {
      const limit = Math.min(asked ?? DEFAULT_SESSION_RUNS, MAX_SESSION_RUNS);
      const session = await sessions.get(actor, params.id.toLowerCase());
      const page = await pageOf(journal, actor, { before, limit, filter: { lane: session.id } });
      const rated = await ratings.own(
        actor,
        page.runs.map((run) => run.id),
      );
      return reply(200, { session_id: session.id, runs: page.runs.map((run) => shownSessionRun(run, page.stepsOf(run), rated.get(run.id))).reverse(), next: page.next });
    },
  });

interface PageQuery {
  readonly filter: Omit<RunFilter, 'actor' | 'kind' | 'before' | 'limit'>;
  readonly before: string | undefined;
  readonly limit: number;
}

const pageOf = async (journal: Journal, actor: Actor, { filter, before, limit }: PageQuery) => {
  const from = before?.toLowerCase();
  // After one that is not there nothing follows, which would look like the end.
  if (from !== undefined && (await journal.get(actor, from))?.kind !== RUN_KIND) throw runErrors.not_found(from);
  const found = await journal.list({ ...filter, actor, kind: RUN_KIND, limit: limit + 1, ...(from === undefined ? {} : { before: from }) });
  const runs = found.slice(0, limit);
  const steps = await journal.stepsOf(
    actor,
    runs.map(({ id }) => id),
  );
  return { runs, next: found.length > limit ? (runs.at(-1)?.id ?? null) : null, stepsOf: (run: JournalRun) => steps.get(run.id) ?? [] };
};

/** Throws `run_invalid_time`. */
const timeOf = (text: string): string => {
  const ms = timeOfText(text);
  if (ms === undefined) throw runErrors.invalid_time(text);
  return new Date(ms).toISOString();
};
