/** How each search provider is asked, and what its answers look like. They are read with care: what is missing is left out, and what is no list of results is an error. */
import { isTable, parsedUrl } from '@svc/api';
import type { ProviderSettings, SearchProviderName } from '../settings/web-config.js';

export interface SearchRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The header that takes the key, and what stands before it. */
  readonly keyHeader?: { readonly name: string; readonly prefix?: string };
}

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export interface SearchAnswer {
  /** The provider's own words, where it has some. */
  readonly answer?: string;
  readonly hits: readonly SearchHit[];
}

interface Adapter<S> {
  request(settings: S, query: string, maxResults: number): SearchRequest;
  /** Undefined when that is no answer of this provider. */
  read(body: unknown): SearchAnswer | undefined;
  /** Titles and snippets are marked up. */
  readonly isHtml?: boolean;
}

type Adapters = { readonly [N in SearchProviderName]: Adapter<ProviderSettings[N]> };

export const SEARCH_ADAPTERS: Adapters = {
  brave: {
    isHtml: true,
    request: ({ url, country, search_lang, freshness }, q, count) => ({
      url: `${url}/res/v1/web/search?${queryOf({ q, count: String(Math.min(count, 20)), country, search_lang, freshness })}`,
      method: 'GET',
      keyHeader: { name: 'x-subscription-token' },
    }),
    // Without any result `web` is left out.
    read: (body) => (isTable(body) && (body.type === 'search' || isTable(body.web)) ? hitsOf(isTable(body.web) ? body.web.results : [], ['title', 'url', 'description']) : undefined),
  },
  tavily: {
    request: ({ url, search_depth, include_answer }, query, max_results) => ({
      url: `${url}/search`,
      method: 'POST',
      body: { query, max_results, search_depth, include_answer },
      keyHeader: { name: 'authorization', prefix: 'Bearer ' },
    }),
    read: (body) => {
      const read = isTable(body) ? hitsOf(body.results, ['title', 'url', 'content']) : undefined;
      const answer = isTable(body) ? textOf(body.answer) : '';
      return read && (answer === '' ? read : { ...read, answer });
    },
  },
  perplexity: {
    request: ({ url }, query, max_results) => ({
      url: `${url}/search`,
      method: 'POST',
      body: { query, max_results, max_tokens_per_page: 256 },
      keyHeader: { name: 'authorization', prefix: 'Bearer ' },
    }),
    read: (body) => (isTable(body) ? hitsOf(body.results, ['title', 'url', 'snippet']) : undefined),
  },
  jina: {
    request: ({ url }, q, num) => ({
      url: `${url}/?${queryOf({ q, num: String(num) })}`,
      method: 'GET',
      // Results alone: the pages behind them are fetched by whoever wants them.
      headers: { 'x-respond-with': 'no-content' },
      keyHeader: { name: 'authorization', prefix: 'Bearer ' },
    }),
    read: (body) => (isTable(body) ? hitsOf(body.data, ['title', 'url', 'description']) : undefined),
  },
  searxng: {
    request: ({ url }, q) => ({ url: `${url}/search?${queryOf({ q, format: 'json' })}`, method: 'GET' }),
    read: (body) => (isTable(body) ? hitsOf(body.results, ['title', 'url', 'content']) : undefined),
  },
  duckduckgo: {
    request: ({ url }, q) => ({ url: `${url}/?${queryOf({ q, format: 'json', no_html: '1', skip_disambig: '1', t: 'svc' })}`, method: 'GET' }),
    read: (body) => {
      if (!isTable(body) || !Array.isArray(body.RelatedTopics)) return undefined;
      const topics = body.RelatedTopics.flatMap((topic: unknown) => (isTable(topic) && Array.isArray(topic.Topics) ? topic.Topics : [topic]));
      const about = { title: textOf(body.Heading), url: textOf(body.AbstractURL), snippet: textOf(body.AbstractText) };
      const named = [...(Array.isArray(body.Results) ? body.Results : []), ...topics].flatMap((topic: unknown) => (isTable(topic) ? [topicHit(textOf(topic.Text), textOf(topic.FirstURL))] : []));
      const answer = textOf(body.Answer);
      return { hits: [about, ...named].filter(isHit), ...(answer === '' ? {} : { answer }) };
    },
  },
};

const queryOf = (values: Readonly<Record<string, string>>): string => new URLSearchParams(Object.entries(values).filter(([, value]) => value !== '')).toString();

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Undefined when there is no list. */
const hitsOf = (list: unknown, [title, url, snippet]: readonly [string, string, string]): SearchAnswer | undefined =>
  Array.isArray(list) ? { hits: list.flatMap((one: unknown) => (isTable(one) ? [{ title: textOf(one[title]), url: textOf(one[url]), snippet: textOf(one[snippet]) }] : [])).filter(isHit) } : undefined;

const isHit = ({ url }: SearchHit): boolean => /^https?:\/\//i.test(url) && parsedUrl(url) !== undefined;

/** `Name - what it is`, as that API writes it. */
const topicHit = (text: string, url: string): SearchHit => ({ title: text.split(' - ', 1)[0] ?? text, url, snippet: text });
