/** Where providers are reached. */
import { anyOfFields, Nullable, OneOf, reply, type RouteDecl, TextOf, Type } from '@svc/api';
import { BASE_URL, PROXY_URL } from '../addresses/base-url.js';
import { byAdmins, Name, type RoutesDeps, route, shownRecord, fieldOf } from './provider-shown.js';

export const urlRoutes = (deps: RoutesDeps): RouteDecl[] => [setProviderUrl(deps), removeProviderUrl(deps)];

const UrlBody = Type.Object(
  {
    url: Type.Optional(TextOf(BASE_URL, { maxLength: 2_000, description: 'http or https, without user name, query or fragment' })),
    base_url: Type.Optional(TextOf(BASE_URL, { maxLength: 2_000, description: 'The same, by its other name' })),
    create: Type.Optional(Type.Boolean({ description: 'Add an OpenAI-compatible provider of this name if it does not exist' })),
    proxy_url: Type.Optional(
      TextOf(PROXY_URL, {
        maxLength: 2_000,
        description: 'The proxy that leads there, as http://host:port, https://host:port or socks5://host:port, without a login; empty for none of its own. Left out, it stays',
      }),
    ),
  },
  anyOfFields('url', 'base_url'),
);

const setProviderUrl = ({ providers, reach }: RoutesDeps): RouteDecl =>
  route({
    ...byAdmins,
    id: 'setProviderUrl',
    method: 'PUT',
    path: '/api/providers/{name}/url',
    summary: "Set a provider's base URL",
    description:
      'Applies from the next call and overrides config.toml. Trailing slashes are removed; a host without a path gets the `/v1` of its protocol. The address is checked once, for at most three seconds and without the key, and stored in either case.\n\nA provider without a `proxy_url` uses the proxy under [provider_proxy_urls], then [proxy] in config.toml, then HTTPS_PROXY and HTTP_PROXY of the environment.\n\nA provider on this machine needs no key; one elsewhere does, under the variable `<NAME>_API_KEY` or by POST …/key.',
    audit: 'provider_url_set',
    params: Name,
    body: UrlBody,
    examples: {
      'A gateway in front of a provider': { url: 'https://gateway.example.com/openai/v1' },
      'Ollama on another port': { url: 'http://127.0.0.1:11500' },
      'Through the proxy of a company': { url: 'https://api.openai.com/v1', proxy_url: 'http://proxy.example.com:3128' },
      'A server of your own': { url: 'http://127.0.0.1:9000/v1', create: true },
    },
    errors: [404, 409],
    responses: {
      200: Type.Object({
        status: OneOf(['saved']),
        provider: Type.String(),
        base_url: Type.String(),
        reachable: Type.Boolean({ description: 'Whether anything answered there' }),
        latency_ms: Type.Integer(),
        discovered_models: Type.Optional(Type.Array(Type.String(), { description: 'Models that it lists without a key' })),
        message: Type.Optional(Type.String({ description: 'The error of the response' })),
      }),
    },
    handler: async ({ params: { name }, body, signal }) => {
      const baseUrl = await providers.setUrl(name, fieldOf(body, 'url', 'base_url') ?? '', { create: body.create === true, proxy: body.proxy_url });
      const listing = await reach.ask(await shownRecord(providers, name), signal);
      return reply(200, {
        status: 'saved',
        provider: name,
        base_url: baseUrl,
        reachable: listing !== undefined && listing.kind !== 'silent',
        latency_ms: listing?.latencyMs ?? 0,
        ...(listing?.kind === 'listed' ? { discovered_models: listing.models.map(({ id }) => id) } : {}),
        ...(listing && listing.kind !== 'listed' && listing.kind !== 'refused' ? { message: listing.error } : {}),
      });
    },
  });

const removeProviderUrl = ({ providers }: RoutesDeps): RouteDecl =>
  route({
    ...byAdmins,
    id: 'removeProviderUrl',
    method: 'DELETE',
    path: '/api/providers/{name}/url',
    summary: "Reset a provider's base URL",
    description: 'Removes the address saved by PUT …/url or POST …/key. A custom provider is removed with its key; agents that use it fail from then on.',
    audit: 'provider_url_removed',
    params: Name,
    errors: [404, 409, 503],
    responses: {
      200: Type.Object({ status: OneOf(['removed']), provider: Type.String(), base_url: Nullable(Type.String(), { description: 'The current base URL; null if the provider was removed' }) }),
    },
    handler: async ({ params: { name } }) => reply(200, { status: 'removed', provider: name, base_url: (await providers.removeUrl(name)).baseUrl }),
  });
