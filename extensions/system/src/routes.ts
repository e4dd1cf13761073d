/** Routes of the daemon itself. */
import { ErrorBody, type HookHandle, type MetricsCollect, type Responses, type RouteDecl, type RouteSpec, type Timers, Type, bytes, defineRoute, reply } from '@svc/api';
import { Health, HealthDetail, OpenApiDocument, Ready, ShuttingDown, Status, Version, Versions } from './answers.js';
import { renderMetrics } from './metrics.js';
import { API_VERSIONS, NEGOTIATION, type StatusDeps, health, healthDetail, status, uptimeSeconds } from './status.js';

export interface SystemDeps extends StatusDeps {
  readonly metrics: HookHandle<typeof MetricsCollect>;
  readonly timers: Timers;
}

type Get<R extends Responses> = Pick<RouteSpec<undefined, undefined, undefined, R>, 'id' | 'path' | 'summary' | 'description' | 'headers' | 'responses' | 'handler'>;

const get = <R extends Responses>(spec: Get<R>, rest: Partial<Pick<RouteDecl, 'auth' | 'cost' | 'repairs'>> = {}): RouteDecl =>
  defineRoute<undefined, undefined, undefined, R>({ method: 'GET', auth: 'bearer', permission: 'system.read', cost: 1, ...spec, ...rest });

/** How long the answer to a shutdown has to leave before the server stops. */
const SHUTDOWN_DELAY_MS = 50;

export const systemRoutes = (deps: SystemDeps): RouteDecl[] => [...publicRoutes(deps), ...versionRoutes(deps), ...operatorRoutes(deps)];

const publicRoutes = (deps: SystemDeps): RouteDecl[] => [
  get(
    {
      id: 'getHealth',
      path: '/api/health',
      summary: 'Check whether the daemon is alive',
      description: 'Needs no key and returns only public information. `degraded` means that a part does not work: see `GET /api/health/detail`.',
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
      description: 'For load balancers: 503 while the daemon starts or stops. Needs no key.',
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
    description: 'The daemon, its extensions and its machine.',
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
    description: 'Supported API versions. Choose one with a path prefix, `/api/v1/…`, or with `Accept`; the default is the current one.',
    responses: { 200: Versions },
    handler: async () => reply(200, { ...API_VERSIONS, details: [{ version: 'v1', status: 'stable', url_prefix: '/api/v1' }], negotiation: NEGOTIATION }),
  }),
  get({
    id: 'getOpenapi',
    path: '/api/openapi.json',
    summary: 'Get the OpenAPI 3.1 document',
    description:
      'Describes the available operations; those of extensions that are off are not included. Send its `ETag` as `If-None-Match` to get 304 while nothing has changed. The page at `/docs` shows it.',
    headers: Type.Object({ 'If-None-Match': Type.Optional(Type.String({ description: 'The ETag of the document that the caller has' })) }),
    responses: { 200: OpenApiDocument, 304: Type.Null({ description: 'Not modified (If-None-Match)' }) },
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
        'Every check with its cause, the findings of `svc doctor`, and extensions with problems. Owners and admins can also call it while the API is closed because a security extension is missing.',
      responses: { 200: HealthDetail },
      handler: async (req) => reply(200, await healthDetail(deps, req.actor)),
    },
    { repairs: true },
  ),
  get({
    id: 'getStatus',
    path: '/api/status',
    summary: 'Get status',
    description: "The output of `svc status`: the default model and why it was chosen, locations, the caller's agents, and every problem in one sentence.",
    responses: { 200: Status },
    handler: async (req) => reply(200, await status(deps, req.actor)),
  }),
  get({
    id: 'getMetrics',
    path: '/api/metrics',
    summary: 'Get metrics (Prometheus)',
    description: 'Counters start with the daemon; figures of the last hour or today come from the database. Figures per agent and costs are visible to owners and admins only.',
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
    description: 'Responds, then shuts down gracefully: active runs are saved and continue at the next start. Stream clients are asked to reconnect.',
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
