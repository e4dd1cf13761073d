/**
 * The list of models that every protocol has: the cheapest question that tells whether a server is one, and whether it takes the key.
 * Nothing is bought with it. What comes back is validated, and never shown as it came: it may repeat the key.
 */
import { type Clock, type ExtensionContext, type FetchInit, type FetchResponse, isSvcError, isTable } from '@svc/api';
import type { ListedModel } from '@svc/ext-models/contract';
import type { ProviderRecord } from '../contract.js';

const ANTHROPIC_VERSION = '2023-06-01';
/** OpenRouter lists some hundred models in less than one; a server that sends more is told so. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** Models of a list that are looked at. */
const MAX_MODELS = 2_000;
/** What a name may be, to stand in lists and logs. */
const NAME = /^[^\s\p{C}]{1,200}$/u;

export type Asked = Pick<ProviderRecord, 'name' | 'wire' | 'base_url' | 'secret'>;

export type Listing =
  | { readonly kind: 'listed'; readonly models: readonly ListedModel[]; readonly latencyMs: number }
  | {
      /** `refused`: the key. `limited`: too many questions. `unlisted`: there is no such list. `garbage`: something else answers there. `silent`: nothing answered. */
      readonly kind: 'refused' | 'limited' | 'unlisted' | 'failed' | 'garbage' | 'silent';
      /** A sentence for a person; it holds no secret and nothing of what was answered. */
      readonly error: string;
      readonly latencyMs: number;
    };

export interface ListDeps {
  readonly fetch: ExtensionContext['fetch'];
  readonly clock: Pick<Clock, 'mono'>;
}

export interface ListOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Default true. Without it a server that wants one refuses, which still tells that it is there. */
  readonly withKey?: boolean;
}

/** Whether models can be asked for over this protocol. */
export const canList = (wire: string): boolean => wire === 'openai' || wire === 'anthropic' || wire === 'gemini';

/** Addresses beside the base URL that are asked, for the adapter to open. */
export const besideBaseUrl = ({ name, base_url }: Pick<Asked, 'name' | 'base_url'>): string[] => (name === 'ollama' ? [ollamaTags(base_url)] : []);

export const listModels = async (deps: ListDeps, asked: Asked, options: ListOptions): Promise<Listing> => {
  if (asked.name !== 'ollama') return ask(deps, asked, urlOf(asked), options);
  const tags = await ask(deps, asked, ollamaTags(asked.base_url), options);
  // Something else that speaks OpenAI's protocol may stand in Ollama's place.
  return tags.kind === 'unlisted' ? ask(deps, asked, urlOf(asked), options) : tags;
};

/** Ollama's own list, which tells sizes; its base URL here ends with the `/v1` of the other protocol. */
const ollamaTags = (baseUrl: string): string => `${baseUrl.replace(/\/v1$/, '')}/api/tags`;

const urlOf = ({ wire, base_url }: Asked): string => {
  if (wire === 'anthropic') return `${base_url}/v1/models?limit=1000`;
  if (wire === 'gemini') return `${/\/v\d+\w*$/.test(base_url) ? base_url : `${base_url}/v1beta`}/models?pageSize=1000`;
  return `${base_url}/models`;
};

const headersOf = ({ wire, secret }: Asked, withKey: boolean): Pick<FetchInit, 'headers' | 'secretHeaders'> => {
  const headers = { accept: 'application/json', ...(wire === 'anthropic' ? { 'anthropic-version': ANTHROPIC_VERSION } : {}) };
  if (!secret || !withKey) return { headers };
  if (wire === 'anthropic') return { headers, secretHeaders: { 'x-api-key': secret } };
  return { headers, secretHeaders: wire === 'gemini' ? { 'x-goog-api-key': secret } : { authorization: { ...secret, prefix: 'Bearer ' } } };
};

const ask = async ({ fetch, clock }: ListDeps, asked: Asked, url: string, { timeoutMs, signal, withKey = true }: ListOptions): Promise<Listing> => {
  const startedAt = clock.mono();
  const timed = <K extends object>(found: K) => ({ ...found, latencyMs: Math.round(clock.mono() - startedAt) });
  const { host, pathname } = new URL(url);
  try {
    const response = await fetch(url, { purpose: 'model', ...headersOf(asked, withKey), timeoutMs, maxBytes: MAX_LIST_BYTES, ...(signal ? { signal } : {}) });
    if (response.status !== 200) {
      response.cancel();
      return timed(failureOf(response.status, host, pathname));
    }
    return timed(await listOf(response, asked, host));
  } catch (error) {
    // The adapter's own words: hosts and reasons. Anything else, such as a vault that does not open, is not about the server.
    if (!isSvcError(error) || !error.code.startsWith('fetch_')) throw error;
    const kind = error.code === 'fetch_too_large' ? 'garbage' : 'silent';
    return timed({ kind, error: kind === 'garbage' ? `${host} answers with more than ${MAX_LIST_BYTES / 1024 / 1024} MB, which is not a list of models.` : error.message } as const);
  }
};

const failureOf = (status: number, host: string, path: string): Omit<Exclude<Listing, { kind: 'listed' }>, 'latencyMs'> => {
  if (status === 401 || status === 403) return { kind: 'refused', error: `${host} refused the key (${status}).` };
  if (status === 429) return { kind: 'limited', error: `${host} takes no more questions at the moment (429), so whether it takes the key is not known.` };
  if (status === 404 || status === 405 || status === 501)
    return {
      kind: 'unlisted',
      error: `${host} answers, but has no list of models at ${path} (${status}): the base URL is another one, or whether it takes the key cannot be told without a call that costs.`,
    };
  if (status >= 300 && status < 400) return { kind: 'failed', error: `${host} redirects (${status}); the base URL must lead there directly.` };
  return { kind: 'failed', error: `${host} answered ${status}.` };
};

const listOf = async (response: FetchResponse, { base_url }: Asked, host: string): Promise<{ kind: 'listed'; models: ListedModel[] } | { kind: 'garbage'; error: string }> => {
  const text = await response.text();
  if ((response.headers['content-type'] ?? '').includes('html') || /^\s*</.test(text))
    return { kind: 'garbage', error: `${host} answers with a web page, not with a list of models. Is ${base_url} the base URL of its API?` };
  const rows = rowsIn(text);
  if (!rows) return { kind: 'garbage', error: `${host} does not answer with a list of models. Is ${base_url} the base URL of its API?` };
  return { kind: 'listed', models: rows.slice(0, MAX_MODELS).flatMap((row) => modelOf(row) ?? []) };
};

/** `{data: [{id}]}` of OpenAI and Anthropic, `{models: [{name}]}` of Ollama and Gemini, a bare list of some others. */
const rowsIn = (text: string): readonly unknown[] | undefined => {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (Array.isArray(body)) return body;
  const rows = isTable(body) ? (body.data ?? body.models) : undefined;
  return Array.isArray(rows) ? rows : undefined;
};

const modelOf = (row: unknown): ListedModel | undefined => {
  if (!isTable(row)) return undefined;
  const name = typeof row.id === 'string' ? row.id : row.name;
  if (typeof name !== 'string' || !NAME.test(name)) return undefined;
  // vLLM, Gemini, LM Studio: each has its own word for it.
  const window = [row.max_model_len, row.inputTokenLimit, row.max_context_length, row.context_length].find(isCount);
  return { id: name.replace(/^models\//, ''), size_bytes: isCount(row.size) ? row.size : null, context_window: window ?? null };
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;
