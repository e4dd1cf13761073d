/**
 * Calls of the daemon, by operation id.
 *
 * C1  A request is sent again only where that cannot have its effect twice: a read, or a write with an Idempotency-Key,
 *     which is one and the same for all attempts.
 * C2  An error says which kind it is: the daemon refused, nobody answered, it took too long, the caller took it back,
 *     or somebody else answered.
 * C3  The key goes to `baseUrl` and nowhere else: redirects are not followed.
 */
import { type Answer, isSuccess, readAnswer } from './answer.js';
import { AbortedError, ClientError, ConnectionError, type ConnectionFault, NotSvcError, SvcError, TimeoutError } from './errors.js';
import type { CallId, InputOf, KeyedId, OperationId, OutputOf } from './operation-types.js';
import { labelOf, type Operation, type Request, requestOf, requestTo } from './request.js';
import type { Fetch, FetchAnswer } from './transport.js';
import { backOff, type Deadline, deadline, pause } from './waiting.js';

export interface ClientOptions {
  /** Where the daemon listens; default `http://127.0.0.1:4545`. */
  readonly baseUrl?: string;
  /** The API key, where the daemon has one; a function is asked before each request. */
  readonly key?: string | (() => string | undefined | Promise<string | undefined>);
  /** Instead of the global fetch. */
  readonly fetch?: Fetch;
  /** How long one attempt may take; default 30 s, and 10 min for calls that wait for an answer of a model. */
  readonly timeoutMs?: number;
  /** How often a request that may be sent again is sent again; default 2. */
  readonly retries?: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface KeyedOptions extends CallOptions {
  /** Made anew for each call when left out. Keep your own where a call may be repeated by another process. */
  readonly idempotencyKey?: string;
}

export type OptionsOf<Id extends OperationId> = Id extends KeyedId ? KeyedOptions : CallOptions;
/** The input may be left out where nothing of it is needed. */
export type Rest<Id extends OperationId> = Record<never, never> extends InputOf<Id> ? [input?: InputOf<Id>, options?: OptionsOf<Id>] : [input: InputOf<Id>, options?: OptionsOf<Id>];

export interface Client {
  readonly baseUrl: string;
  /** What the operation answers. */
  call<Id extends CallId>(id: Id, ...rest: Rest<Id>): Promise<OutputOf<Id>>;
  /** The same with status and headers. */
  answer<Id extends CallId>(id: Id, ...rest: Rest<Id>): Promise<Answer<OutputOf<Id>>>;
  /** The same for an operation that the generated list does not have, such as one of a third-party extension. */
  callOperation(operation: Operation, input?: Readonly<Record<string, unknown>>, options?: KeyedOptions): Promise<unknown>;
  /** A route by its address alone: `GET`, `/api/acme-garden/beds?limit=10`. */
  request(method: string, path: string, body?: unknown, options?: KeyedOptions): Promise<Answer>;
  /** One attempt, and its answer as soon as the head has come; refusals throw. For streams and large files. */
  open<Id extends OperationId>(id: Id, input: InputOf<Id>, options?: OpenOptions): Promise<OpenAnswer>;
  /** The key that would be sent. */
  key(): Promise<string | undefined>;
}

export interface OpenOptions extends KeyedOptions {
  /** How long nothing may come; default as of other calls. */
  readonly idleMs?: number;
}

export interface OpenAnswer extends FetchAnswer {
  /** Something came: its time begins anew. */
  renew(): void;
  /** Gives back what it holds; to be called when the body is read, or nobody wants it any more. */
  close(): void;
  /** What broke the body, in the client's own words. */
  explain(error: unknown): ClientError;
}

export const DEFAULT_URL = 'http://127.0.0.1:4545';
const CALL_MS = 30_000;
/** A run may take minutes. */
const RUN_MS = 10 * 60_000;
const WAITS_FOR_A_RUN: readonly OperationId[] = ['sendMessage', 'createChatCompletion', 'compactSession'];
const RETRIES = 2;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;
/** Whoever is told to come back later than this is told so. */
const LONGEST_RETRY_AFTER_S = 10;
const COMES_BACK: readonly number[] = [429, 502, 503, 504];

export const createClient = (options: ClientOptions = {}): Client => {
  const baseUrl = checkedUrl(options.baseUrl ?? DEFAULT_URL);
  const askFor = async (id: OperationId | Operation, input: object = {}, given: KeyedOptions = {}): Promise<Answer> =>
    ask(requestOf(id, { ...input }, given.idempotencyKey), given, given.timeoutMs ?? options.timeoutMs ?? usualMs(id));

  const ask = (request: Request, given: CallOptions, timeoutMs: number): Promise<Answer> =>
    repeated(request, given.retries ?? options.retries ?? RETRIES, given.signal, async () => {
      const sent = await send(request, given, timeoutMs);
      try {
        return await readAnswer(baseUrl, sent);
      } catch (error) {
        throw sent.explain(error);
      } finally {
        sent.close();
      }
    });

  const keyOf = async (): Promise<string | undefined> => (typeof options.key === 'function' ? options.key() : options.key) || undefined;

  const send = async (request: Request, given: CallOptions, timeoutMs: number): Promise<OpenAnswer> => {
    const label = labelOf(request);
    const limit = deadline(timeoutMs, given.signal);
    const explain = (error: unknown, hasHead: boolean): ClientError => explained(error, { label, baseUrl, limit, timeoutMs, hasHead, signal: given.signal });
    try {
      if (given.signal?.aborted) throw given.signal.reason;
      const key = await keyOf();
      const headers = { accept: 'application/json', ...request.headers, ...given.headers, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) };
      const transport: Fetch = options.fetch ?? fetch;
      const answer = await transport(baseUrl + request.path, {
        method: request.method,
        headers,
        signal: limit.signal,
        redirect: 'manual',
        ...(request.body === undefined ? {} : { body: request.body }),
      });
      return { status: answer.status, headers: answer.headers, body: answer.body, renew: limit.renew, close: limit.end, explain: (error) => explain(error, true) };
    } catch (error) {
      limit.end();
      throw explain(error, false);
    }
  };

