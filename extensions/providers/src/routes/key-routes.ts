/** Keys of providers: they come in, and never go out. */
import { anyOfFields, OneOf, reply, type RouteDecl, TextOf, Type } from '@svc/api';
import { BASE_URL } from '../addresses/base-url.js';
import { PROVIDER_KEY, wellFormedKey } from '../changes/keys.js';
import { byAdmins, Name, type RoutesDeps, route, shownRecord, fieldOf } from './provider-shown.js';
import { runTest, TestResult } from './test-routes.js';

export const keyRoutes = (deps: RoutesDeps): RouteDecl[] => [setProviderKey(deps), removeProviderKey(deps), enableProvider(deps)];

const KeyBody = Type.Object(
  {
    api_key: Type.Optional(TextOf(PROVIDER_KEY, { maxLength: 8_192, description: 'The key; never returned. Surrounding spaces are removed' })),
    key: Type.Optional(TextOf(PROVIDER_KEY, { maxLength: 8_192, description: 'The same, by its other name' })),
    url: Type.Optional(TextOf(BASE_URL, { maxLength: 2_000, description: 'The base URL. With a new name, this adds an OpenAI-compatible provider' })),
    base_url: Type.Optional(TextOf(BASE_URL, { maxLength: 2_000, description: 'The same, by its other name' })),
    label: Type.Optional(Type.String({ maxLength: 32, description: 'One of the keys listed under [[credential_pools]], instead of the own key of the provider' })),
    verify: Type.Optional(Type.Boolean({ description: 'Test the key immediately; it is stored in either case' })),
  },
  anyOfFields('api_key', 'key'),
);

const setProviderKey = (deps: RoutesDeps): RouteDecl =>
  route({
    ...byAdmins,
    id: 'setProviderKey',
    method: 'POST',
    path: '/api/providers/{name}/key',
    summary: "Set a provider's key",
    description:
      'The key is stored encrypted in the vault and never returned. It overrides a key in the environment. If there was no default model, this provider becomes the default (`switched_default`); a second key does not change the default.\n\nWith `verify` or `?test=true`, the key is tested immediately; `test` has the result.',
    audit: 'provider_key_set',
    auditCategory: 'secrets',
    params: Name,
    query: Type.Object({ test: Type.Optional(OneOf(['1', 'true', '0', 'false'], { description: 'As `verify` in the body' })) }),
    body: KeyBody,
    examples: {
      'A key for a provider': { api_key: 'YOUR-KEY' },
      'A key that is tested immediately': { api_key: 'YOUR-KEY', verify: true },
      'One of several keys': { api_key: 'YOUR-KEY', label: 'second' },
      'A provider of your own, with its address': { api_key: 'YOUR-KEY', url: 'https://llm.example.com/v1' },
    },
    errors: [400, 404, 409, 503],
    responses: {
      200: Type.Object({
        status: OneOf(['configured']),
        provider: Type.String(),
        switched_default: Type.Optional(Type.Boolean()),
        default_model: Type.Optional(Type.String()),
        message: Type.Optional(Type.String()),
        test: Type.Optional(TestResult),
      }),
    },
    handler: async ({ params: { name }, query, body, signal }) => {
      const key = wellFormedKey(fieldOf(body, 'api_key', 'key') ?? '');
      const url = fieldOf(body, 'url', 'base_url');
      // First where, then with what: a key whose provider is refused was never kept.
      if (url !== undefined) await deps.providers.setUrl(name, url, { create: true });
      const { switchedDefault } = await deps.providers.setKey(name, key, body.label);
      const test = body.verify === true || query.test === '1' || query.test === 'true' ? await runTest(deps, await shownRecord(deps.providers, name), undefined, signal) : undefined;
      const answer = { status: 'configured' as const, provider: name, ...(test ? { test } : {}) };
      if (!switchedDefault) return reply(200, answer);
      return reply(200, { ...answer, switched_default: true, default_model: switchedDefault.model, message: switchedDefault.why });
    },
  });

const removeProviderKey = ({ providers }: RoutesDeps): RouteDecl =>
  route({
    ...byAdmins,
    id: 'removeProviderKey',
    method: 'DELETE',
    path: '/api/providers/{name}/key',
    summary: "Delete a provider's key",
    description:
      "Agents on this provider switch to their fallback models, or fail. A key in the daemon's environment is no longer used: `suppressed` and `message` show this, and POST …/enable or a new key change it back. Removing a key twice is not an error.",
    audit: 'provider_key_removed',
    auditCategory: 'secrets',
    params: Name,
    query: Type.Object({ label: Type.Optional(Type.String({ maxLength: 32, description: 'One of the keys listed under [[credential_pools]], instead of the own key of the provider' })) }),
    errors: [400, 404, 409, 503],
    responses: { 200: Type.Object({ status: OneOf(['removed']), provider: Type.String(), suppressed: Type.Optional(Type.Boolean()), message: Type.Optional(Type.String()) }) },
    handler: async ({ params: { name }, query: { label } }) => {
      const { suppressed, envVar } = await providers.removeKey(name, label);
      const answer = { status: 'removed' as const, provider: name };
      if (!suppressed) return reply(200, answer);
      const message = `${envVar ?? 'A variable'} in the environment of the daemon holds a key too. It is not used until you set a key or call POST /api/providers/${name}/enable.`;
      return reply(200, { ...answer, suppressed, message });
    },
  });

const enableProvider = ({ providers }: RoutesDeps): RouteDecl =>
  route({
    ...byAdmins,
    id: 'enableProvider',
    method: 'POST',
    path: '/api/providers/{name}/enable',
    summary: "Use the environment's key again",
    description: "Uses the environment's key again after DELETE …/key. Has no effect on a provider that is not `suppressed`.",
    audit: 'provider_enabled',
    params: Name,
    errors: [400, 404, 409],
    responses: { 200: Type.Object({ status: OneOf(['enabled']), provider: Type.String(), auth_status: Type.String() }) },
    handler: async ({ params: { name } }) => reply(200, { status: 'enabled', provider: name, auth_status: (await providers.enable(name)).auth_status }),
  });
