/**
 * What the platform keeps per open socket. It outlives reloads of the area that opened it.
 *
 * S1  Messages of one socket are handled one after another, in order.
 * S2  Memory per socket is bounded: what waits to be handled stops the reading, what the client does not read closes it.
 * S3  A socket whose frames are refused again and again is closed, and so is one that floods (frame-shares.ts): with 4429, after a frame that says why.
 */
import type { Socket } from 'node:net';
import type { Actor, Connection, Logger, Reply, SvcError } from '@svc/api';
import type { WebSocket } from 'ws';
import type { Projections } from '../../streams/projections.js';
import type { StreamsAdmin } from '../../streams/streams.js';
import { streamErrors } from '../../streams/errors.js';
import { lastWords } from '../../streams/cursor.js';
import { httpErrors } from '../errors.js';
import { createFrameMeter, type FrameMeter } from './frame-meter.js';
import type { FrameShare } from './frame-shares.js';
import type { FrameTurns } from './frame-turns.js';

const MAX_UNSENT_BYTES = 1_048_576;
/** A followed topic is read on when less than this waits to be sent. */
const RESUME_BELOW_BYTES = 262_144;
const MAX_WAITING_MESSAGES = 32;
const MISSED_PINGS_MAX = 2;
/** S3: so many refused frames at once, and one more every two seconds. */
const MOST_REFUSED = 30;
const FORGIVEN_PER_SECOND = 0.5;
/** How long a client that is not heard any more has to take the close frame. */
const GOODBYE_MS = 1_000;

/** 4401, 4403 and 4429 are ours, after the HTTP statuses: the key is no longer valid, the role no longer allows it, too many frames. */
export const CLOSE = { normal: 1000, goingAway: 1001, tooLarge: 1009, internal: 1011, restart: 1012, tryLater: 1013, unauthorized: 4401, forbidden: 4403, tooMany: 4429 } as const;

export interface ConnectionInit {
  readonly id: string;
  readonly actor: Actor;
  readonly ip: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly state: Record<string, unknown>;
  readonly log: Logger;
}

/** What a connection works with. */
export interface ConnectionParts {
  readonly ws: WebSocket;
  readonly socket: Socket;
  readonly streams: StreamsAdmin;
  readonly projections: Projections;
  readonly share: FrameShare;
  readonly turns: FrameTurns;
  readonly maxMessageBytes: () => number;
  readonly now: () => number;
}

export class SocketConnection implements Connection {
  readonly id: string;
  /** Validated again with each message, and when keys or roles change. */
  actor: Actor;
  readonly ip: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly state: Record<string, unknown>;
  readonly log: Logger;
  readonly #ws: WebSocket;
  readonly #streams: StreamsAdmin;
  readonly #projections: Projections;
  /** Places in the topics that are pumped to this socket. */
  readonly #places = new Set<{ close(): void }>();
  #work: Promise<void> = Promise.resolve();
  #waiting = 0;
  #missedPings = 0;
  readonly #now: () => number;
  readonly #meter: FrameMeter;
  readonly #maxMessageBytes: () => number;
  #refused = 0;
  #refusedAtMs = 0;

