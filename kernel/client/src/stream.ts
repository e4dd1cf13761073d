/**
 * Events of a run as they come, whatever happens to the connection.
 *
 * S1  A connection that ends before the last event is taken up after the event that came last: none is lost, none comes
 *     twice. So it is with a daemon that restarts, whose goodbye on the stream is no event of the run.
 * S2  However often it is taken up, a message is one message: each attempt carries the same Idempotency-Key.
 * S3  It ends with exactly one `done` or `error`, or it throws: when the daemon refuses, when nothing was heard for too
 *     long, or when the caller's signal says so.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type Client, mayPass, type OpenAnswer, waitFor } from './client.js';
import { AbortedError, ConnectionError, NotSvcError, TimeoutError } from './errors.js';
import { contentTypeOf } from './answer.js';
import { OPERATIONS } from './generated/operations.js';
import type { EventOf, InputOf, StreamingId } from './operation-types.js';
import { newKey } from './request.js';
import { bytesOf } from './transport.js';
import { pause } from './waiting.js';
import { onWake } from './waking.js';

export interface FollowOptions {
  readonly signal?: AbortSignal;
  /** Made anew when left out. Keep your own where the message may be sent again after a crash of your program. */
  readonly idempotencyKey?: string;
  /** The `id` of the last event that an earlier life of your program saw. */
  readonly after?: string;
  /** For how long it is tried to take a lost stream up again; default two minutes. */
  readonly reconnectMs?: number;
  /** A connection on which nothing comes for so long is given up for another; default one minute. The daemon sends a sign of life every few seconds. */
  readonly idleMs?: number;
  /** Told when the connection is lost, and when it is there again. */
  readonly onConnection?: (state: 'lost' | 'back') => void;
  /** Told each time that a connection stands, also when nothing comes on it yet. */
  readonly onOpen?: () => void;
}

export type MessageEvent = EventOf<'streamMessage'>;
export type MessageInput = InputOf<'streamMessage'>['body'];

const RECONNECT_MS = 120_000;
const IDLE_MS = 60_000;
/** One event holds the result of one tool at most. */
const MAX_EVENT_CHARS = 32 * 1024 * 1024;
/** Of a first connection: whoever never heard anything learns soon that nobody is there. */
const FIRST_ATTEMPTS = 3;

/** Sends a message and gives what happens until its answer. */
export const streamMessage = (client: Client, agentId: string, message: MessageInput, options: FollowOptions = {}): AsyncGenerator<MessageEvent, void, undefined> =>
  followEvents(client, 'streamMessage', { id: agentId, body: message }, { idempotencyKey: newKey(), ...options });

/** Gives what happens in a session from the beginning of the run that goes on there, until its end. */
export const followSession = (client: Client, agentId: string, sessionId: string, options: FollowOptions = {}): AsyncGenerator<EventOf<'followSession'>, void, undefined> =>
  followEvents(client, 'followSession', { id: agentId, session_id: sessionId }, options);

/** What of an operation's stream was heard, and since when nothing was. */
interface Received {
  lastId: string | undefined;
  /** Whether the daemon may have taken the message: from then on it is worth a long wait. */
  hasBegun: boolean;
  /** Of attempts since something was heard. */
  attempts: number;
  /** Since when it is tried to take it up again; not counted while the page slept. */
  lostSince: number | undefined;
  isLost: boolean;
}

export async function* followEvents<Id extends StreamingId>(client: Client, id: Id, input: InputOf<Id>, options: FollowOptions = {}): AsyncGenerator<EventOf<Id>, void, undefined> {
  const received: Received = { lastId: options.after, hasBegun: options.after !== undefined, attempts: 0, lostSince: undefined, isLost: false };
  for (;;) {
    try {
      for await (const event of eventsOnce(client, id, input, received, options)) {
        if (isGoodbye(event)) break;
        // The document gives each of these names its shape.
        yield event as EventOf<Id>;
        if (event.type === 'done' || event.type === 'error') return;
      }
      if (options.signal?.aborted) throw new AbortedError(OPERATIONS[id][1], options.signal.reason);
    } catch (error) {
      if (!isLoss(error)) throw error;
      // A connection that was refused has taken nothing along.
      received.hasBegun ||= error instanceof TimeoutError || (error instanceof ConnectionError && error.fault === 'broken');
      if (isOver(received, options)) throw error;
      await betweenAttempts(error, received, options);
      continue;
    }
    if (isOver(received, options)) throw new ConnectionError('broken', client.baseUrl, 'the stream ended repeatedly before its last event', undefined);
    await betweenAttempts(undefined, received, options);
  }
}

