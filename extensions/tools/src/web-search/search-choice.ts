/** Which provider answers now. Keys come and go while the daemon runs, so it is looked for again; in between the answer is at hand without a wait. */
import type { ExtensionContext, SecretRef } from '@svc/api';
import {
  BraveSettings,
  DuckDuckGoSettings,
  JinaSettings,
  PerplexitySettings,
  type ProviderSettings,
  SEARCH_PROVIDERS,
  SearchProvider,
  type SearchProviderName,
  SearxngSettings,
  TavilySettings,
  WEB_SETTINGS,
} from '../settings/web-config.js';
import { SEARCH_ADAPTERS, type SearchAnswer, type SearchRequest } from './providers.js';

const POLL_EVERY_MS = 60_000;

export interface ChosenProvider {
  readonly name: SearchProviderName;
  /** Base URL. */
  readonly url: string;
  readonly key: SecretRef | undefined;
  readonly maxResults: number;
  readonly isHtml: boolean;
  request(query: string, maxResults: number): SearchRequest;
  read(body: unknown): SearchAnswer | undefined;
}

export interface SearchChoice {
  /** Undefined where none is configured. */
  now(): ChosenProvider | undefined;
  /** Why there is none. */
  lack(): string;
}

export const chooseSearch = (ctx: ExtensionContext): SearchChoice => {
  let chosen: ChosenProvider | undefined;
  let round = 0;
  const look = async (): Promise<void> => {
    round += 1;
    const mine = round;
    const found = await firstConfigured(ctx);
    // What was asked later knows more.
    if (mine === round) chosen = found;
  };
  const lookAgain = (): Promise<void> => look().catch((cause: unknown) => ctx.log.warn('the keys of search providers could not be read; svc tries again at the next search', { cause }));
  for (const setting of WEB_SETTINGS) ctx.config.onChange(setting, () => void lookAgain());
  ctx.timers.after('look-for-a-search-provider', 0, lookAgain);
  ctx.timers.every('look-for-a-search-provider-again', POLL_EVERY_MS, lookAgain);
  return {
    now: () => chosen,
    lack: () => {
      const named = ctx.config.get(SearchProvider);
      if (named === 'auto')
        return 'no search provider is configured: an operator can set the key of one in the environment (BRAVE_API_KEY, TAVILY_API_KEY, PERPLEXITY_API_KEY or JINA_API_KEY), or url under [web.searxng]';
      return named === 'searxng' ? '[web] search_provider is searxng, and [web.searxng] url is not set' : `[web] search_provider is ${named}, which has no key`;
    },
  };
};

const firstConfigured = async (ctx: ExtensionContext): Promise<ChosenProvider | undefined> => {
  const named = ctx.config.get(SearchProvider);
  // What an agent looks for is told to nobody whom no person has chosen: that one needs no key.
  const names = named === 'auto' ? SEARCH_PROVIDERS.filter((name) => name !== 'duckduckgo') : [named];
  for (const name of names) {
    const candidate = candidateOf(ctx, name);
    if (candidate.url === '') continue;
    if (candidate.key === undefined || (await ctx.secrets.where(candidate.key)) !== undefined) return candidate;
  }
  return undefined;
};

const candidateOf = (ctx: ExtensionContext, name: SearchProviderName): ChosenProvider => {
  switch (name) {
    case 'brave':
      return candidate(name, ctx.config.get(BraveSettings));
    case 'tavily':
      return candidate(name, ctx.config.get(TavilySettings));
    case 'perplexity':
      return candidate(name, ctx.config.get(PerplexitySettings));
    case 'jina':
      return candidate(name, ctx.config.get(JinaSettings));
    case 'searxng':
      return candidate(name, ctx.config.get(SearxngSettings));
    case 'duckduckgo':
      return candidate(name, ctx.config.get(DuckDuckGoSettings));
  }
};

const candidate = <N extends SearchProviderName>(name: N, given: ProviderSettings[N]): ChosenProvider => {
  const settings = { ...given, url: given.url.replace(/\/+$/, '') };
  const adapter = SEARCH_ADAPTERS[name];
  return {
    name,
    url: settings.url,
    key: 'api_key_env' in settings ? { secret: `search.${name}`, env: settings.api_key_env } : undefined,
    maxResults: settings.max_results,
    isHtml: adapter.isHtml ?? false,
    request: (query, maxResults) => adapter.request(settings, query, maxResults),
    read: (body) => adapter.read(body),
  };
};
