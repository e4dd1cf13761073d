/** Which search provider is asked, and how: keys of `[web]`. Keys of providers stand in the environment or in the vault, never here. */
import { OneOf, type Plain, Type, defineConfig } from '@svc/api';

export const SEARCH_PROVIDERS = ['brave', 'tavily', 'perplexity', 'jina', 'searxng', 'duckduckgo'] as const;
export type SearchProviderName = (typeof SEARCH_PROVIDERS)[number];

const closed = { additionalProperties: false, default: {} };
const MaxResults = Type.Integer({ minimum: 1, maximum: 20, default: 5, description: 'Number of results if the call sets none' });
/** An http or https URL without user name, query or fragment. */
const Url = (value: string, description: string) => Type.String({ default: value, maxLength: 2_000, pattern: '^(https?://[^\\s@?#/][^\\s@?#]*)?$', description });
const KeyEnv = (value: string) => Type.String({ default: value, pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: 128, description: 'The environment variable with its key, if the vault has none' });
const Word = (description: string) => Type.String({ default: '', maxLength: 40, pattern: '^[A-Za-z0-9_-]*$', description });

export const SearchProvider = defineConfig(
  'web.search_provider',
  OneOf(['auto', ...SEARCH_PROVIDERS], {
    default: 'auto',
    description: 'Search provider of web_search. auto: the first in this list that has a key or a url; duckduckgo only if you name it',
  }),
);
export const SearchCacheMinutes = defineConfig('web.cache_ttl_minutes', Type.Integer({ minimum: 0, maximum: 1_440, default: 15, description: 'How long search results are cached; 0: never' }));
export const SearchTimeoutSecs = defineConfig('web.timeout_secs', Type.Integer({ minimum: 1, maximum: 120, default: 15, description: 'How long a search may take' }));

export const BraveSettings = defineConfig(
  'web.brave',
  Type.Object(
    {
      api_key_env: KeyEnv('BRAVE_API_KEY'),
      max_results: MaxResults,
      country: Word('Two letters; empty: any'),
      search_lang: Word('As en; empty: any'),
      freshness: Type.String({
        default: '',
        maxLength: 40,
        pattern: '^(pd|pw|pm|py|\\d{4}-\\d\\d-\\d\\dto\\d{4}-\\d\\d-\\d\\d)?$',
        description: 'pd, pw, pm, py (a day, week, month, year), or 2026-01-01to2026-01-31',
      }),
      url: Url('https://api.search.brave.com', 'Base URL'),
    },
    closed,
  ),
);
export const TavilySettings = defineConfig(
  'web.tavily',
  Type.Object(
    {
      api_key_env: KeyEnv('TAVILY_API_KEY'),
      max_results: MaxResults,
      search_depth: OneOf(['basic', 'advanced'], { default: 'basic', description: 'Search depth; advanced is slower and costs more' }),
      include_answer: Type.Boolean({ default: true, description: 'Whether to request its short answer' }),
      url: Url('https://api.tavily.com', 'Base URL'),
    },
    closed,
  ),
);
export const PerplexitySettings = defineConfig(
  'web.perplexity',
  Type.Object(
    { api_key_env: KeyEnv('PERPLEXITY_API_KEY'), max_results: MaxResults, url: Url('https://api.perplexity.ai', 'Base URL') },
    { ...closed, 'x-waiting': { model: 'its Search API is asked, which has no model' } },
  ),
);
export const JinaSettings = defineConfig('web.jina', Type.Object({ api_key_env: KeyEnv('JINA_API_KEY'), max_results: MaxResults, url: Url('https://s.jina.ai', 'Base URL') }, closed));
export const SearxngSettings = defineConfig('web.searxng', Type.Object({ url: Url('', 'URL of an instance; it must allow the format json'), max_results: MaxResults }, closed));
export const DuckDuckGoSettings = defineConfig('web.duckduckgo', Type.Object({ max_results: MaxResults, url: Url('https://api.duckduckgo.com', 'Base URL of its Instant Answer API') }, closed));

export const LocationUrl = defineConfig('web.location_url', Url('', 'Service that location_get asks where this machine is, such as https://ipapi.co/json/. Empty: there is no such tool'));

export const WEB_SETTINGS = [SearchProvider, SearchCacheMinutes, SearchTimeoutSecs, BraveSettings, TavilySettings, PerplexitySettings, JinaSettings, SearxngSettings, DuckDuckGoSettings];

/** Of each provider, as it is asked. */
export interface ProviderSettings {
  readonly brave: Plain<(typeof BraveSettings)['schema']>;
  readonly tavily: Plain<(typeof TavilySettings)['schema']>;
  readonly perplexity: Plain<(typeof PerplexitySettings)['schema']>;
  readonly jina: Plain<(typeof JinaSettings)['schema']>;
  readonly searxng: Plain<(typeof SearxngSettings)['schema']>;
  readonly duckduckgo: Plain<(typeof DuckDuckGoSettings)['schema']>;
}