  constructor(init: ConnectionInit, { ws, socket, streams, projections, share, turns, maxMessageBytes, now }: ConnectionParts) {
    this.id = init.id;
    this.actor = init.actor;
    this.ip = init.ip;
    this.params = init.params;
    this.query = init.query;
    this.state = init.state;
    this.log = init.log;
    this.#ws = ws;
    this.#streams = streams;
    this.#projections = projections;
    this.#now = now;
    this.#maxMessageBytes = maxMessageBytes;
    this.#meter = createFrameMeter(ws, socket, {
      share,
      turns,
      maxMessageBytes,
      flooded: () => this.#shutOut(httpErrors.too_many_frames()),
      tooLarge: () => {
        this.#meter.end();
        // What came before it is still answered.
        this.inOrder(async () => this.closeTooLarge());
      },
    });
    ws.on('pong', () => {
      this.#missedPings = 0;
    });
    // The library's own answer to a ping would pile up for a client that does not read.
    ws.on('ping', (data) => {
      if (ws.bufferedAmount > MAX_UNSENT_BYTES) this.#dropSlow();
      else if (this.isOpen) ws.pong(data);
    });
  }

  get unsentBytes(): number {
    return this.#ws.bufferedAmount;
  }

  /** Text and bytes are sent as they are, so that a frame for many sockets is made once; anything else as JSON. */
  send(frame: unknown): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    if (this.#ws.bufferedAmount > MAX_UNSENT_BYTES) this.#dropSlow();
    else this.#ws.send(typeof frame === 'string' || frame instanceof Uint8Array ? frame : JSON.stringify(frame), { binary: false });
  }

  follow({ topic, projection, args, after }: Extract<Reply, { kind: 'follow' }>): void {
    const encoder = this.#projections.encoder(projection, args);
    const place = this.#streams.cursor(topic, after, () => write());
    if (!place) throw streamErrors.not_found(topic);
    let isBlocked = false;
    const resume = () => {
      if (!isBlocked || this.#ws.bufferedAmount > RESUME_BELOW_BYTES) return;
      isBlocked = false;
      write();
    };
    const write = () => {
      for (let frame = isBlocked ? undefined : place.read(); frame; frame = isBlocked ? undefined : place.read()) {
        const bytes = this.#streams.encoded(frame, encoder);
        if (bytes.length === 0) continue;
        this.#ws.send(bytes, { binary: false }, resume);
        isBlocked = this.#ws.bufferedAmount > RESUME_BELOW_BYTES;
      }
      if (place.state === 'live') return;
      this.#places.delete(place);
      if (place.state === 'lost') {
        // Behind all that it has not read: whoever reads again learns why, and from where to resume.
        this.send(encoder.encode(lastWords(place)) ?? '');
        this.#dropSlow();
      }
      if (place.state === 'moved') this.close(CLOSE.restart, 'the run continues in another process: reconnect and resume');
      // Whoever left hears nothing any more; the others are told that the service stops.
      if (place.state === 'closed') this.send(encoder.encode(lastWords(place)) ?? '');
    };
    this.#places.add(place);
    if (encoder.preamble) this.send(encoder.preamble);
    write();
  }

  /** False from the moment that either side has begun to close it. */
  get isOpen(): boolean {
    return this.#ws.readyState === this.#ws.OPEN;
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason.slice(0, 120)); // 123 bytes fit a close frame
  }

  closeTooLarge(): void {
    this.send({ type: 'error', content: `A frame has at most ${this.#maxMessageBytes()} bytes.`, code: 'format_error' });
    this.#hangUp(CLOSE.tooLarge, 'the frame is too large');
  }

  /** S3. Says why a frame was not taken. */
  refuse(error: SvcError): void {
    const now = this.#now();
    this.#refused = Math.max(0, this.#refused - ((now - this.#refusedAtMs) * FORGIVEN_PER_SECOND) / 1_000) + 1;
    this.#refusedAtMs = now;
    this.send({ type: 'error', content: error.message, code: error.code });
    if (this.#refused > MOST_REFUSED) this.#shutOut(httpErrors.too_many_refused_frames());
  }

  /** Runs the work after all that came before; a flood stops the reading until it is worked off. */
  inOrder(work: () => Promise<void>): void {
    this.#waiting++;
    if (this.#waiting >= MAX_WAITING_MESSAGES) this.#meter.hold();
    this.#work = this.#work.then(work).finally(() => {
      this.#waiting--;
      if (this.#waiting < MAX_WAITING_MESSAGES / 2) this.#meter.go();
    });
  }

  /** The beat of the heart; a peer that answered none of the last two is gone. */
  ping(): void {
    if (this.#missedPings++ >= MISSED_PINGS_MAX) this.#ws.terminate();
    else this.#ws.ping();
  }

  /** The socket has closed: nothing is pumped to it any more. */
  release(): void {
    for (const place of this.#places) place.close();
    this.#places.clear();
  }

  terminate(): void {
    this.#ws.terminate();
  }

  #shutOut(why: SvcError): void {
    if (!this.isOpen) return;
    this.log.warn('a socket was closed', { socket: this.id, actor: this.actor.id, ip: this.ip, code: why.code });
    this.send({ type: 'error', content: why.message, code: why.code });
    this.#hangUp(CLOSE.tooMany, `${why.code}: ${why.message}`);
  }

  /** Nothing more of it is read, so its own close frame will not be seen either. */
  #hangUp(code: number, reason: string): void {
    this.#meter.end();
    this.close(code, reason);
    const timer = setTimeout(() => this.#ws.terminate(), GOODBYE_MS);
    this.#ws.once('close', () => clearTimeout(timer));
  }

  #dropSlow(): void {
    if (!this.isOpen) return;
    // What it follows is written to it no more.
    for (const place of this.#places) place.close();
    this.#places.clear();
    const { code, message } = streamErrors.reader_too_slow('this connection');
    // The close frame stands behind all that it does not read: it has a moment for it.
    this.#hangUp(CLOSE.tryLater, `${code}: ${message}`);
  }
}
