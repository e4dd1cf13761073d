import { type Clock, defineRoute, type ExtensionContext, OneOf, reply, type RouteDecl, Type } from '@svc/api';
import type { ModelsService } from '@svc/ext-models/contract';
import type { LocalServers } from './local-servers.js';
import type { DefaultModel, ProviderRecord } from './contract.js';
import { providerErrors } from './errors.js';
import type { ProvidersControl } from './service.js';

/** A new base URL is asked once whether anything answers; the answer does not decide whether it is saved. */
const REACH_DEADLINE_MS = 3_000;

export interface RoutesDeps {
  providers: ProvidersControl;
  models: ModelsService;
  local: LocalServers;
  fetch: ExtensionContext['fetch'];
  clock: Clock;
}

const Provider = Type.Object(
  {
    name: Type.String(),
    display_name: Type.String(),
    auth_status: OneOf(['configured', 'no_key_needed', 'missing', 'invalid_key', 'auto_detected', 'local_offline']),
    env_var: Type.Optional(Type.String({ description: 'Left out where no key is needed' })),
    base_url: Type.String(),
    model_count: Type.Integer(),
    key_required: Type.Boolean(),
    wire: OneOf(['openai', 'anthropic', 'builtin', 'unsupported']),
    default_model: Type.Optional(Type.String()),
    is_default: Type.Boolean({ description: 'Whether it answers for `default`' }),
    error_message: Type.Optional(Type.String({ description: 'Why nobody can tell whether there is a key' })),
  },
  { $id: 'Provider' },
);

const Default = Type.Object(
  {
    provider: Type.String(),
    model: Type.String(),
    why: Type.String(),
    chosen_by: OneOf(['config', 'person', 'key', 'start']),
    chosen_at: Type.Union([Type.String(), Type.Null()], { description: 'When it was chosen and kept' }),
    problem: Type.Union([Type.String(), Type.Null()], { description: 'Why it cannot answer at the moment' }),
  },
  { $id: 'DefaultModel' },
);

const Name = Type.Object({ name: Type.String({ minLength: 1, maxLength: 64 }) });
const NotFound = { description: 'No such provider', contentType: 'application/json' };
const BadRequest = { description: 'What was sent cannot be used', contentType: 'application/json' };

export const providerRoutes = (deps: RoutesDeps): RouteDecl[] => [listRoute(deps), getRoute(deps), setKeyRoute(deps), removeKeyRoute(deps), setUrlRoute(deps), setDefaultRoute(deps)];

const viewDefault = ({ provider, model, why, chosen_by, chosen_at, trouble }: DefaultModel) => ({ provider, model, why, chosen_by, chosen_at, problem: trouble });

/** While nobody can tell which provider has a key, the list says so with each of them and stands all the same. */
const defaultOrNull = async (providers: ProvidersControl): Promise<DefaultModel | null> => {
  const shown = await providers.shownDefault();
  return shown.problem === null ? shown : null;
};

const view = (record: ProviderRecord, modelCount: number, chosen: DefaultModel | null) => ({
  name: record.name,
  display_name: record.display_name,
  auth_status: record.auth_status,
  ...(record.key_required && record.env_var !== null ? { env_var: record.env_var } : {}),
  base_url: record.base_url,
  model_count: modelCount,
  key_required: record.key_required,
  wire: record.wire,
  ...(record.default_model === null ? {} : { default_model: record.default_model }),
  is_default: chosen?.provider === record.name,
  ...(record.problem === null ? {} : { error_message: record.problem }),
});

const listRoute = ({ providers, models, local }: RoutesDeps): RouteDecl =>
  defineRoute({
    id: 'listProviders',
    method: 'GET',
    path: '/api/providers',
    summary: 'Model providers and whether each can be used',
    auth: 'bearer',
    permission: 'providers.read',
    cost: 1,
    responses: { 200: Type.Object({ providers: Type.Array(Provider), total: Type.Integer(), default: Type.Union([Default, Type.Null()]) }) },
    handler: async () => {
      // Looks for local servers, so that the list tells what is on and what is off.
      await local.answering();
      const [records, all, chosen] = await Promise.all([providers.list(), models.list(), defaultOrNull(providers)]);
      const counts = new Map<string, number>();
      for (const model of all) counts.set(model.provider, (counts.get(model.provider) ?? 0) + 1);
      return reply(200, { providers: records.map((record) => view(record, counts.get(record.name) ?? 0, chosen)), total: records.length, default: chosen && viewDefault(chosen) });
    },
  });

