/**
 * The API of a hub of skills, over the network.
 *
 * H1  Only the address that is set in config.toml is reached, with its own token.
 * H2  What may succeed later is tried again, for at most 30 s in all: the hub's own waiting time first, else one that doubles.
 * H3  An answer that is no JSON, too large, or a web page is an error that says so. An error of the hub keeps the hub's words.
 * H4  An answer counts for 120 s, so that browsing does not use up the hub's limits.
 */
import { type Disposable, type ExtensionContext, type FetchResponse, isSvcError, isTable } from '@svc/api';
import { hubErrors } from './errors.js';

const ATTEMPTS = 5;
const FIRST_WAIT_MS = 1_500;
const MOST_WAIT_MS = 30_000;
const JITTER = 0.25;
const JSON_MS = 15_000;
const DOWNLOAD_MS = 120_000;
const MAX_JSON_BYTES = 4 * 1024 * 1024;
const MAX_DOWNLOAD_BYTES = 64 * 1024 * 1024;
const CACHE_MS = 120_000;
const MAX_CACHED = 500;
const TOKEN = { secret: 'skillhub.token' };
const MAX_SAID = 300;

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface HubClient {
  /** The body as it came. Throws `skillhub_…` errors. */
  json(path: string, query?: Query): Promise<Readonly<Record<string, unknown>>>;
  /** Undefined where the hub answers 404. */
  text(path: string, query?: Query): Promise<string | undefined>;
  download(query: Query): Promise<Uint8Array>;
  close(): void;
}

type HubContext = Pick<ExtensionContext, 'fetch' | 'egress' | 'secrets' | 'clock' | 'ids'>;

interface Hub {
  readonly ctx: HubContext;
  readonly base: string;
  readonly cache: Map<string, { readonly at: number; readonly body: Readonly<Record<string, unknown>> }>;
}

export const createHubClient = (ctx: HubContext, address: string): HubClient => {
  const base = address.replace(/\/+$/, '');
  const allowed: Disposable = ctx.egress.allow(base, 'server');
  const hub: Hub = { ctx, base, cache: new Map() };
  return {
    json: (path, query) => jsonOf(hub, path, query),
    text: async (path, query) => {
      const response = await ask(hub, path, query, JSON_MS, [404]);
      return response.status === 404 ? void response.cancel() : Buffer.from(await bytesOf(response, MAX_JSON_BYTES)).toString('utf8');
    },
    download: async (query) => bytesOf(await ask(hub, '/download', query, DOWNLOAD_MS), MAX_DOWNLOAD_BYTES),
    close: () => void allowed.dispose(),
  };
};

const jsonOf = async (hub: Hub, path: string, query: Query = {}): Promise<Readonly<Record<string, unknown>>> => {
  const key = urlOf(hub, path, query);
  const now = hub.ctx.clock.now();
  const known = hub.cache.get(key);
  if (known && now - known.at < CACHE_MS) return known.body;
  const text = Buffer.from(await bytesOf(await ask(hub, path, query, JSON_MS), MAX_JSON_BYTES)).toString('utf8');
  const body = parsed(text);
  if (hub.cache.size >= MAX_CACHED) hub.cache.clear();
  hub.cache.set(key, { at: now, body });
  return body;
};

const parsed = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const body: unknown = JSON.parse(text);
    if (isTable(body)) return body;
  } catch {
    // Said below.
  }
  throw hubErrors.upstream(/^\s*</.test(text) ? 'it answered with a web page instead of data' : 'its answer is no JSON object');
};

const urlOf = ({ base }: Hub, path: string, query: Query): string => {
  const parts = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]));
  return `${base}${path}${parts.length > 0 ? `?${parts.join('&')}` : ''}`;
};

