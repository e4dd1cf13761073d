/** One HTTP exchange with a model provider: JSON out, server-sent events in. Everything that fails becomes a ModelFailure. */
import { type ExtensionContext, type FetchResponse, isSvcError } from '@svc/api';
import { type DriverFailure, type DriverTarget, ModelErrorClass } from '../contract.js';
import type { Codes } from '../call/classification.js';
import { failureOfAnswer, ModelFailure } from '../call/model-failure.js';
import { withoutSecrets } from '../call/secret-words.js';
import { objectIn } from './body/json-values.js';
import { type OnEvent, readEvents } from './body/read-events.js';
import { refusalText } from './body/refusal-text.js';
import { createUnpacker } from './body/unpacker.js';

/** A batch of vectors takes a few megabytes. */
const MAX_JSON_BYTES = 16 * 1_048_576;

export interface ExchangeDeps {
  fetch: ExtensionContext['fetch'];
  now: () => number;
}

export interface Outgoing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The header that carries the key, and what stands before it. */
  readonly keyHeader: string;
  readonly keyPrefix?: string;
  readonly body: string;
  /** Codes of errors in this protocol. */
  readonly codes: Codes;
  /** The status that stands for a code, where an error comes in a stream. */
  readonly statuses?: Readonly<Record<string, number>>;
}

/**
 * Sends, and hands on the events of the answer as they come. Resolves when the body ends or its last event was seen.
 * Throws ModelFailure for anything but a stream of events.
 */
export const exchange = async (deps: ExchangeDeps, target: DriverTarget, outgoing: Outgoing, signal: AbortSignal, onEvent: OnEvent): Promise<void> => {
  const response = await send(deps, target, outgoing, signal);
  await refuseFailure(deps, response, outgoing, signal);
  try {
    await readEvents(response, outgoing, onEvent);
  } catch (error) {
    throw transportFailure(error, signal);
  }
};

/** Sends, and gives the answer as an object. Throws ModelFailure for anything else. */
export const exchangeJson = async (deps: ExchangeDeps, target: DriverTarget, outgoing: Outgoing, signal: AbortSignal): Promise<Record<string, unknown>> => {
  const response = await send(deps, target, outgoing, signal);
  await refuseFailure(deps, response, outgoing, signal);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const unpacker = createUnpacker(response.headers['content-encoding'], (piece) => {
    bytes += piece.byteLength;
    if (bytes > MAX_JSON_BYTES) throw new ModelFailure('garbage', 'the answer is larger than 16 MB', { httpStatus: 200 });
    pieces.push(piece);
  });
  try {
    await unpacker.all(response);
  } catch (error) {
    throw transportFailure(error, signal);
  }
  return objectIn(Buffer.concat(pieces).toString('utf8'), 'the answer');
};

const refuseFailure = async (deps: ExchangeDeps, response: FetchResponse, { codes }: Outgoing, signal: AbortSignal): Promise<void> => {
  const { status, headers } = response;
  if (status >= 200 && status < 300) return;
  let text: string;
  try {
    text = await refusalText(response, signal);
  } catch (error) {
    throw transportFailure(error, signal);
  }
  throw failureOfAnswer(status, headers, text, deps.now(), codes);
};

const send = async (deps: ExchangeDeps, target: DriverTarget, { url, headers, body, keyHeader, keyPrefix }: Outgoing, signal: AbortSignal) => {
  try {
    return await deps.fetch(url, {
      purpose: 'model',
      method: 'POST',
      headers: { ...headers, ...target.headers },
      body,
      signal,
      timeoutMs: target.timeoutMs,
      ...(target.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: target.idleTimeoutMs }),
      ...(target.secret === undefined ? {} : { secretHeaders: { [keyHeader]: { ...target.secret, ...(keyPrefix === undefined ? {} : { prefix: keyPrefix }) } } }),
    });
  } catch (error) {
    throw transportFailure(error, signal);
  }
};

/** Sockets, names, deadlines: what never became an answer. */
export const transportFailure = (error: unknown, signal: AbortSignal): ModelFailure => {
  if (error instanceof ModelFailure) return error;
  if (signal.aborted) return new ModelFailure('cancelled', 'the call was cancelled', { cause: error });
  const reported = reportedBy(error);
  if (reported) return reported;
  const { code, text } = described(error);
  if (/secret/i.test(code) || /vault/i.test(code)) return new ModelFailure('auth', withoutSecrets(text), { cause: error });
  if (/timeout|timed_out|ETIMEDOUT|deadline/i.test(code) || (code === '' && /timed? ?out/i.test(text))) return new ModelFailure('timeout', withoutSecrets(text), { cause: error });
  return new ModelFailure('network', withoutSecrets(text), { cause: error });
};

/** A driver of another extension says of its failure what kind it is. */
const reportedBy = (error: unknown): ModelFailure | undefined => {
  if (!isSvcError(error) || !hasClass(error.details)) return undefined;
  const { errorClass, retryAfterMs } = error.details;
  return new ModelFailure(errorClass, withoutSecrets(error.message), { cause: error, ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}) });
};

const CLASSES: readonly string[] = ModelErrorClass.enum;

const hasClass = (details: unknown): details is DriverFailure => typeof details === 'object' && details !== null && 'errorClass' in details && CLASSES.includes(String(details.errorClass));

/** The first code on the chain of causes, and the outermost words. */
const described = (error: unknown): { code: string; text: string } => {
  const text = error instanceof Error ? error.message : String(error);
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string') return { code: at.code, text };
    if (at.name === 'TimeoutError') return { code: 'timeout', text };
  }
  return { code: '', text };
};
