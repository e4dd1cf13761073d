/** The sections that say who answers for `default`, where providers are reached, and who is tried after them. */
import { OneOf, type Plain, Type, defineConfig } from '@svc/api';
import { KEY_STRATEGIES } from './contract.js';

const closed = { additionalProperties: false };

/** An http or https URL without user name, query or fragment; empty where the usual place holds. */
const BASE_URL = '^(https?://[^\\s@?#/][^\\s@?#]*)?$';

const DefaultModelConfig = Type.Object(
  {
    provider: Type.String({ default: '', maxLength: 64, description: 'A provider name; empty or `auto` lets the daemon choose' }),
    model: Type.String({ default: '', maxLength: 200, description: "A model id; empty means the provider's default model" }),
    api_key_env: Type.String({ default: '', pattern: '^([A-Za-z_][A-Za-z0-9_]*)?$', description: 'The environment variable with its key, if it is not the usual one' }),
    base_url: Type.String({
      default: '',
      pattern: BASE_URL,
      maxLength: 2000,
      description: 'Base URL, if not the default one. With a name of your own, any OpenAI-compatible server',
    }),
  },
  closed,
);
export type DefaultModelConfig = Plain<typeof DefaultModelConfig>;

const ProviderUrls = Type.Record(Type.String(), Type.String({ pattern: BASE_URL, maxLength: 2000 }), { default: {}, description: 'Base URL by provider name' });
export type ProviderUrls = Plain<typeof ProviderUrls>;

/** Without a login: no file holds a password. */
const PROXY_URL = '^((https?|socks5h?)://[^\\s@/?#]+/?)?$';
const ProviderProxyUrls = Type.Record(Type.String(), Type.String({ pattern: PROXY_URL, maxLength: 2000 }), {
  default: {},
  description:
    'The proxy that leads to a provider, by its name, as http://host:port, https://host:port or socks5://host:port. It comes before [proxy] and the environment. A login is read from HTTPS_PROXY or HTTP_PROXY, where they name the same proxy',
  'x-by-hand': 'it says through whom keys and conversations go',
});
export type ProviderProxyUrls = Plain<typeof ProviderProxyUrls>;

const FallbackProviders = Type.Array(
  Type.Object(
    {
      provider: Type.String({ minLength: 1, maxLength: 64, description: 'A provider name' }),
      model: Type.String({ default: '', maxLength: 200, description: "A model id; empty means the provider's default model" }),
      api_key_env: Type.String({ default: '', pattern: '^([A-Za-z_][A-Za-z0-9_]*)?$', description: 'The environment variable with its key, if it is not the usual one' }),
      base_url: Type.String({ default: '', pattern: BASE_URL, maxLength: 2000, description: 'Base URL, if not the default one' }),
    },
    closed,
  ),
  { default: [], maxItems: 10, description: 'Tried in this order when the chosen model fails' },
);
export type FallbackProviders = Plain<typeof FallbackProviders>;

const CredentialPools = Type.Array(
  Type.Object(
    {
      provider: Type.String({ minLength: 1, maxLength: 64, description: 'A provider name, once' }),
      strategy: OneOf(KEY_STRATEGIES, {
        default: 'fill_first',
        description:
          'Which key is used next, of those that can be: `fill_first` the first, `round_robin` each in turn, `random`, or `least_used`. Among keys that were limited, the one limited longest ago',
      }),
      keys: Type.Array(
        Type.Object(
          {
            label: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,31}$', description: 'Its name in logs, errors and lists' }),
            api_key_env: Type.String({
              default: '',
              pattern: '^([A-Za-z_][A-Za-z0-9_]*)?$',
              description: 'The environment variable with the key; empty if it is stored in the vault under this label',
            }),
            priority: Type.Integer({ default: 0, minimum: -1_000, maximum: 1_000, description: 'Keys with a smaller number are used first' }),
          },
          closed,
        ),
        { minItems: 1, maxItems: 20, description: 'The keys, each with a label' },
      ),
    },
    closed,
  ),
  { default: [], maxItems: 50, description: 'Several keys for a provider, in addition to its own. If one is limited or refused, the next is used' },
);
export type CredentialPools = Plain<typeof CredentialPools>;

export const DefaultModelSection = defineConfig('default_model', DefaultModelConfig);
export const ProviderUrlsSection = defineConfig('provider_urls', ProviderUrls);
export const ProviderProxyUrlsSection = defineConfig('provider_proxy_urls', ProviderProxyUrls);
export const FallbackProvidersSection = defineConfig('/fallback_providers', FallbackProviders);
export const CredentialPoolsSection = defineConfig('/credential_pools', CredentialPools);
