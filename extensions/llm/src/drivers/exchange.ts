/** One HTTP exchange with a model provider: JSON out, server-sent events in. Everything that fails becomes a ModelFailure. */
import { type ExtensionContext, type FetchResponse, isSvcError, isTable } from '@svc/api';
import { createParser } from 'eventsource-parser';
import { type DriverFailure, type DriverTarget, ModelErrorClass } from '../contract.js';
import type { Codes } from '../call/classification.js';
import { failureOfAnswer, ModelFailure } from '../call/model-failure.js';
import { withoutSecrets } from '../call/secret-words.js';
import { createLineEnds } from './line-ends.js';

/** One event of a model is a few hundred bytes; a line that never ends is not a stream. */
const MAX_EVENT_CHARS = 4_000_000;
/** Some 200,000 tokens, each an event of its own. Without it a stream of thoughts or of comments may go on for as long as its deadline. */
const MAX_STREAM_BYTES = 64 * 1_048_576;
const MAX_TAIL_BYTES = 65_536;
const MAX_REFUSAL_BYTES = 65_536;
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
}

/** Told the data of each event as it comes; true when it was the protocol's last one. What it throws ends the exchange. */
export type OnEvent = (data: string) => boolean;

/**
 * Sends, and hands on the events of the answer as they come. Resolves when the body ends or its last event was seen.
 * Throws ModelFailure for anything but a stream of events.
 */
export const exchange = async (deps: ExchangeDeps, target: DriverTarget, outgoing: Outgoing, signal: AbortSignal, onEvent: OnEvent): Promise<void> => {
  const response = await send(deps, target, outgoing, signal);
  if (response.status !== 200) throw failureOfAnswer(response.status, response.headers, await bodyText(response, signal), deps.now(), outgoing.codes);
  const type = response.headers['content-type'] ?? '';
  if (type.includes('html') || type.includes('xml')) {
    response.cancel();
    throw new ModelFailure('garbage', `the answer is ${type.split(';')[0]}, not a stream of events`, { httpStatus: 200 });
  }
  try {
    await events(response, onEvent);
  } catch (error) {
    throw transportFailure(error, signal);
  }
};

/** Sends, and gives the answer as an object. Throws ModelFailure for anything else. */
export const exchangeJson = async (deps: ExchangeDeps, target: DriverTarget, outgoing: Outgoing, signal: AbortSignal): Promise<Record<string, unknown>> => {
  const response = await send(deps, target, outgoing, signal);
  if (response.status !== 200) throw failureOfAnswer(response.status, response.headers, await bodyText(response, signal), deps.now(), outgoing.codes);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    await response.each((piece) => {
      bytes += piece.byteLength;
      if (bytes > MAX_JSON_BYTES) throw new ModelFailure('garbage', 'the answer is larger than 16 MB', { httpStatus: 200 });
      pieces.push(piece);
    });
  } catch (error) {
    throw transportFailure(error, signal);
  }
  return objectIn(Buffer.concat(pieces).toString('utf8'), 'the answer');
};

const send = async (deps: ExchangeDeps, target: DriverTarget, { url, headers, body, keyHeader, keyPrefix }: Outgoing, signal: AbortSignal) => {
  try {
    return await deps.fetch(url, {
      purpose: 'model',
      method: 'POST',
      headers,
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

const events = (response: FetchResponse, onEvent: OnEvent): Promise<void> =>
  new Promise((resolve, reject) => {
    // One decoder for the whole body: a letter may be cut in two by a packet.
    const decoder = new TextDecoder();
    const lineEnds = createLineEnds();
    let isComplete = false;
    let isLineWhole = false;
    let bytes = 0;
    let tailBytes = 0;
    const parser = createParser({
      maxBufferSize: MAX_EVENT_CHARS,
      onEvent: ({ data }) => {
        if (!isComplete) isComplete = onEvent(data);
      },
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') throw new ModelFailure('garbage', 'an event is larger than 4 MB', { httpStatus: 200 });
      },
    });
    const take = (piece: Uint8Array): void => {
      if (isComplete) {
        skipTail(piece);
        return;
      }
      bytes += piece.byteLength;
      if (bytes > MAX_STREAM_BYTES) throw new ModelFailure('garbage', 'the answer is longer than 64 MB', { httpStatus: 200 });
      const text = lineEnds(decoder.decode(piece, { stream: true }));
      if (text !== '') isLineWhole = text.endsWith('\n');
      parser.feed(text);
      if (isComplete) resolve();
    };
    /**
     * What follows the last event, usually the end of the body alone, is read so that the connection serves the next call.
     * Nobody waits for it: a server that keeps the body open is ended by the exchange's own deadlines.
     */
    const skipTail = (piece: Uint8Array): void => {
      tailBytes += piece.byteLength;
      if (tailBytes > MAX_TAIL_BYTES) throw new RangeError('the body goes on after its last event');
    };
    const end = (): void => {
      // Some servers leave out the blank line after their last event. A line that does not end was cut off and is none.
      if (isLineWhole && !isComplete) parser.feed('\n');
      resolve();
    };
    response.each(take).then(end).catch(reject);
  });

/** The beginning of what came with a refusal: its size is the server's choice. */
const bodyText = async (response: FetchResponse, signal: AbortSignal): Promise<string> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of response.body) {
      pieces.push(piece);
      bytes += piece.byteLength;
      if (bytes > MAX_REFUSAL_BYTES) break;
    }
  } catch (error) {
    // The status alone still tells most of it; only a cancel is more important.
    if (signal.aborted) throw transportFailure(error, signal);
  }
  return Buffer.concat(pieces).toString('utf8', 0, MAX_REFUSAL_BYTES);
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

/** The JSON of one event, as an object; each driver checks the members it uses. */
export const eventJson = (data: string): Record<string, unknown> => objectIn(data, 'an event of the stream');

const objectIn = (text: string, what: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ModelFailure('garbage', `${what} is not JSON`, { httpStatus: 200, cause: error });
  }
  if (!isTable(value)) throw new ModelFailure('garbage', `${what} is not an object`, { httpStatus: 200 });
  return value;
};
