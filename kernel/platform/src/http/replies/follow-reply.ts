/**
 * Pumps a topic to a response. What is not yet written stays in the topic's ring: a slow
 * client costs a place in it. One that falls behind the ring is told so and resumes; one that
 * reads nothing for four beats is hung up on.
 */
import type { ServerResponse } from 'node:http';
import type { Headers } from '@svc/api';
import type { FrameEncoder } from '../../streams/projections.js';
import type { StreamsAdmin } from '../../streams/streams.js';
import { streamErrors } from '../../streams/errors.js';
import { lastWords } from '../../streams/cursor.js';
import { type Head, headersOf } from './answer.js';

/** How long a client may take for the last words, which stand behind what it has not read. */
const GOODBYE_MS = 5_000;
const MAX_STALLED_BEATS = 4;
const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');

/** A reply whose projection was found. */
export interface Follow {
  readonly topic: string;
  readonly after: string | number;
  readonly encoder: FrameEncoder;
  readonly headers: Headers;
}

export interface Followers {
  /** Throws when there is no such topic: nothing is written then. What it returns hangs up. */
  start(res: ServerResponse, head: Head, reply: Follow): () => void;
  count(): number;
  /** Ends every response; clients connect again and resume. */
  close(): void;
}

interface Following {
  readonly res: ServerResponse;
  readonly isEvents: boolean;
  /** Beats in a row at which the client had more than it takes. */
  stalledBeats: number;
}

export const createFollowers = (streams: StreamsAdmin, keepAliveMs: number): Followers => {
  const open = new Set<Following>();
  let timer: NodeJS.Timeout | undefined;
  const tick = () => {
    for (const following of open) {
      const { res, isEvents } = following;
      following.stalledBeats = res.writableNeedDrain ? following.stalledBeats + 1 : 0;
      if (following.stalledBeats >= MAX_STALLED_BEATS) res.destroy();
      // A client that reads too slowly gets no comments on top.
      else if (isEvents && !res.writableNeedDrain) res.write(KEEP_ALIVE);
    }
  };
  return {
    start: (res, head, reply) => {
      // Gone before the first byte: no event will tell any more.
      if (res.closed || res.destroyed) return () => undefined;
      const following: Following = { res, isEvents: reply.encoder.contentType.startsWith('text/event-stream'), stalledBeats: 0 };
      const stop = pump(streams, res, head, reply, () => {
        open.delete(following);
        if (open.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      });
      open.add(following);
      timer ??= setInterval(tick, keepAliveMs);
      return stop;
    },
    count: () => open.size,
    close: () => {
      clearInterval(timer);
      for (const { res } of open) res.end();
    },
  };
};

function pump(streams: StreamsAdmin, res: ServerResponse, head: Head, reply: Follow, left: () => void): () => void {
  const { encoder } = reply;
  let isBlocked = false;
  let isOver = false;
  /** The projection says that nothing of the topic follows in this response. */
  let isLast = false;
  /** False when the client has more than it takes for now. */
  const writeSome = (): boolean => {
    let isFull = false;
    res.cork();
    for (let frame = place.read(); frame && !isFull && !isLast; frame = isFull || isLast ? undefined : place.read()) {
      const bytes = streams.encoded(frame, encoder);
      isFull = bytes.length > 0 && !res.write(bytes);
      isLast = encoder.until?.(frame) ?? false;
    }
    res.uncork();
    return !isFull;
  };
  const write = () => {
    if (isBlocked || isOver) return;
    // What was corked may have gone out whole on uncork; then no `drain` will ever come.
    while (!writeSome() && !isLast) {
      isBlocked = res.writableLength > 0;
      if (isBlocked) break;
    }
    if (place.state === 'live' && !isLast) return;
    isOver = true;
    if (place.state === 'ended' || isLast) res.end(encoder.epilogue);
    // It comes back with the last frame it has, and is given what rows know.
    else if (place.state === 'moved') res.destroy();
    else {
      // It was too slow, or the service stops: what it follows goes on, and it can come back.
      res.end((encoder.encode(lastWords(place)) ?? '') + (encoder.epilogue ?? ''));
      const timer = setTimeout(() => res.destroy(), GOODBYE_MS);
      res.once('close', () => clearTimeout(timer));
    }
  };
  const place = placeOf(streams, reply, write);
  res.writeHead(200, headersOf(head, encoder.contentType, { 'cache-control': 'no-cache', 'x-accel-buffering': 'no', ...reply.headers }));
  res.on('drain', () => {
    isBlocked = false;
    write();
  });
  res.once('close', () => {
    place.close();
    left();
  });
  // The client learns at once that it is connected, also where the first frame takes long.
  if (encoder.preamble) res.write(encoder.preamble);
  else res.flushHeaders();
  write();
  return () => {
    isOver = true;
    res.destroy();
  };
}

function placeOf(streams: StreamsAdmin, reply: { topic: string; after: string | number; encoder: FrameEncoder }, wake: () => void) {
  const place = streams.cursor(reply.topic, reply.after, wake);
  if (!place) throw streamErrors.not_found(reply.topic);
  return place;
}
