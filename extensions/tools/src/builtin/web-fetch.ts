import { type AnyTool, type Clock, defineTool, type ExtensionContext, type FetchResponse, isSvcError, type ToolCall, Type, type Workers } from '@svc/api';
import { requestPreview } from './previews.js';
import { PageText, type PageInput } from '../workers/page-text-worker.js';
import { plainPage } from '../workers/plain-page.js';

const MAX_PAGE_BYTES = 3 * 1024 * 1024;
const MAX_CHARS = 50_000;
/** The adapter ends an exchange at `[web.fetch] timeout_secs`; this one only catches an adapter that does not, and leaves the page time to be read. */
const TIMEOUT_MS = 3_630_000;
/** How long a page may take to be laid out, the pages of others before it included. */
const LAYOUT_MS = 20_000;
/** The bare text is made on the main thread: of no more than costs it some milliseconds. */
const MAX_PLAIN_CHARS = 1_000_000;
/** What may come of a page that is hard to lay out, or of many at once. */
const NO_LAYOUT = new Set(['workers_timeout', 'workers_busy', 'workers_out_of_memory', 'workers_cancelled', 'workers_failed']);
const TEXT_TYPES = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|x-ndjson|[\w.-]+\+(json|xml)))/;

export interface WebDeps {
  readonly fetch: ExtensionContext['fetch'];
  readonly workers: Workers;
  readonly clock: Pick<Clock, 'sleep'>;
}

export const webFetchTool = (deps: WebDeps): AnyTool =>
  defineTool({
    name: 'web_fetch',
    description: 'Fetches an address with GET and answers with its text; a page becomes readable text with its links. Only hosts you were granted can be reached.',
    params: Type.Object({ url: Type.String({ minLength: 1, maxLength: 4_000, description: 'http or https' }) }),
    risk: 'network',
    needs: ({ url }) => [{ capability: 'network', target: url }],
    // GET only: asking again changes nothing.
    replay: 'safe',
    parallel: true,
    timeoutMs: TIMEOUT_MS,
    preview: ({ url }) => requestPreview(url),
    run: async ({ url }, call) => {
      const response = await deps.fetch(url, {
        purpose: 'tool',
        headers: { accept: 'text/html, text/plain, application/json, */*;q=0.5' },
        signal: call.signal,
        maxBytes: MAX_PAGE_BYTES,
        allowHosts: call.capabilities.network,
      });
      const text = await readable(deps, response, call);
      const head = `[${response.status} ${response.url}]`;
      return { content: `${head}\n${text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}\n[cut: ${text.length} characters in all]` : text}`, isError: response.status >= 400 };
    },
  });

const readable = async (deps: WebDeps, response: FetchResponse, call: ToolCall): Promise<string> => {
  const type = (response.headers['content-type'] ?? 'text/plain').toLowerCase();
  if (!TEXT_TYPES.test(type)) {
    response.cancel();
    return `[${type.split(';')[0]}: not text, not shown]`;
  }
  const body = await response.text();
  if (!type.startsWith('text/html') && !type.startsWith('application/xhtml')) return body;
  return laidOut(deps, { html: body, url: response.url, maxChars: MAX_CHARS }, call);
};

/** The page as text; bare when it cannot be laid out in time. One page that is built to be hard fails no other. */
const laidOut = async ({ workers, clock }: WebDeps, input: PageInput, call: ToolCall): Promise<string> => {
  const ended = new AbortController();
  const late = new AbortController();
  // Ends with the layout, when that is sooner.
  void clock.sleep(LAYOUT_MS, ended.signal).then(
    () => late.abort(),
    () => undefined,
  );
  try {
    return await workers.run(PageText, input, { signal: AbortSignal.any([call.signal, late.signal]) });
  } catch (error) {
    if (call.signal.aborted || !isSvcError(error) || !NO_LAYOUT.has(error.code)) throw error;
    call.log.warn('a page could not be laid out; its bare text is shown', { url: input.url, cause: error });
    return `[this page could not be laid out; this is its text without layout and links]\n${plainPage(input.html.slice(0, MAX_PLAIN_CHARS), MAX_CHARS)}`;
  } finally {
    ended.abort();
  }
};
