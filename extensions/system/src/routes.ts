/** Routes of the daemon itself. */
import { ErrorBody, type HookHandle, type MetricsCollect, type RouteDecl, type RouteSpec, type Timers, Type, bytes, defineRoute, reply } from '@svc/api';
import { Health, HealthDetail, OpenApiDocument, Ready, ShuttingDown, Status, Version, Versions } from './answers.js';
import { renderMetrics } from './metrics.js';
import { API_VERSIONS, type StatusDeps, health, healthDetail, status, uptimeSeconds } from './status.js';

export interface SystemDeps extends StatusDeps {
  readonly metrics: HookHandle<typeof MetricsCollect>;
  readonly timers: Timers;
}

type Get = Pick<RouteSpec<undefined, undefined, undefined>, 'id' | 'path' | 'summary' | 'description' | 'headers' | 'responses' | 'handler'>;

const get = (spec: Get, rest: Partial<Pick<RouteDecl, 'auth' | 'cost' | 'repairs'>> = {}): RouteDecl =>
  defineRoute({ method: 'GET', auth: 'bearer', permission: 'system.read', cost: 1, ...spec, ...rest });

/** How long the answer to a shutdown has to leave before the server stops. */
const SHUTDOWN_DELAY_MS = 50;

export const systemRoutes = (deps: SystemDeps): RouteDecl[] => [...publicRoutes(deps), ...versionRoutes(deps), ...operatorRoutes(deps)];

const publicRoutes = (deps: SystemDeps): RouteDecl[] => [
  get(
    {
      id: 'getHealth',
      path: '/api/health',
      summary: 'Check whether the daemon is alive',
      description: 'Needs no key, and says no more than anybody may know. `degraded` means that it works, but something in it does not: `GET /api/health/detail` tells what.',
      responses: { 200: Health },
      handler: async () => reply(200, await health(deps)),
    },
    { auth: 'public' },
  ),
  get(
    {
      id: 'getReadiness',
      path: '/api/ready',
      summary: 'Check whether the daemon is ready',
      description: 'For whoever sends it work: 503 while it starts or stops. Needs no key.',
      responses: { 200: Ready, 503: Type.Union([Ready, ErrorBody]) },
      handler: async () => reply(deps.kernel.ready() ? 200 : 503, { status: deps.kernel.ready() ? 'ready' : 'not_ready', checks: [] }),
    },
    { auth: 'public' },
  ),
];

const versionRoutes = (deps: SystemDeps): RouteDecl[] => [
  get({
    id: 'getVersion',
    path: '/api/version',
    summary: "Get the daemon's version",
    description: 'What runs, and on what.',
    responses: { 200: Version },
    handler: async () => {
      const { runtime_version, platform, arch } = deps.kernel.facts();
      return reply(200, { name: 'svc', version: deps.kernel.version, build_date: 'dev', git_sha: 'unknown', runtime_version, platform, arch, api: API_VERSIONS });
    },
  }),
  get({
    id: 'listVersions',
    path: '/api/versions',
    summary: 'List API versions',
    description: 'Versions that this daemon speaks. One is asked for by a prefix of the path, `/api/v1/…`, or by `Accept`; without either it is the current one.',
    responses: { 200: Versions },
    handler: async () => reply(200, { ...API_VERSIONS, details: [{ version: 'v1', status: 'stable', url_prefix: '/api/v1' }] }),
  }),
  get({
    id: 'getOpenapi',
    path: '/api/openapi.json',
    summary: 'Get the OpenAPI 3.1 document',
    description:
      'Describes what is mounted now: operations of areas that are off are not in it. It has an `ETag`: send it back as `If-None-Match` and get 304 while nothing has changed. The page at `/docs` shows it.',
    headers: Type.Object({ 'If-None-Match': Type.Optional(Type.String({ description: 'The ETag of the document that the caller has' })) }),
    responses: { 200: OpenApiDocument, 304: Type.Null({ description: 'It is still what If-None-Match names' }) },
    handler: async ({ headers }) => {
      const { etag, document } = deps.kernel.openapi();
      // May be kept, but is asked for again each time: areas come and go.
      const caching = { etag, 'cache-control': 'private, no-cache' };
      return headers['if-none-match'] === etag ? reply(304, undefined, caching) : reply(200, document, caching);
    },
  }),
];

const operatorRoutes = (deps: SystemDeps): RouteDecl[] => [
  get(
    {
      id: 'getHealthDetail',
      path: '/api/health/detail',
      summary: 'Get health details',
      description:
        'Each check with its cause, the findings of `svc doctor`, and the extensions that are not as they should be. Answers owners and admins also while the API is shut because a security area is missing.',
      responses: { 200: HealthDetail },
      handler: async (req) => reply(200, await healthDetail(deps, req.actor)),
    },
    { repairs: true },
  ),
  get({
    id: 'getStatus',
    path: '/api/status',
    summary: 'Get status',
    description: 'What the command `svc status` shows: who answers for the default model and why, where things are, the agents that the caller may see, and every problem in one sentence each.',
    responses: { 200: Status },
    handler: async (req) => reply(200, await status(deps, req.actor)),
  }),
  get({
    id: 'getMetrics',
    path: '/api/metrics',
    summary: 'Get metrics (Prometheus)',
    description:
      'Counters begin at the start of the daemon; what is of the last hour or of today is read from the database. Lines that tell of single agents, and what was spent, are shown to owners and admins only.',
    responses: { 200: { description: 'Prometheus text format 0.0.4', contentType: 'text/plain' } },
    handler: async ({ actor }) => {
      const { contentType, text } = await renderMetrics(deps.kernel, deps.metrics, uptimeSeconds(deps), actor);
      return bytes(200, contentType, text);
    },
  }),
  shutdownRoute(deps),
];

const shutdownRoute = (deps: SystemDeps): RouteDecl => {
  let isGoing = false;
  return defineRoute({
    id: 'shutDownDaemon',
    method: 'POST',
    path: '/api/shutdown',
    summary: 'Shut down the daemon',
    description: 'Answers, then stops in order: what runs is written down and goes on at the next start. Whoever follows a stream is told to come back.',
    auth: 'bearer',
    permission: 'kernel.admin',
    cost: 5,
    audit: 'daemon_shut_down',
    responses: { 200: ShuttingDown },
    handler: async (req) => {
      deps.log.info('shutdown requested over the API', { actor: req.actor.id });
      if (!isGoing) deps.timers.after('shut-down', SHUTDOWN_DELAY_MS, () => deps.kernel.shutdown('requested over the API'));
      isGoing = true;
      return reply(200, { status: 'shutting_down' });
    },
  });
};