/** A response with status 200, or one of `taken`. */
const ask = async (hub: Hub, path: string, query: Query = {}, timeoutMs: number, taken: readonly number[] = []): Promise<FetchResponse> => {
  const { ctx } = hub;
  const url = urlOf(hub, path, query);
  const token = (await ctx.secrets.where(TOKEN)) === undefined ? {} : { secretHeaders: { authorization: { ...TOKEN, prefix: 'Bearer ' } } };
  let waited = 0;
  for (let attempt = 1; ; attempt += 1) {
    const last = await once(hub, url, timeoutMs, token);
    if ('response' in last && (last.response.status === 200 || taken.includes(last.response.status))) return last.response;
    const failure = 'response' in last ? await failureOf(last.response) : { error: hubErrors.upstream(last.why), waitMs: undefined, isFinal: last.isFinal };
    const wait = failure.waitMs ?? FIRST_WAIT_MS * 2 ** (attempt - 1) * (1 + JITTER * ctx.ids.random());
    if (failure.isFinal || attempt >= ATTEMPTS || waited + wait > MOST_WAIT_MS) throw failure.error;
    waited += wait;
    await ctx.clock.sleep(wait);
  }
};

type Once = { readonly response: FetchResponse } | { readonly why: string; readonly isFinal: boolean };

const once = async ({ ctx }: Hub, url: string, timeoutMs: number, more: object): Promise<Once> => {
  try {
    return {
      response: await ctx.fetch(url, {
        purpose: 'server',
        redirect: 'follow',
        timeoutMs,
        idleTimeoutMs: timeoutMs,
        headers: { accept: 'application/json, text/plain, application/zip', 'user-agent': 'svc' },
        ...more,
      }),
    };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    // A hub that hangs is not asked five times.
    return { why: error.message.replace(/\.$/, ''), isFinal: !error.retry || /time|slow|idle/.test(error.code) };
  }
};

const failureOf = async (response: FetchResponse): Promise<{ error: Error; waitMs: number | undefined; isFinal: boolean }> => {
  const { status, headers } = response;
  const said = await saidBy(response);
  const waitMs = waitOf(headers);
  if (status === 429) return { error: hubErrors.busy(Math.ceil((waitMs ?? MOST_WAIT_MS) / 1_000)), waitMs, isFinal: false };
  return { error: hubErrors.upstream(`it answered ${status}${said === '' ? '' : `: ${said}`}`).with({ cause: new HubAnswer(status, said) }), waitMs, isFinal: status < 500 };
};

/** Of the hub, for whoever treats a status on its own. */
export class HubAnswer extends Error {
  override readonly name = 'HubAnswer';
  readonly status: number;
  readonly said: string;
  constructor(status: number, said: string) {
    super(said);
    this.status = status;
    this.said = said;
  }
}

export const answerOf = (error: unknown): HubAnswer | undefined => {
  const cause = isSvcError(error) ? error.cause : undefined;
  return cause instanceof HubAnswer ? cause : undefined;
};

/** Plain text, or the `error` of a JSON body. */
const saidBy = async (response: FetchResponse): Promise<string> => {
  const text = Buffer.from(await bytesOf(response, MAX_JSON_BYTES).catch(() => new Uint8Array())).toString('utf8');
  if (/^\s*</.test(text)) return 'a web page';
  try {
    const body: unknown = JSON.parse(text);
    const said = isTable(body) ? (body.error ?? body.message) : undefined;
    if (typeof said === 'string') return said.slice(0, MAX_SAID);
  } catch {
    // Plain text.
  }
  return text.trim().replace(/\s+/g, ' ').slice(0, MAX_SAID).replace(/\.$/, '');
};

/** Retry-After in seconds, else RateLimit-Reset in seconds from now. */
const waitOf = (headers: Readonly<Record<string, string>>): number | undefined => {
  for (const name of ['retry-after', 'ratelimit-reset', 'x-ratelimit-reset']) {
    const text = headers[name];
    const secs = text === undefined ? Number.NaN : Number(text);
    // A larger number is a time, not a duration.
    if (Number.isFinite(secs) && secs >= 0 && secs < 1_000_000) return secs * 1_000;
  }
  return undefined;
};

const bytesOf = async (response: FetchResponse, most: number): Promise<Uint8Array> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of response.body) {
      size += part.length;
      if (size > most) {
        response.cancel();
        throw hubErrors.upstream(`its answer has more than ${most} bytes`);
      }
      parts.push(part);
    }
  } catch (error) {
    if (isSvcError(error) && error.code.startsWith('skillhub_')) throw error;
    throw hubErrors.upstream(isSvcError(error) ? error.message.replace(/\.$/, '') : 'its answer broke off').with({ cause: error });
  }
  return Buffer.concat(parts);
};