  const open = async (id: OperationId, input: object, given: OpenOptions = {}): Promise<OpenAnswer> => {
    const sent = await send(requestOf(id, { ...input }, given.idempotencyKey), given, given.idleMs ?? given.timeoutMs ?? usualMs(id));
    if (isSuccess(sent.status)) return sent;
    try {
      await readAnswer(baseUrl, sent);
    } catch (error) {
      throw sent.explain(error);
    } finally {
      sent.close();
    }
    throw new TypeError('a refusal was read as a success'); // readAnswer throws for every other status
  };

  // The types of a call come from its id; what is behind it is the same for all.
  return {
    baseUrl,
    key: keyOf,
    open,
    answer: (id, ...[input, given]) => askFor(id, input, given) as never,
    callOperation: async (operation, input, given) => (await askFor(operation, input, given)).data,
    call: async (id, ...[input, given]) => (await askFor(id, input, given)).data as never,
    request: (method, path, body, given = {}) => ask(requestTo(method, path, body, given.idempotencyKey), given, given.timeoutMs ?? options.timeoutMs ?? CALL_MS),
  };
};

/** `URL.canParse` of Node 20 says no to letters such as ü once V8 has compiled its caller. */
const protocolOf = (text: string): string | undefined => {
  try {
    return new URL(text).protocol;
  } catch {
    return undefined; // no URL
  }
};

const checkedUrl = (given: string): string => {
  const protocol = protocolOf(given);
  if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError(`baseUrl is "${given}"; it must be the http address of the daemon, such as ${DEFAULT_URL}.`);
  return given.replace(/\/+$/, '');
};

const usualMs = (id: OperationId | Operation): number => (typeof id === 'string' && WAITS_FOR_A_RUN.includes(id) ? RUN_MS : CALL_MS);

/** C1. */
const repeated = async <T>(request: Request, retries: number, signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T> => {
  for (let done = 0; ; done++) {
    try {
      return await attempt();
    } catch (error) {
      if (!request.isRepeatable || done >= retries || !mayPass(error)) throw error;
      await pause(waitFor(error, done), signal);
      if (signal?.aborted) throw new AbortedError(labelOf(request), signal.reason);
    }
  }
};

/** Whether the same request may succeed in a moment. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof SvcError && error.mayRetry && COMES_BACK.includes(error.status) && (error.retryAfter ?? 0) <= LONGEST_RETRY_AFTER_S);

export const waitFor = (error: unknown, attempt: number): number => Math.max(backOff(attempt, FIRST_WAIT_MS, LONGEST_WAIT_MS), error instanceof SvcError ? (error.retryAfter ?? 0) * 1_000 : 0);

interface Circumstances {
  readonly label: string;
  readonly baseUrl: string;
  readonly limit: Deadline;
  readonly timeoutMs: number;
  readonly hasHead: boolean;
  readonly signal: AbortSignal | undefined;
}

/** C2. */
const explained = (error: unknown, { label, baseUrl, limit, timeoutMs, hasHead, signal }: Circumstances): ClientError => {
  if (error instanceof ClientError) return error;
  if (signal?.aborted) return new AbortedError(label, signal.reason);
  if (limit.isOver()) return new TimeoutError(label, timeoutMs);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (codeOf(cause).startsWith('HPE_')) return new NotSvcError(baseUrl, 0, `its answer is not HTTP: ${sayingOf(cause)}`);
  return new ConnectionError(hasHead ? 'broken' : faultOf(codeOf(cause)), baseUrl, sayingOf(cause), error);
};

const sayingOf = (cause: unknown): string => ((cause instanceof Error && cause.message) || codeOf(cause) || String(cause)).replace(/\.$/, '');

const BROKEN = ['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'UND_ERR_SOCKET', 'ERR_STREAM_PREMATURE_CLOSE'];

/** Before an answer began. A browser says of nothing but that it failed: then the address is as likely as anything. */
const faultOf = (code: string): ConnectionFault => (code === 'ECONNREFUSED' || code === 'ENOENT' ? 'refused' : BROKEN.includes(code) ? 'broken' : 'unreachable');

const codeOf = (cause: unknown): string => {
  if (typeof cause !== 'object' || cause === null) return '';
  // An address with several numbers fails with one error for each.
  const first: unknown = 'errors' in cause && Array.isArray(cause.errors) ? cause.errors[0] : cause;
  return typeof first === 'object' && first !== null && 'code' in first && typeof first.code === 'string' ? first.code : '';
};
