/** Does it answer? Providers by name, and whatever model servers this machine has. */
import { Nullable, OneOf, reply, type RouteDecl, Type } from '@svc/api';
import type { ProviderRecord } from '../contract.js';
import { type TestOutcome, testProvider } from '../probe/provider-test.js';
import { byAdmins, Name, type RoutesDeps, route, shownRecord } from './provider-shown.js';

export const testRoutes = (deps: RoutesDeps): RouteDecl[] => [test(deps), detect(deps)];

export const TestResult = Type.Object(
  {
    status: OneOf(['ok', 'error'], { description: '`error`: the provider does not answer, refuses the key, or does not serve the model' }),
    provider: Type.String(),
    latency_ms: Type.Integer({ description: 'How long its answer took' }),
    model_tested: Nullable(Type.String(), { description: 'The requested model; otherwise the cheapest listed model of the catalog, or the first listed one' }),
    error: Type.Optional(Type.String({ description: 'The problem and the fix' })),
    auth_status: Type.String({ description: 'Of the provider, after the test' }),
    models_listed: Type.Optional(Type.Array(Type.String(), { description: 'Models that it lists, by its own names; at most 2,000 of them' })),
  },
  { 'x-name': 'ProviderTest' },
);

const MAX_LISTED = 2_000;

/** Asks, keeps what was found out, and tells. */
export const runTest = async ({ providers, reach, testing }: RoutesDeps, record: ProviderRecord, model: string | undefined, signal: AbortSignal) => {
  const mark = providers.keyMark(record.name);
  const outcome = await testProvider(testing, record, model, signal);
  await keep({ providers, reach }, record, outcome, mark);
  const after = await providers.get(record.name);
  return {
    status: outcome.error === null ? ('ok' as const) : ('error' as const),
    provider: record.name,
    latency_ms: outcome.latencyMs,
    model_tested: outcome.model,
    ...(outcome.error === null ? {} : { error: outcome.error }),
    auth_status: (after ?? record).auth_status,
    ...(outcome.listing?.kind === 'listed' ? { models_listed: outcome.listing.models.slice(0, MAX_LISTED).map(({ id }) => id) } : {}),
  };
};

const keep = async ({ providers, reach }: Pick<RoutesDeps, 'providers' | 'reach'>, record: ProviderRecord, { listing, error }: TestOutcome, mark: number): Promise<void> => {
  if (!listing) return;
  await reach.note(record, listing, error);
  if (listing.kind === 'refused') await providers.noteVerdict(record.name, 'refused', mark);
  if (listing.kind === 'listed') await providers.noteVerdict(record.name, 'validated', mark);
};

const test = (deps: RoutesDeps): RouteDecl =>
  route({
    ...byAdmins,
    id: 'testProvider',
    method: 'POST',
    path: '/api/providers/{name}/test',
    summary: 'Test a provider',
    description:
      'Fetches its list of models with its key, for at most ten seconds. No model is called, so it is free. If the provider fails, the status is 200 with `status: error`; 400 means the test is not possible: no key, no address, or an unsupported protocol.\n\nModels listed by a custom provider are stored: they appear in GET /api/models with the source `local`, and agents can use them. The result for the key is stored as `auth_status`: `validated_key` or `invalid_key`.',
    cost: 20,
    params: Name,
    body: Type.Object({ model: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'A model that it should list' })) }),
    bodyRule: 'optional',
    examples: { 'Does it answer': {}, 'Does it serve this model': { model: 'gpt-5-mini' }, 'Has the local server this one': { model: 'qwen3:8b' } },
    errors: [400, 404, 409, 503],
    responses: { 200: TestResult },
    handler: async ({ params, body, signal }) => reply(200, await runTest(deps, await shownRecord(deps.providers, params.name), body.model, signal)),
  });

const LocalModel = Type.Object({ name: Type.String(), size: Nullable(Type.Integer(), { description: 'Bytes, if the server reports them' }), provider: Type.String() });

const LocalServerView = Type.Object(
  {
    provider: Type.String(),
    base_url: Type.String(),
    available: Type.Boolean({ description: 'Whether it answered with a list of models' }),
    models_count: Type.Integer(),
    latency_ms: Nullable(Type.Integer()),
    error: Type.Optional(Type.String()),
  },
  { 'x-name': 'LocalModelServer' },
);

const detect = ({ local }: RoutesDeps): RouteDecl =>
  route({
    id: 'discoverLocalModels',
    method: 'GET',
    path: '/api/providers/local-llm/detect',
    summary: 'Find local model servers',
    description:
      'Asks Ollama, LM Studio, vLLM and Lemonade at their default addresses, and custom servers on this machine, in parallel and for at most three seconds. The models they list are stored: GET /api/models shows them with the source `local`, and agents can use them. They stay until the server lists others. A server that is off, slow or invalid is reported under `servers` and keeps its models; the status is still 200.',
    cost: 5,
    responses: {
      200: Type.Object({
        available: Type.Boolean({ description: 'Whether any of them answered with a list of models' }),
        models: Type.Array(LocalModel),
        base_url: Type.String({ description: 'Of the first that answered, else of the first that was asked' }),
        servers: Type.Array(LocalServerView),
      }),
    },
    handler: async () => {
      const { servers, missed } = await local.detect();
      return reply(200, {
        available: servers.length > 0,
        models: servers.flatMap(({ name, listed }) => listed.map(({ id, size_bytes }) => ({ name: id, size: size_bytes, provider: name }))),
        base_url: servers[0]?.baseUrl ?? missed[0]?.baseUrl ?? '',
        servers: [
          ...servers.map(({ name, baseUrl, listed, latencyMs }) => ({ provider: name, base_url: baseUrl, available: true, models_count: listed.length, latency_ms: latencyMs })),
          ...missed.map(({ name, baseUrl, error }) => ({ provider: name, base_url: baseUrl, available: false, models_count: 0, latency_ms: null, error })),
        ],
      });
    },
  });
