/**
 * Searching the web.
 *
 * W1  One provider is asked, the one that is configured; one that fails is named, and no other is asked in its place.
 * W2  Searching reaches the provider's host and no page: `network` of the agent has to cover that host. The pages it names are fetched by web_fetch, under grants of their own.
 * W3  A key stands in the environment or the vault, and meets the request inside the adapter.
 */
import { type AnyTool, type Clock, defineTool, type ExtensionContext, type FetchResponse, isHostGranted, isSvcError, type SvcError, targetOf, type ToolCall, Type } from '@svc/api';
import { toolErrors } from '../errors.js';
import { plainPage } from '../workers/plain-page.js';
import type { SearchAnswer, SearchHit } from './providers.js';
import { createSearchCache } from './search-cache.js';
import type { ChosenProvider, SearchChoice } from './search-choice.js';

const MAX_QUERY_CHARS = 400;
const MAX_RESULTS = 20;
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
const MAX_TITLE_CHARS = 200;
const MAX_URL_CHARS = 2_000;
const MAX_SNIPPET_CHARS = 500;
const MAX_ANSWER_CHARS = 2_000;
/** `[web] timeout_secs` ends a search before. */
const TIMEOUT_MS = 130_000;

export interface WebSearchDeps {
  readonly choice: SearchChoice;
  readonly fetch: ExtensionContext['fetch'];
  readonly clock: Pick<Clock, 'mono'>;
  readonly settings: () => { readonly timeoutSecs: number; readonly cacheMinutes: number };
}

export const webSearchTool = ({ choice, fetch, clock, settings }: WebSearchDeps): AnyTool => {
  const cache = createSearchCache(clock);
  return defineTool({
    name: 'web_search',
    description: 'Searches the web and returns titles, addresses and a short excerpt of each result. Use web_fetch to read a page.',
    params: Type.Object({
      query: Type.String({ minLength: 1, maxLength: MAX_QUERY_CHARS, pattern: '\\S', description: 'The search query' }),
      max_results: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RESULTS, description: 'Number of results; by default as configured, usually 5' })),
    }),
    risk: 'network',
    needs: () => {
      const provider = choice.now();
      return provider ? [{ capability: 'network', target: provider.url }] : [];
    },
    // Asked again, it finds again.
    replay: 'safe',
    parallel: true,
    timeoutMs: TIMEOUT_MS,
    run: async ({ query, max_results }, call) => {
      const provider = choice.now();
      if (!provider) throw toolErrors.unavailable('web_search', choice.lack());
      const allowHosts = hostsOf(provider, call);
      const count = max_results ?? provider.maxResults;
      const key = JSON.stringify([provider.name, count, provider.request(query, count)]);
      const known = cache.get(key);
      if (known !== undefined) return known;
      const { timeoutSecs, cacheMinutes } = settings();
      const answer = await ask(fetch, provider, { query, count, allowHosts, timeoutMs: timeoutSecs * 1000, signal: call.signal });
      const text = shown(provider, query, count, answer);
      cache.put(key, text, cacheMinutes * 60_000);
      return text;
    },
  });
};

/** Validated before, and perhaps for another provider: settings change. The operator's own address opens, also one of a private network. */
const hostsOf = ({ name, url }: ChosenProvider, { capabilities }: ToolCall): string[] => {
  const { host, port } = targetOf(new URL(url));
  if (!isHostGranted(capabilities.network, host, port)) throw toolErrors.not_offered('web_search', `its network does not cover ${host}, where ${name} is reached`);
  return [host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`];
};

interface Asked {
  readonly query: string;
  readonly count: number;
  readonly allowHosts: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const ask = async (fetch: ExtensionContext['fetch'], provider: ChosenProvider, { query, count, allowHosts, timeoutMs, signal }: Asked): Promise<SearchAnswer> => {
  const { url, method, headers, body, keyHeader } = provider.request(query, count);
  try {
    const response = await fetch(url, {
      purpose: 'tool',
      method,
      headers: { accept: 'application/json', ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(keyHeader && provider.key ? { secretHeaders: { [keyHeader.name]: { ...provider.key, ...(keyHeader.prefix === undefined ? {} : { prefix: keyHeader.prefix }) } } } : {}),
      allowHosts,
      timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      signal,
    });
    return await read(provider, response);
  } catch (error) {
    if (signal.aborted || !isSvcError(error) || error.code.startsWith('tools_')) throw error;
    throw failureOf(provider, error, timeoutMs);
  }
};

const failureOf = ({ name }: ChosenProvider, error: SvcError, timeoutMs: number): SvcError => {
  const what = error.code === 'fetch_timeout' ? `did not answer within ${timeoutMs / 1000} s` : `could not be asked: ${error.message}`;
  return toolErrors.search_failed(name, what).with({ cause: error, retry: error.retry });
};

const read = async (provider: ChosenProvider, response: FetchResponse): Promise<SearchAnswer> => {
  const { status } = response;
  if (status < 200 || status > 299) {
    response.cancel();
    throw refusalOf(provider, response);
  }
  const text = await response.text();
  const answer = provider.read(parsed(text));
  if (answer) return answer;
  throw toolErrors.search_failed(provider.name, /^\s*</.test(text) ? 'answered with a page instead of results' : 'answered in a form that is not known');
};

const refusalOf = ({ name }: ChosenProvider, { status, headers }: FetchResponse): SvcError => {
  if (status === 429) {
    const after = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0];
    return toolErrors.search_limited(name, after === undefined ? 'in a while' : `in ${after} s`);
  }
  if (name === 'searxng' && status === 403) return toolErrors.search_failed(name, 'refuses the format json (403): its settings.yml has to list it under search.formats');
  if (status === 401 || status === 403) return toolErrors.search_key_refused(name, status);
  return toolErrors.search_failed(name, `answered with status ${status}`).with({ retry: status >= 500 });
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const shown = ({ name, isHtml }: ChosenProvider, query: string, count: number, { answer, hits }: SearchAnswer): string => {
  const some = hits.slice(0, count);
  const line = (text: string, max: number): string => cut((isHtml ? plainPage(text, max * 4) : text).replaceAll(/\s+/g, ' ').trim(), max);
  const one = ({ title, url, snippet }: SearchHit, index: number): string =>
    [`${index + 1}. ${line(title, MAX_TITLE_CHARS) || '[no title]'}`, `   ${url.slice(0, MAX_URL_CHARS)}`, ...(snippet === '' ? [] : [`   ${line(snippet, MAX_SNIPPET_CHARS)}`])].join('\n');
  return [
    some.length === 0 ? `[${name} found nothing for ${JSON.stringify(query)}]` : `[${name}: ${some.length} results for ${JSON.stringify(query)}]`,
    ...(answer === undefined ? [] : [`[in the words of ${name}] ${line(answer, MAX_ANSWER_CHARS)}`]),
    ...some.map(one),
  ].join('\n');
};

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text);
