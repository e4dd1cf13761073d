/** One HTTP exchange with a model provider: JSON out, server-sent events in. Everything that fails becomes a ModelFailure. */
import { type ExtensionContext, type FetchResponse, isSvcError, isTable } from '@svc/api';
import { createParser } from 'eventsource-parser';
import { type DriverFailure, type DriverTarget, ModelErrorClass } from '../contract.js';
import { failureOfAnswer, ModelFailure, withoutSecrets } from '../call/model-failure.js';
import { createLineEnds } from './line-ends.js';

/** One event of a model is a few hundred bytes; a line that never ends is not a stream. */
const MAX_EVENT_CHARS = 4_000_000;
const MAX_TAIL_BYTES = 65_536;

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
}

export interface ServerEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/**
 * Sends and gives the events of the answer as they come, those of one network packet together, until the body ends or `isComplete` says that the
 * protocol's last event was seen. Throws ModelFailure for anything but a stream of events.
 */
export async function* exchange(deps: ExchangeDeps, target: DriverTarget, outgoing: Outgoing, signal: AbortSignal, isComplete: () => boolean): AsyncGenerator<readonly ServerEvent[]> {
  const response = await send(deps, target, outgoing, signal);
  if (response.status !== 200) throw failureOfAnswer(response.status, response.headers, await bodyText(response, signal), deps.now());
  const type = response.headers['content-type'] ?? '';
  if (type.includes('html') || type.includes('xml')) {
    response.cancel();
    throw new ModelFailure('garbage', `the answer is ${type.split(';')[0]}, not a stream of events`, { httpStatus: 200 });
  }
  let finished = false;
  try {
    yield* events(response, isComplete);
    finished = true;
  } catch (error) {
    throw transportFailure(error, signal);
  } finally {
    // Whoever stops reading early (a cancel, a bad event) must not leave the connection open.
    if (!finished) response.cancel();
  }
}

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

async function* events(response: FetchResponse, isComplete: () => boolean): AsyncGenerator<readonly ServerEvent[]> {
  // One decoder for the whole body: a letter may be cut in two by a packet.
  const decoder = new TextDecoder();
  const lineEnds = createLineEnds();
  let ready: ServerEvent[] = [];
  let broken: string | undefined;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: ({ event, data }) => ready.push({ event, data }),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') broken = 'an event is larger than 4 MB';
    },
  });
  const chunks = response.body[Symbol.asyncIterator]();
  let isLineWhole = false;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    const text = lineEnds(decoder.decode(next.value, { stream: true }));
    if (text !== '') isLineWhole = text.endsWith('\n');
    parser.feed(text);
    if (broken !== undefined) throw new ModelFailure('garbage', broken, { httpStatus: 200 });
    if (ready.length === 0) continue;
    const batch = ready;
    ready = [];
    yield batch;
    if (isComplete()) {
      drain(chunks).catch(() => response.cancel());
      return;
    }
  }
  // Some servers leave out the blank line after their last event. A line that does not end was cut off and is none.
  if (isLineWhole) parser.feed('\n');
  if (ready.length > 0) yield ready;
}

/**
 * Reads what follows the last event, usually the end of the body alone, so that the connection serves the next call.
 * Nobody waits for it: a server that keeps the body open is ended by the exchange's own deadlines.
 */
const drain = async (chunks: AsyncIterator<Uint8Array>): Promise<void> => {
  for (let seen = 0, next = await chunks.next(); !next.done; next = await chunks.next()) {
    seen += next.value.byteLength;
    if (seen > MAX_TAIL_BYTES) throw new RangeError('the body goes on after its last event');
  }
};

const bodyText = async (response: { text(): Promise<string> }, signal: AbortSignal): Promise<string> => {
  try {
    return await response.text();
  } catch (error) {
    // The status alone still tells most of it; only a cancel is more important.
    if (signal.aborted) throw transportFailure(error, signal);
    return '';
  }
};

/** Sockets, names, deadlines: what never became an answer. */
export const transportFailure = (error: unknown, signal: AbortSignal): ModelFailure => {
  if (error instanceof ModelFailure) return error;
  if (signal.aborted) return new ModelFailure('cancelled', 'the call was cancelled', { cause: error });
  const told = toldBy(error);
  if (told) return told;
  const { code, text } = described(error);
  if (/secret/i.test(code) || /vault/i.test(code)) return new ModelFailure('auth', withoutSecrets(text), { cause: error });
  if (/timeout|timed_out|ETIMEDOUT|deadline/i.test(code) || (code === '' && /timed? ?out/i.test(text))) return new ModelFailure('timeout', withoutSecrets(text), { cause: error });
  return new ModelFailure('network', withoutSecrets(text), { cause: error });
};

/** A driver of another extension says of its failure what kind it is. */
const toldBy = (error: unknown): ModelFailure | undefined => {
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
export const eventJson = (data: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (error) {
    throw new ModelFailure('garbage', 'an event of the stream is not JSON', { httpStatus: 200, cause: error });
  }
  if (!isTable(value)) throw new ModelFailure('garbage', 'an event of the stream is not an object', { httpStatus: 200 });
  return value;
};
