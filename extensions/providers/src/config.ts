/** The sections that say who answers for `default`, where providers are reached, and who is tried after them. */
import { type Plain, Type, defineConfig } from '@svc/api';

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

export const DefaultModelSection = defineConfig('default_model', DefaultModelConfig);
export const ProviderUrlsSection = defineConfig('provider_urls', ProviderUrls);
export const FallbackProvidersSection = defineConfig('/fallback_providers', FallbackProviders);
