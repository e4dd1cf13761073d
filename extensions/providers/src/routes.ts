import { defineRoute, ErrorBody, Nullable, OneOf, reply, type RouteDecl, Type } from '@svc/api';
import type { CatalogModel, ModelsService } from '@svc/ext-models/contract';
import type { LocalServers } from './addresses/local-servers.js';
import type { DefaultModel, ProviderRecord } from './contract.js';
import type { ProviderEntry } from './directory.js';
import { providerErrors } from './errors.js';
import type { Reach } from './addresses/reach.js';
import type { ProvidersControl } from './service.js';
import { Provider, ProviderDetail, viewOf } from './views.js';

export interface RoutesDeps {
  providers: ProvidersControl;
  models: ModelsService;
  local: LocalServers;
  reach: Reach;
  /** The shipped providers. */
  known: () => Promise<readonly ProviderEntry[]>;
}

const Default = Type.Object(
  {
    provider: Type.String(),
    model: Type.String(),
    why: Type.String(),
    chosen_by: OneOf(['config', 'person', 'key', 'start']),
    chosen_at: Nullable(Type.String(), { description: 'When it was chosen and kept' }),
    problem: Nullable(Type.String(), { description: 'Why it cannot answer at the moment' }),
  },
  { 'x-name': 'DefaultModel' },
);

const Name = Type.Object({ name: Type.String({ minLength: 1, maxLength: 64 }) });

export const providerRoutes = (deps: RoutesDeps): RouteDecl[] => [listRoute(deps), getRoute(deps), setKeyRoute(deps), removeKeyRoute(deps), setUrlRoute(deps), setDefaultRoute(deps)];

const viewDefault = ({ provider, model, why, chosen_by, chosen_at, trouble }: DefaultModel) => ({ provider, model, why, chosen_by, chosen_at, problem: trouble });

/** While nobody can tell which provider has a key, the list says so with each of them and stands all the same. */
const defaultOrNull = async (providers: ProvidersControl): Promise<DefaultModel | null> => {
  const shown = await providers.shownDefault();
  return shown.problem === null ? shown : null;
};

const viewer = async ({ providers, models, known, reach }: RoutesDeps) => {
  const [usable, all, shipped, chosen] = await Promise.all([providers.usable(), models.list(), known(), defaultOrNull(providers)]);
  const owned = new Map<string, CatalogModel[]>();
  for (const model of all) owned.set(model.provider, [...(owned.get(model.provider) ?? []), model]);
  const names = new Set(shipped.map(({ name }) => name));
  const modelsOf = (name: string): CatalogModel[] => owned.get(name) ?? [];
  const view = (record: ProviderRecord) =>
    viewOf(record, {
      models: modelsOf(record.name),
      isShipped: names.has(record.name),
      isUsable: usable.includes(record.name),
      isDefault: chosen?.provider === record.name,
      tested: reach.lastOf(record),
    });
  return { modelsOf, view, chosen };
};

const listRoute = (deps: RoutesDeps): RouteDecl =>
  defineRoute({
    id: 'listProviders',
    method: 'GET',
    path: '/api/providers',
    summary: 'Model providers and whether each can be used',
    auth: 'bearer',
    permission: 'providers.read',
    cost: 1,
    responses: { 200: Type.Object({ providers: Type.Array(Provider), total: Type.Integer(), default: Nullable(Default, { description: 'Who answers for `default`; null where nobody can tell' }) }) },
    handler: async () => {
      // Looks for local servers, so that the list tells what is on and what is off.
      await deps.local.answering();
      const [records, { view, chosen }] = await Promise.all([deps.providers.list(), viewer(deps)]);
      return reply(200, { providers: records.map(view), total: records.length, default: chosen && viewDefault(chosen) });
    },
  });

const getRoute = (deps: RoutesDeps): RouteDecl =>
  defineRoute({
    id: 'getProvider',
    method: 'GET',
    path: '/api/providers/{name}',
    summary: 'One provider with its models',
    auth: 'bearer',
    permission: 'providers.read',
    cost: 1,
    params: Name,
    responses: { 200: ProviderDetail, 404: ErrorBody },
    handler: async ({ params }) => {
      const [records, { modelsOf, view }] = await Promise.all([deps.providers.list(), viewer(deps)]);
      const record = records.find(({ name }) => name === params.name);
      if (!record) throw providerErrors.not_found(params.name);
      return reply(200, { ...view(record), models: modelsOf(record.name) });
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
    audit: 'provider_key_set',
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
      400: ErrorBody,
      404: ErrorBody,
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
    audit: 'provider_key_removed',
    params: Name,
    responses: { 200: Type.Object({ status: Type.Literal('removed'), provider: Type.String() }), 400: ErrorBody, 404: ErrorBody },
    handler: async ({ params }) => {
      await providers.removeKey(params.name);
      return reply(200, { status: 'removed', provider: params.name });
    },
  });

const setUrlRoute = ({ providers, reach }: RoutesDeps): RouteDecl =>
  defineRoute({
    id: 'setProviderUrl',
    method: 'PUT',
    path: '/api/providers/{name}/url',
    summary: 'Reach a provider somewhere else',
    auth: 'bearer',
    permission: 'providers.admin',
    cost: 5,
    audit: 'provider_url_set',
    params: Name,
    body: Type.Object({ url: Type.Optional(Type.String({ maxLength: 2000 })), base_url: Type.Optional(Type.String({ maxLength: 2000, description: 'The same, by its other name' })) }),
    responses: {
      200: Type.Object({ status: Type.Literal('saved'), provider: Type.String(), base_url: Type.String(), reachable: Type.Boolean(), latency_ms: Type.Integer() }),
      400: ErrorBody,
      404: ErrorBody,
    },
    handler: async ({ params, body, log, signal }) => {
      const baseUrl = await providers.setUrl(params.name, body.url ?? body.base_url ?? '');
      const { reachable, latencyMs } = await reach.ask(baseUrl, log, signal);
      return reply(200, { status: 'saved', provider: params.name, base_url: baseUrl, reachable, latency_ms: latencyMs });
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
    audit: 'provider_default_set',
    params: Name,
    body: Type.Object({ model: Type.Optional(Type.String({ maxLength: 200, description: 'Its usual one when left out' })) }),
    bodyRule: 'optional',
    responses: { 200: Default, 400: ErrorBody, 404: ErrorBody, 409: ErrorBody },
    handler: async ({ params, body }) => reply(200, viewDefault(await providers.setDefault(params.name, body.model ?? ''))),
  });
