/** What went wrong with one model call, as a class that decides about retry and fallback, and a text that may be shown. */
import { isTable } from '@svc/api';
import type { ModelErrorClass } from '../contract.js';
import { classify, type Codes, codesIn, NO_CODES } from './classification.js';
import type { ParameterName } from './parameters.js';
import { retryAfterIn } from './retry-after.js';
import { withoutSecrets } from './secret-words.js';

const MAX_READ_CHARS = 20_000;

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

/** A failure that the provider reports inside a stream that began with 200. */
export const failureInStream = (error: unknown, known: Codes, statuses: Readonly<Record<string, number>> = {}): ModelFailure => {
  const { code, message } = isTable(error) ? error : { code: undefined, message: error };
  const codes = codesIn(error);
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : codes.map((one) => statuses[one]).find((one) => one !== undefined);
  const text = typeof message === 'string' ? message : 'the provider reported an error in the stream';
  const errorClass = classify(status ?? 500, text, codes, known);
  return new ModelFailure(errorClass, withoutSecrets(text, errorClass === 'auth'), { httpStatus: status ?? 200 });
};

/** The human part of an error body: `{error: {message}}`, `{error: text}`, `{message}`, else the text of the body without markup. */
const readError = (body: string): { said: string; codes: readonly string[] } => {
  const head = body.slice(0, MAX_READ_CHARS);
  try {
    const value: unknown = JSON.parse(head);
    return { said: messageIn(value) ?? head, codes: codesIn(value) };
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
