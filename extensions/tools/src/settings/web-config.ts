/** Which search provider is asked, and how: keys of `[web]`. Keys of providers stand in the environment or in the vault, never here. */
import { OneOf, type Plain, Type, defineConfig } from '@svc/api';

export const SEARCH_PROVIDERS = ['brave', 'tavily', 'perplexity', 'jina', 'searxng', 'duckduckgo'] as const;
export type SearchProviderName = (typeof SEARCH_PROVIDERS)[number];

const closed = { additionalProperties: false, default: {} };
const MaxResults = Type.Integer({ minimum: 1, maximum: 20, default: 5, description: 'Results where the call does not say how many' });
/** An http or https URL without user name, query or fragment. */
const Url = (value: string, description: string) => Type.String({ default: value, maxLength: 2_000, pattern: '^(https?://[^\\s@?#/][^\\s@?#]*)?$', description });
const KeyEnv = (value: string) =>
  Type.String({ default: value, pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: 128, description: 'The environment variable that sets its key, unless the vault has it' });
const Word = (description: string) => Type.String({ default: '', maxLength: 40, pattern: '^[A-Za-z0-9_-]*$', description });

export const SearchProvider = defineConfig(
  'web.search_provider',
  OneOf(['auto', ...SEARCH_PROVIDERS], {
    default: 'auto',
    description: 'Who answers web_search. auto: the first that has its key, or its url, in the order of this list; duckduckgo only where it is named',
  }),
);
export const SearchCacheMinutes = defineConfig(
  'web.cache_ttl_minutes',
  Type.Integer({ minimum: 0, maximum: 1_440, default: 15, description: 'How long the results of a search are given again; 0: never' }),
);
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
      url: Url('https://api.search.brave.com', 'Where it is reached'),
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
      search_depth: OneOf(['basic', 'advanced'], { default: 'basic', description: 'advanced is slower and costs more at Tavily' }),
      include_answer: Type.Boolean({ default: true, description: 'Whether its own short answer is asked for' }),
      url: Url('https://api.tavily.com', 'Where it is reached'),
    },
    closed,
  ),
);
export const PerplexitySettings = defineConfig(
  'web.perplexity',
  Type.Object(
    { api_key_env: KeyEnv('PERPLEXITY_API_KEY'), max_results: MaxResults, url: Url('https://api.perplexity.ai', 'Where it is reached') },
    { ...closed, 'x-waiting': { model: 'its Search API is asked, which has no model' } },
  ),
);
export const JinaSettings = defineConfig('web.jina', Type.Object({ api_key_env: KeyEnv('JINA_API_KEY'), max_results: MaxResults, url: Url('https://s.jina.ai', 'Where it is reached') }, closed));
export const SearxngSettings = defineConfig('web.searxng', Type.Object({ url: Url('', 'Where an instance answers; it has to allow the format json'), max_results: MaxResults }, closed));
export const DuckDuckGoSettings = defineConfig('web.duckduckgo', Type.Object({ max_results: MaxResults, url: Url('https://api.duckduckgo.com', 'Where its Instant Answer API is reached') }, closed));

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