const getRoute = ({ providers, models }: RoutesDeps): RouteDecl =>
  defineRoute({
    id: 'getProvider',
    method: 'GET',
    path: '/api/providers/{name}',
    summary: 'One provider with its models',
    auth: 'bearer',
    permission: 'providers.read',
    cost: 1,
    params: Name,
    responses: { 200: Type.Intersect([Provider, Type.Object({ models: Type.Array(Type.Unknown()) })]), 404: NotFound },
    handler: async ({ params }) => {
      const record = await providers.get(params.name);
      if (!record) throw providerErrors.not_found(params.name);
      const owned = await models.list({ provider: record.name });
      return reply(200, { ...view(record, owned.length, await defaultOrNull(providers)), models: owned });
    },
  });

const setKeyRoute = ({ providers }: RoutesDeps): RouteDecl =>
  defineRoute({
    id: 'setProviderKey',
    method: 'POST',
    path: '/api/providers/{name}/key',
    summary: "Keep a provider's key; it holds for the next call",
    auth: 'bearer',
    permission: 'providers.admin',
    cost: 5,
    audit: 'provider.key_set',
    params: Name,
    body: Type.Object({
      api_key: Type.Optional(Type.String({ maxLength: 8192, description: 'The key; never given back' })),
      key: Type.Optional(Type.String({ maxLength: 8192, description: 'The same, by its other name' })),
    }),
    responses: {
      200: Type.Object({
        status: Type.Literal('configured'),
        provider: Type.String(),
        switched_default: Type.Optional(Type.Boolean()),
        default_model: Type.Optional(Type.String()),
        message: Type.Optional(Type.String()),
      }),
      400: BadRequest,
      404: NotFound,
    },
    handler: async ({ params, body }) => {
      const { switchedDefault } = await providers.setKey(params.name, body.api_key ?? body.key ?? '');
      const answer = { status: 'configured', provider: params.name };
      if (!switchedDefault) return reply(200, answer);
      return reply(200, { ...answer, switched_default: true, default_model: switchedDefault.model, message: switchedDefault.why });
    },
  });

const removeKeyRoute = ({ providers }: RoutesDeps): RouteDecl =>
  defineRoute({
    id: 'removeProviderKey',
    method: 'DELETE',
    path: '/api/providers/{name}/key',
    summary: "Forget a provider's kept key",
    auth: 'bearer',
    permission: 'providers.admin',
    cost: 5,
    audit: 'provider.key_removed',
    params: Name,
    responses: { 200: Type.Object({ status: Type.Literal('removed'), provider: Type.String() }), 400: BadRequest, 404: NotFound },
    handler: async ({ params }) => {
      await providers.removeKey(params.name);
      return reply(200, { status: 'removed', provider: params.name });
    },
  });

const setUrlRoute = ({ providers, fetch, clock }: RoutesDeps): RouteDecl =>
  defineRoute({
    id: 'setProviderUrl',
    method: 'PUT',
    path: '/api/providers/{name}/url',
    summary: 'Reach a provider somewhere else',
    auth: 'bearer',
    permission: 'providers.admin',
    cost: 5,
    audit: 'provider.url_set',
    params: Name,
    body: Type.Object({ url: Type.Optional(Type.String({ maxLength: 2000 })), base_url: Type.Optional(Type.String({ maxLength: 2000, description: 'The same, by its other name' })) }),
    responses: {
      200: Type.Object({ status: Type.Literal('saved'), provider: Type.String(), base_url: Type.String(), reachable: Type.Boolean(), latency_ms: Type.Integer() }),
      400: BadRequest,
      404: NotFound,
    },
    handler: async ({ params, body, log, signal }) => {
      const baseUrl = await providers.setUrl(params.name, body.url ?? body.base_url ?? '');
      const startedAt = clock.mono();
      const reachable = await fetch(`${baseUrl}/models`, { purpose: 'model', timeoutMs: REACH_DEADLINE_MS, signal }).then(
        (response) => {
          // Any answer will do: without the key it is usually a 401.
          response.cancel();
          return true;
        },
        (error: unknown) => {
          log.info('the new base URL does not answer', { provider: params.name, error: String(error) });
          return false;
        },
      );
      return reply(200, { status: 'saved', provider: params.name, base_url: baseUrl, reachable, latency_ms: Math.round(clock.mono() - startedAt) });
    },
  });

const setDefaultRoute = ({ providers }: RoutesDeps): RouteDecl =>
  defineRoute({
    id: 'setDefaultProvider',
    method: 'POST',
    path: '/api/providers/{name}/default',
    summary: 'Let this provider answer for `default`',
    auth: 'bearer',
    permission: 'providers.admin',
    cost: 5,
    audit: 'provider.default_set',
    params: Name,
    body: Type.Object({ model: Type.Optional(Type.String({ maxLength: 200, description: 'Its usual one when left out' })) }),
    bodyRule: 'optional',
    responses: { 200: Default, 400: BadRequest, 404: NotFound, 409: { description: 'config.toml names the default', contentType: 'application/json' } },
    handler: async ({ params, body }) => reply(200, viewDefault(await providers.setDefault(params.name, body.model ?? ''))),
  });
