/** Which providers there are, and who answers for `default`. */
import { Nullable, reply, type RouteDecl, Type } from '@svc/api';
import { modelOf, Provider, ProviderDetail } from '../views.js';
import { byAdmins, Default, Name, type RoutesDeps, route, shownRecord, viewDefault, viewer } from './provider-shown.js';

export const listRoutes = (deps: RoutesDeps): RouteDecl[] => [listProviders(deps), getProvider(deps), setDefaultProvider(deps)];

const listProviders = (deps: RoutesDeps): RouteDecl =>
  route({
    id: 'listProviders',
    method: 'GET',
    path: '/api/providers',
    summary: 'List providers',
    description:
      'Keys are never returned, only whether there is one. Local model servers are checked at most once a minute. Other providers are not contacted: `reachable` and `latency_ms` come from the last test or PUT …/url.',
    responses: { 200: Type.Object({ providers: Type.Array(Provider), total: Type.Integer(), default: Nullable(Default, { description: 'The default provider; null if unknown' }) }) },
    handler: async () => {
      // Looks for local servers, so that the list tells what is on and what is off.
      await deps.local.answering();
      const [records, { view, chosen }] = await Promise.all([deps.providers.list(), viewer(deps)]);
      return reply(200, { providers: records.map(view), total: records.length, default: chosen && viewDefault(chosen) });
    },
  });

const getProvider = (deps: RoutesDeps): RouteDecl =>
  route({
    id: 'getProvider',
    method: 'GET',
    path: '/api/providers/{name}',
    summary: 'Get a provider',
    description: 'As in the list, with its models: those of the catalog, custom models, and those that its server listed last. Makes no network requests.',
    params: Name,
    errors: [404],
    responses: { 200: ProviderDetail },
    handler: async ({ params }) => {
      const [record, { modelsOf, view }] = await Promise.all([shownRecord(deps.providers, params.name), viewer(deps)]);
      return reply(200, { ...view(record), models: modelsOf(record.name).map(modelOf) });
    },
  });

const setDefaultProvider = ({ providers }: RoutesDeps): RouteDecl =>
  route({
    ...byAdmins,
    id: 'setDefaultProvider',
    method: 'POST',
    path: '/api/providers/{name}/default',
    summary: 'Set the default provider',
    description:
      'Applies from the next call of every agent whose model is `default`, until someone changes it. Failing calls do not change it. A setting under [default_model] in config.toml takes precedence; the status is then 409.',
    audit: 'provider_default_set',
    params: Name,
    body: Type.Object({ model: Type.Optional(Type.String({ maxLength: 200, description: "Defaults to the provider's default model" })) }),
    bodyRule: 'optional',
    examples: { 'Its usual model': {}, 'One of its models': { model: 'claude-opus-4-7' }, 'A model of a server on this machine': { model: 'qwen3:8b' } },
    errors: [404, 409],
    responses: { 200: Default },
    handler: async ({ params, body }) => reply(200, viewDefault(await providers.setDefault(params.name, body.model ?? ''))),
  });
