/** What went wrong with one model call, as a class that decides about retry and fallback, and a text that may be shown. */
import { isTable } from '@svc/api';
import type { ModelErrorClass } from '../contract.js';
import { classify, type Codes, codesIn, NO_CODES } from './classification.js';
import type { ParameterName } from './parameters.js';
import { retryAfterIn } from './retry-after.js';
import { withoutSecrets } from './secret-words.js';

const MAX_READ_CHARS = 20_000;
const MAX_UPSTREAM_CHARS = 2_000;

/** A class because it is thrown through generators of any driver and recognised by `instanceof` inside this one bundle. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly errorClass: ModelErrorClass;
  readonly httpStatus: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** The parameter of the caller that the model refuses. */
  readonly parameter: ParameterName | undefined;
  /** The provider answered, and the model said nothing that can be used: that says nothing against the provider. */
  readonly isOfAnswer: boolean;

  constructor(
    errorClass: ModelErrorClass,
    message: string,
    extra: { httpStatus?: number | undefined; retryAfterMs?: number | undefined; parameter?: ParameterName; isOfAnswer?: boolean; cause?: unknown } = {},
  ) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.errorClass = errorClass;
    this.httpStatus = extra.httpStatus;
    this.retryAfterMs = extra.retryAfterMs;
    this.parameter = extra.parameter;
    this.isOfAnswer = extra.isOfAnswer === true;
  }
}

/** Classes where the same call can succeed a moment later. */
const PASSING: ReadonlySet<ModelErrorClass> = new Set(['rate_limit', 'overloaded', 'server', 'network', 'timeout', 'half_stream']);
export const isPassing = (errorClass: ModelErrorClass): boolean => PASSING.has(errorClass);

/** The failure that an HTTP error answer stands for. `nowMs` turns a point in time into a wait; `known` are the codes of the protocol. */
export const failureOfAnswer = (status: number, headers: Readonly<Record<string, string>>, body: string, nowMs: number, known: Codes = NO_CODES): ModelFailure => {
  const { said, codes } = readError(body);
  const retryAfterMs = retryAfterIn(headers, body, nowMs);
  const read = classify(status, said, codes, known);
  // A quota that is free again in so many seconds is no bill that nobody paid, though Gemini uses the same words for both.
  const errorClass = read === 'credit' && status === 429 && retryAfterMs !== undefined && !codes.includes('insufficient_quota') ? 'rate_limit' : read;
  const shown = withoutSecrets(said, errorClass === 'auth');
  return new ModelFailure(errorClass, shown === '' ? `HTTP ${status}` : `HTTP ${status}: ${shown}`, { httpStatus: status, retryAfterMs });
};

/** A failure that the provider reports inside a stream that began with 200, or instead of one. */
export const failureInStream = (error: unknown, known: Codes, statuses: Readonly<Record<string, number>> = {}): ModelFailure => {
  const codes = codesIn(error);
  const text = (typeof error === 'string' ? error : messageIn(error, false))?.trim() || 'the provider reported an error in the stream';
  const status = statusIn(error) ?? codes.map((one) => statuses[one] ?? statuses[one.toLowerCase()]).find((one) => one !== undefined);
  const errorClass = classify(status ?? statusOfWords(text), text, codes, known);
  return new ModelFailure(errorClass, withoutSecrets(text, errorClass === 'auth'), { httpStatus: status ?? 200 });
};

const STATUS_MEMBERS = ['code', 'status', 'status_code', 'statusCode', 'http_code'] as const;

/** A number, or one in letters; the innermost error says it best. */
const statusIn = (error: unknown, depth = 0): number | undefined => {
  if (!isTable(error) || depth > 3) return undefined;
  for (const member of STATUS_MEMBERS) {
    const value = error[member];
    const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === 'number' && status >= 400 && status < 600) return status;
  }
  return statusIn(error.error, depth + 1);
};

const WORDS: ReadonlyArray<readonly [RegExp, number]> = [
  [/\bunauthori[sz]ed\b|not authenticated|authentication (?:failed|error)|(?:invalid|incorrect) (?:api|access)[ _-]?key/i, 401],
  [/rate limit|too many requests/i, 429],
  [/overloaded|at capacity|temporarily unavailable|try again later/i, 503],
  [/time[ds]? ?out/i, 504],
  [/\binvalid\b|\bunsupported\b|not supported|must be\b|\brequired\b|bad request|validation error|\bmalformed\b|unrecognized/i, 400],
];

/** Where an error names no status. */
const statusOfWords = (text: string): number => WORDS.find(([words]) => words.test(text))?.[1] ?? 500;

/** The human part of an error body: `{error: {message}}`, `{error: text}`, `{message}`, else the text of the body without markup. */
const readError = (body: string): { said: string; codes: readonly string[] } => {
  const head = body.slice(0, MAX_READ_CHARS);
  try {
    const value: unknown = JSON.parse(head);
    return { said: messageIn(value, true) ?? head, codes: codesIn(value) };
  } catch {
    // Not JSON: a proxy's page. What stands between its tags is all there is to tell.
    return { said: withoutMarkup(head), codes: [] };
  }
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

const TEXTS = ['message', 'detail', 'details', 'msg', 'error_msg', 'errorMessage', 'error_message', 'status_msg', 'error_description'] as const;

const messageIn = (value: unknown, withType: boolean, depth = 0): string | undefined => {
  if (depth > 4) return undefined;
  if (Array.isArray(value)) return messageIn(value[0], withType, depth + 1);
  if (!isTable(value)) return undefined;
  const { error, type, errors, base_resp } = value;
  if (typeof error === 'string') return error;
  const inner = messageIn(error ?? errors ?? base_resp, withType, depth + 1);
  if (inner !== undefined) return inner;
  const text = TEXTS.map((name) => value[name]).find((one) => typeof one === 'string' && one !== '');
  if (typeof text !== 'string') return messageIn(value.message, withType, depth + 1);
  const whole = withUpstream(text, value);
  // The type often says what the message does not, e.g. `overloaded_error`.
  return withType && typeof type === 'string' && type !== 'error' && !whole.includes(type) ? `${whole} (${type})` : whole;
};

/** A router says that its provider failed, and beside it what that one said. */
const withUpstream = (text: string, { metadata }: Readonly<Record<string, unknown>>): string => {
  const raw = isTable(metadata) ? metadata.raw : undefined;
  if (raw === undefined || raw === null) return text;
  const said = typeof raw === 'string' ? raw : (messageIn(raw, false) ?? JSON.stringify(raw));
  return said === '' || text.includes(said) ? text : `${text}: ${said.slice(0, MAX_UPSTREAM_CHARS)}`;
};
