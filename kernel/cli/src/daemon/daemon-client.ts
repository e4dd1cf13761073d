/**
 * The daemon as commands speak with it: @svc/client, with this machine's address and key, and its errors in the words of
 * a command. Over node:http, which costs a command 5 ms where global fetch costs 40 (`svc status` must feel like no
 * start at all).
 */
import { type Client, type CallId, ClientError, ConnectionError, createClient, NotSvcError, type Operation, type OutputOf, type Rest, SvcError, TimeoutError } from '@svc/client';
import { nodeFetch } from '@svc/client/node-http';
import { EXIT } from '../exit-codes.js';
import { Failure, notRunning } from '../failure.js';

const ANSWER_WAIT_MS = 30_000;
const KEY_HINT = 'SVC_API_KEY=<the key> svc …   (api_key of config.toml is sent where this user may read it; a hash in its place cannot be sent)';
/** A rate limit that is over so soon is waited out, a few times: what it refused has had no effect. */
const SHORT_WAIT_S = 5;
const SHORT_WAITS = 3;

export interface DaemonTarget {
  /** For an answer; default 30 s. */
  readonly timeoutMs?: number;
  /** `http://127.0.0.1:4545`, no slash at the end. */
  readonly url: string;
  /** Asked once, before the first request; undefined when no key is set. */
  readonly apiKey: () => Promise<string | undefined>;
}

export interface DaemonClient {
  readonly url: string;
  /** For streams: its errors are those of the client, see `failureOf`. */
  readonly client: Client;
  /** What the operation answers; anything else is a Failure with the daemon's own words. */
  call<Id extends CallId>(id: Id, ...rest: Rest<Id>): Promise<OutputOf<Id>>;
  /** The same for an operation that an extension declares. */
  callOperation(operation: Operation, input: Readonly<Record<string, unknown>>): Promise<unknown>;
}

export const createDaemonClient = ({ apiKey, timeoutMs = ANSWER_WAIT_MS, url }: DaemonTarget): DaemonClient => {
  const client = createClient({
    baseUrl: url,
    key: apiKey,
    timeoutMs,
    // A person looks on: nobody there is said at once.
    retries: 0,
    fetch: (address, init) => nodeFetch(address, { ...init, headers: { 'user-agent': 'svc-cli', ...init.headers } }),
  });
  return {
    url,
    client,
    call: (id, ...rest) => answered(url, () => client.call(id, ...rest)),
    callOperation: (operation, input) => answered(url, () => client.callOperation(operation, input)),
  };
};

const answered = async <T>(url: string, attempt: () => Promise<T>): Promise<T> => {
  for (let waits = 0; ; waits++) {
    try {
      return await attempt();
    } catch (error) {
      const seconds = error instanceof SvcError && error.status === 429 ? error.retryAfter : undefined;
      if (seconds === undefined || seconds > SHORT_WAIT_S || waits >= SHORT_WAITS) throw failureOf(error, url);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    }
  }
};

/** What the client says, as a command says it; anything else is left as it is. */
export const failureOf = (error: unknown, url: string): unknown => {
  if (error instanceof SvcError) return refusal(error);
  if (error instanceof TimeoutError) {
    const [request = ''] = error.what.split(' was not answered');
    return new Failure(`The daemon at ${url} did not answer.`, { code: 'cli_daemon_silent', why: `no answer to ${request} within ${error.timeoutMs / 1_000} s`, fix: 'svc logs --lines 20' });
  }
  if (error instanceof ConnectionError) return error.fault === 'broken' ? lost(url, error.why) : notRunning(url, error.fault === 'refused' ? 'connection refused' : (error.why ?? error.what));
  if (error instanceof NotSvcError) {
    if (error.status === 0) return lost(url, 'what answers there is not the daemon');
    return new Failure(`${url} answered ${error.status} without saying why.`, { code: 'cli_not_the_daemon', why: 'it may not be the svc daemon', fix: 'svc doctor' });
  }
  return error instanceof ClientError ? new Failure(error.what, { code: error.code, why: error.why, fix: error.hint }) : error;
};

const lost = (url: string, why: string | undefined): Failure => new Failure(`The connection to ${url} broke off.`, { code: 'cli_connection_lost', why, fix: 'svc status' });

/** The daemon's own error: its words, its hint, its code and where to look. */
const refusal = ({ code, details, hint, requestId, retryAfter, status, what }: SvcError): Failure =>
  new Failure(what, {
    code,
    exit: status === 401 || status === 403 ? EXIT.refused : EXIT.failed,
    status,
    fix: status === 401 ? KEY_HINT : status === 429 && retryAfter !== undefined ? `wait ${retryAfter} s and try again` : hint,
    requestId,
    details,
  });