/** Gives what happens in one call. It is sent once and never taken up again: for what may not happen twice. Throws what `call` throws. */
export async function* eventsOfCall<Id extends StreamingId>(
  client: Client,
  id: Id,
  input: InputOf<Id>,
  options: Pick<FollowOptions, 'signal' | 'idleMs'> = {},
): AsyncGenerator<EventOf<Id>, void, undefined> {
  const received: Received = { lastId: undefined, hasBegun: false, attempts: 0, lostSince: undefined, isLost: false };
  // The document gives each of these names its shape.
  for await (const event of eventsOnce(client, id, input, received, options)) yield event as EventOf<Id>;
}

const isLoss = (error: unknown): boolean => error instanceof TimeoutError || mayPass(error);

const isOver = (received: Received, { reconnectMs = RECONNECT_MS }: FollowOptions): boolean => {
  received.lostSince ??= performance.now();
  return received.hasBegun ? performance.now() - received.lostSince > reconnectMs : received.attempts >= FIRST_ATTEMPTS - 1;
};

const betweenAttempts = async (error: unknown, received: Received, { signal, onConnection }: FollowOptions): Promise<void> => {
  if (!received.isLost) onConnection?.('lost');
  received.isLost = true;
  await pauseUnlessWoken(waitFor(error, received.attempts++), signal, () => {
    received.lostSince = performance.now();
  });
};

/** Ends at once when a page that slept, or had no network, wakes. */
const pauseUnlessWoken = async (ms: number, signal: AbortSignal | undefined, onWoken: () => void): Promise<void> => {
  const early = new AbortController();
  const end = (): void => early.abort();
  const leave = onWake(() => {
    onWoken();
    end();
  });
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  await pause(ms, early.signal);
  leave();
  signal?.removeEventListener('abort', end);
};

interface Parsed {
  readonly type: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

/** What one connection brings. */
async function* eventsOnce<Id extends StreamingId>(client: Client, id: Id, input: InputOf<Id>, received: Received, options: FollowOptions): AsyncGenerator<Parsed> {
  const headers = { accept: 'text/event-stream', ...(received.lastId === undefined ? {} : { 'last-event-id': received.lastId }) };
  const { signal, idempotencyKey, idleMs = IDLE_MS } = options;
  const answer = await client.open(id, input, { headers, idleMs, ...(signal ? { signal } : {}), ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });
  received.hasBegun = true;
  try {
    if (contentTypeOf(answer) !== 'text/event-stream') throw new NotSvcError(client.baseUrl, answer.status, `it answered a stream with ${contentTypeOf(answer) || 'a body of no type'}`);
    options.onOpen?.();
    for await (const event of parsedEvents(client.baseUrl, answer)) {
      if (received.isLost) options.onConnection?.('back');
      Object.assign(received, { lastId: event.id ?? received.lastId, attempts: 0, lostSince: undefined, isLost: false });
      yield event;
    }
  } catch (error) {
    throw answer.explain(error);
  } finally {
    answer.close();
  }
}

async function* parsedEvents(url: string, answer: OpenAnswer): AsyncGenerator<Parsed> {
  const decoder = new TextDecoder();
  const queue: EventSourceMessage[] = [];
  let isTooLarge = false;
  const parser = createParser({
    onEvent: (event) => void queue.push(event),
    onError: ({ type }) => {
      isTooLarge ||= type === 'max-buffer-size-exceeded';
    },
    maxBufferSize: MAX_EVENT_CHARS,
  });
  for await (const bytes of bytesOf(answer.body)) {
    answer.renew();
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (isTooLarge) throw new NotSvcError(url, answer.status, `one event of its stream is larger than ${MAX_EVENT_CHARS} characters`);
    for (const event of queue.splice(0)) yield { type: event.event ?? 'message', id: event.id, data: dataOf(url, answer, event) };
  }
}

const dataOf = (url: string, answer: OpenAnswer, { event = 'message', data }: EventSourceMessage): unknown => {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw new NotSvcError(url, answer.status, `the event ${event} of its stream is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
};

/** The stream ends here and goes on elsewhere or later: the daemon stops, or the reader was too slow. The run itself says other codes. */
const isGoodbye = ({ type, data }: Parsed): boolean => {
  if (type !== 'error' || typeof data !== 'object' || data === null) return false;
  return 'status' in data && data.status === 503 && 'code' in data && typeof data.code === 'string' && data.code.startsWith('stream_');
};
