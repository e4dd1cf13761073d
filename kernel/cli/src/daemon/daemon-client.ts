/**
 * Talks to the running daemon over its HTTP interface. node:http directly: it costs a command
 * about 5 ms, where global fetch costs 40 (`svc status` must feel like no start at all).
 */
import http from 'node:http';
import { isTable } from '@svc/api';
import { EXIT } from '../exit-codes.js';
import { Failure, notRunning } from '../failure.js';

const ANSWER_WAIT_MS = 30_000;
/** Answers larger than this are not a daemon's. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const KEY_HINT = 'SVC_API_KEY=<the key> svc …   (api_key of config.toml is sent where this user may read it; a hash in its place cannot be sent)';
/** A rate limit that is over so soon is waited out, a few times. */
const SHORT_WAIT_S = 5;
const SHORT_WAITS = 3;

export interface DaemonTarget {
  /** `http://127.0.0.1:4545`, no slash at the end. */
  readonly url: string;
  /** Asked once, before the first request; undefined when no key is set. */
  readonly apiKey: () => Promise<string | undefined>;
}

export interface RequestOptions {
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as they are, instead of a body. */
  bytes?: Uint8Array;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Parsed JSON; undefined when the answer was none. */
  readonly body: unknown;
}

export interface DaemonClient {
  readonly url: string;
  /** The answer whatever its status. Throws a Failure when nobody answers. */
  ask(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** The body of a 2xx answer; anything else is a Failure with the daemon's own words. */
  call<T>(method: string, path: string, options?: RequestOptions): Promise<T>;
  /** A streaming answer once its head says 200. */
  open(method: string, path: string, options: RequestOptions, signal: AbortSignal): Promise<http.IncomingMessage>;
}

export const createDaemonClient = (target: DaemonTarget): DaemonClient => ({
  url: target.url,
  ask: (method, path, options = {}) => askPatiently(target, method, path, options),
  call: async <T>(method: string, path: string, options: RequestOptions = {}) => {
    const answer = await askPatiently(target, method, path, options);
    if (answer.status >= 200 && answer.status < 300) return answer.body as T; // the caller names the shape the interface promises
    throw refusal(target.url, answer);
  },
  open: async (method, path, options, signal) => {
    const response = await send(target, method, path, options, signal);
    if (response.statusCode === 200) return response;
    throw refusal(target.url, await read(response));
  },
});

const askPatiently = async (target: DaemonTarget, method: string, path: string, options: RequestOptions): Promise<Answer> => {
  for (let waits = 0; ; waits++) {
    const answer = await ask(target, method, path, options);
    const seconds = Number(headerText(answer.headers['retry-after']) ?? Number.NaN);
    if (answer.status !== 429 || waits >= SHORT_WAITS || !(seconds <= SHORT_WAIT_S)) return answer;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
};

const ask = async (target: DaemonTarget, method: string, path: string, options: RequestOptions): Promise<Answer> => {
  const waitMs = options.timeoutMs ?? ANSWER_WAIT_MS;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), waitMs);
  try {
    return await read(await send(target, method, path, options, abort.signal));
  } catch (error) {
    if (!abort.signal.aborted || error instanceof Failure) throw error;
    throw new Failure(`The daemon at ${target.url} did not answer.`, { code: 'cli_daemon_silent', why: `no answer to ${method} ${path} within ${waitMs / 1000} s`, mend: 'svc logs --lines 20' });
  } finally {
    clearTimeout(timer);
  }
};

const send = async (target: DaemonTarget, method: string, path: string, options: RequestOptions, signal: AbortSignal): Promise<http.IncomingMessage> => {
  const key = await target.apiKey();
  const body = options.bytes ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'svc-cli', ...options.headers };
  if (key !== undefined) headers.authorization = `Bearer ${key}`;
  if (body !== undefined) {
    headers['content-type'] ??= options.bytes ? 'application/octet-stream' : 'application/json';
    headers['content-length'] = String(Buffer.byteLength(body));
  }
  return new Promise((resolve, reject) => {
    const request = http.request(target.url + path, { method, headers, signal, agent: false });
    request.on('response', resolve);
    request.on('error', (error: NodeJS.ErrnoException) => reject(explain(target.url, error)));
    request.end(body);
  });
};

/** Errors of the socket, in the words of a person. Others keep their own. */
const explain = (url: string, error: NodeJS.ErrnoException): Error => {
  if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') return notRunning(url, 'connection refused');
  if (error.code === 'ECONNRESET' || error.code === 'EPIPE' || error.code === 'HPE_INVALID_CONSTANT') {
    return new Failure(`The connection to ${url} broke off.`, {
      code: 'cli_connection_lost',
      why: error.code === 'HPE_INVALID_CONSTANT' ? 'what answers there is not the daemon' : error.message,
      mend: 'svc status',
    });
  }
  if (error.code === 'ENOTFOUND' || error.code === 'EHOSTUNREACH' || error.code === 'ETIMEDOUT') return notRunning(url, error.code);
  return error;
};

const read = async (response: http.IncomingMessage): Promise<Answer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) {
      response.destroy();
      throw new Failure('The answer is too large.', { code: 'cli_answer_too_large', why: `more than ${MAX_ANSWER_BYTES} bytes` });
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  return { status: response.statusCode ?? 0, headers: response.headers, body: parse(text) };
};

const parse = (text: string): unknown => {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined; // not JSON: `refusal` then says what answered instead
  }
};

/** The daemon's own error as a Failure: its words, its hint, its code and where to look. */
const refusal = (url: string, answer: Answer): Failure => {
  const body: Readonly<Record<string, unknown>> = isTable(answer.body) ? answer.body : {};
  const requestId = typeof body.request_id === 'string' ? body.request_id : headerText(answer.headers['x-request-id']);
  const hint = typeof body.hint === 'string' ? body.hint : undefined;
  if (typeof body.error !== 'string') {
    return new Failure(`${url} answered ${answer.status} without saying why.`, { code: 'cli_not_the_daemon', why: 'it may not be the svc daemon', mend: 'svc doctor', requestId });
  }
  const retryAfter = answer.status === 429 ? headerText(answer.headers['retry-after']) : undefined;
  const isRefused = answer.status === 401 || answer.status === 403;
  return new Failure(body.error, {
    code: typeof body.code === 'string' ? body.code : `http_${answer.status}`,
    exit: isRefused ? EXIT.refused : EXIT.failed,
    status: answer.status,
    mend:
      answer.status === 401
        ? KEY_HINT
        : retryAfter !== undefined
          ? `wait ${retryAfter} s and try again`
          : (hint ?? (answer.status === 500 && requestId !== undefined ? `svc logs --request ${requestId}` : undefined)),
    requestId,
  });
};

const headerText = (value: string | string[] | undefined): string | undefined => (typeof value === 'string' ? value : value?.[0]);
