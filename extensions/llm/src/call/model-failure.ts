/** What went wrong with one model call, as a class that decides about retry and fallback, and a text that may be shown. */
import { isTable } from '@svc/api';
import type { ModelErrorClass } from '../contract.js';
import type { ParameterName } from './parameters.js';
import { withoutSecrets } from './secret-words.js';

const MAX_READ_CHARS = 20_000;
/** Longer hints are not believed: nobody holds a run for a day because of one header. */
const MAX_RETRY_AFTER_MS = 300_000;

/** A class because it is thrown through generators of any driver and recognised by `instanceof` inside this one bundle. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly errorClass: ModelErrorClass;
  readonly httpStatus: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** The parameter of the caller that the model refuses. */
  readonly parameter: ParameterName | undefined;

  constructor(errorClass: ModelErrorClass, message: string, extra: { httpStatus?: number | undefined; retryAfterMs?: number | undefined; parameter?: ParameterName; cause?: unknown } = {}) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.errorClass = errorClass;
    this.httpStatus = extra.httpStatus;
    this.retryAfterMs = extra.retryAfterMs;
    this.parameter = extra.parameter;
  }
}

/** Classes where the same call can succeed a moment later. */
const PASSING: ReadonlySet<ModelErrorClass> = new Set(['rate_limit', 'overloaded', 'server', 'network', 'timeout', 'half_stream']);
export const isPassing = (errorClass: ModelErrorClass): boolean => PASSING.has(errorClass);

/** The class of an HTTP status, read together with what the body says, because providers share few conventions. */
export const classify = (status: number, said: string): ModelErrorClass => {
  // Gemini refuses a key with 400.
  if (status === 401 || status === 403 || /API key not valid|API_KEY_INVALID/i.test(said)) return 'auth';
  if (status === 402 || /insufficient_quota|credit balance|billing|exceeded your current quota/i.test(said)) return 'credit';
  if (status === 429) return 'rate_limit';
  if (status === 529 || status === 503 || /overloaded/i.test(said)) return 'overloaded';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 413 || /context.{0,10}length|maximum context|prompt is too long|too many tokens|context window|exceeds the maximum number of tokens/i.test(said)) return 'context_too_long';
  if (status === 404 || (/model/i.test(said) && /not[ _]found|does not exist|not supported/i.test(said))) return 'model_not_found';
  return status >= 500 ? 'server' : 'bad_request';
};

/** The failure that an HTTP error answer stands for. `nowMs` turns an HTTP date of Retry-After into a wait. */
export const failureOfAnswer = (status: number, headers: Readonly<Record<string, string>>, body: string, nowMs: number): ModelFailure => {
  const said = saidBy(body);
  const delay = retryDelayIn(body);
  const read = classify(status, said);
  // A quota that is free again in so many seconds is no bill that nobody paid, though Gemini uses the same words for both.
  const errorClass = read === 'credit' && status === 429 && delay !== undefined ? 'rate_limit' : read;
  const shown = withoutSecrets(said, errorClass === 'auth');
  return new ModelFailure(errorClass, shown === '' ? `HTTP ${status}` : `HTTP ${status}: ${shown}`, { httpStatus: status, retryAfterMs: retryAfter(headers['retry-after'] ?? delay, nowMs) });
};

/** Of Google's RetryInfo, in seconds: it sends no header. */
const retryDelayIn = (body: string): string | undefined => /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body.slice(0, MAX_READ_CHARS))?.[1];

/** Retry-After in seconds or as an HTTP date (RFC 9110, 10.2.3), as milliseconds from now, at most 300 s. */
export const retryAfter = (value: string | undefined, nowMs: number): number | undefined => {
  if (value === undefined) return undefined;
  const trimmed = value.trim();
  const ms = /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) * 1_000 : Date.parse(trimmed) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS) : undefined;
};

/** The human part of an error body: `{error: {message}}`, `{error: text}`, `{message}`, else the text of the body without markup. */
const saidBy = (body: string): string => {
  const head = body.slice(0, MAX_READ_CHARS);
  try {
    const found = messageIn(JSON.parse(head));
    if (found !== undefined) return found;
  } catch {
    // Not JSON: a proxy's page. What stands between its tags is all there is to tell.
    return withoutMarkup(head);
  }
  return head;
};

/** In one pass: where a script or a tag does not end, nothing after it is text. */
const withoutMarkup = (page: string): string => {
  let text = '';
  const part = /[^<]+|<(style|script)\b|</giy;
  for (let found = part.exec(page); found; found = part.exec(page)) {
    if (!found[0].startsWith('<')) {
      text += found[0];
      continue;
    }
    const end = found[1] === undefined ? /[<>]/g : new RegExp(`</${found[1]}>`, 'gi');
    end.lastIndex = part.lastIndex;
    if (!end.test(page)) break;
    // A tag that does not end before the next one is none.
    part.lastIndex = page[end.lastIndex - 1] === '<' ? end.lastIndex - 1 : end.lastIndex;
    text += ' ';
  }
  return text;
};

const messageIn = (value: unknown): string | undefined => {
  if (Array.isArray(value)) return messageIn(value[0]);
  if (!isTable(value)) return undefined;
  const { error, message, detail, type } = value;
  if (typeof error === 'string') return error;
  const inner = error === undefined ? undefined : messageIn(error);
  if (inner !== undefined) return inner;
  const text = typeof message === 'string' ? message : typeof detail === 'string' ? detail : undefined;
  if (text === undefined) return undefined;
  // The type often says what the message does not, e.g. `overloaded_error`.
  return typeof type === 'string' && type !== 'error' && !text.includes(type) ? `${text} (${type})` : text;
};
