import { type AnyTool, defineTool, type ExtensionContext, type FetchResponse, Type, type Workers } from '@svc/api';
import type { PageInput } from '../workers/page-text.js';

const MAX_PAGE_BYTES = 3 * 1024 * 1024;
const MAX_CHARS = 50_000;
const TIMEOUT_MS = 30_000;
const TEXT_TYPES = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|x-ndjson|[\w.-]+\+(json|xml)))/;

export interface WebDeps {
  readonly fetch: ExtensionContext['fetch'];
  readonly workers: Workers;
}

export const webFetchTool = (deps: WebDeps): AnyTool =>
  defineTool({
    name: 'web_fetch',
    description: 'Fetches an address with GET and answers with its text; a page becomes readable text with its links. Only public addresses can be reached.',
    params: Type.Object({ url: Type.String({ minLength: 1, maxLength: 4_000, description: 'http or https' }) }),
    risk: 'network',
    // GET only: asking again changes nothing.
    replay: 'safe',
    parallel: true,
    timeoutMs: TIMEOUT_MS + 25_000,
    run: async ({ url }, call) => {
      const response = await deps.fetch(url, {
        purpose: 'tool',
        headers: { accept: 'text/html, text/plain, application/json, */*;q=0.5' },
        signal: call.signal,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_PAGE_BYTES,
        allowHosts: call.capabilities.network,
      });
      const text = await readable(deps.workers, response, call.signal);
      const head = `[${response.status} ${response.url}]`;
      return { content: `${head}\n${text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}\n[cut: ${text.length} characters in all]` : text}`, isError: response.status >= 400 };
    },
  });

const readable = async (workers: Workers, response: FetchResponse, signal: AbortSignal): Promise<string> => {
  const type = (response.headers['content-type'] ?? 'text/plain').toLowerCase();
  if (!TEXT_TYPES.test(type)) {
    response.cancel();
    return `[${type.split(';')[0]}: not text, not shown]`;
  }
  const body = await response.text();
  if (!type.startsWith('text/html') && !type.startsWith('application/xhtml')) return body;
  const input: PageInput = { html: body, url: response.url };
  return workers.run<string>('tools.page-text', input, { signal });
};
