/**
 * Stands between a connection and the WebSocket library, and hands on as many frames as the socket's share has units for.
 * The library parses all that it is given, 9,000 empty frames of one packet too, before anything else gets a turn.
 *
 * M1  At most four frames of one socket are handed on before others have their turn (frame-turns.ts).
 * M2  What was not handed on is at most one packet: while it is held, nothing more is read.
 * M3  A message that says that it is too large is known by its first bytes, and not read.
 */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { BYTES_PER_UNIT, type FrameShare } from './frame-shares.js';
import type { FrameTurns } from './frame-turns.js';

const MOST_IN_A_TURN = 4;
const SMALL_HEADER_BYTES = 2;
const MASK_BYTES = 4;
const HEADER_MAX_BYTES = 14;
const CONTROL_FROM = 8;

export interface FrameMeter {
  /** Nothing is read until `go`: what was read before is still being worked on. */
  hold(): void;
  go(): void;
  /** Nothing more is read from this connection. */
  end(): void;
}

export interface MeterOptions {
  readonly share: FrameShare;
  readonly turns: FrameTurns;
  readonly maxMessageBytes: () => number;
  readonly flooded: () => void;
  readonly tooLarge: () => void;
}

export const createFrameMeter = (ws: WebSocket, socket: Socket, { share, turns, maxMessageBytes, flooded, tooLarge }: MeterOptions): FrameMeter => {
  const parse = takeOver(socket);
  const scanner = createScanner();
  let held: Buffer | undefined;
  let isHeldBack = false;
  let hasEnded = false;
  let timer: NodeJS.Timeout | undefined;
  let isInLine = false;

  const pump = (): void => {
    isInLine = false;
    timer = undefined;
    if (held && !isHeldBack && !hasEnded) handOn(held);
    if (!hasEnded) settle();
  };
  const handOn = (bytes: Buffer): void => {
    const { end, units, isTooLarge } = scanner.scan(bytes, Math.min(MOST_IN_A_TURN, share.left()), maxMessageBytes());
    share.take(units);
    held = end < bytes.length ? bytes.subarray(end) : undefined;
    if (end > 0) parse(bytes.subarray(0, end));
    // The library would wait for all of it.
    if (isTooLarge) tooLarge();
    else if (held && share.isFlooding()) flooded();
  };
  const waitInQueue = (): void => {
    isInLine = true;
    turns.wait(pump);
  };
  /** Reads on, or says when to look again. */
  const settle = (): void => {
    if (!held) {
      if (!isHeldBack && ws.isPaused) ws.resume();
      return;
    }
    ws.pause();
    if (isHeldBack || isInLine || timer) return;
    if (share.left() > 0) waitInQueue();
    else timer = setTimeout(pump, share.waitMs());
  };
  const stop = (): void => {
    hasEnded = true;
    held = undefined;
    clearTimeout(timer);
    share.leave();
    ws.pause();
  };
  const closed = (): void => {
    stop();
    // The library would parse what is left, at once, for a socket that nobody hears any more.
    socket.read();
  };
  socket.on('data', (chunk: Buffer) => {
    if (hasEnded) return;
    held = held ? Buffer.concat([held, chunk]) : chunk;
    if (isInLine || timer) return;
    if (turns.isIdle()) pump();
    else settle();
  });
  socket.prependOnceListener('close', closed);
  return {
    hold: () => {
      isHeldBack = true;
      ws.pause();
    },
    go: () => {
      isHeldBack = false;
      if (!hasEnded) settle();
    },
    end: stop,
  };
};

/** The library listens for bytes; from now on it gets them from whoever calls this. */
const takeOver = (socket: Socket): ((bytes: Buffer) => void) => {
  const listeners = socket.listeners('data');
  socket.removeAllListeners('data');
  return (bytes) => {
    for (const listener of listeners) listener.call(socket, bytes);
  };
};

interface Scanned {
  /** So many bytes may be handed on: frames, and as much of the last one as is there. */
  readonly end: number;
  readonly units: number;
  /** What begins at the end says that it is larger than allowed. */
  readonly isTooLarge: boolean;
}

/** Finds where frames begin (RFC 6455, 5.2); what is wrong with them the library says. */
const createScanner = () => {
  const header = Buffer.alloc(HEADER_MAX_BYTES);
  let headerBytes = 0;
  let payloadLeft = 0;
  let messageBytes = 0;
  const headerLength = (): number => {
    if (headerBytes < SMALL_HEADER_BYTES) return SMALL_HEADER_BYTES;
    const short = (header[1] ?? 0) & 0x7f;
    const mask = (header[1] ?? 0) & 0x80 ? MASK_BYTES : 0;
    return SMALL_HEADER_BYTES + (short === 126 ? 2 : short === 127 ? 8 : 0) + mask;
  };
  const payloadLength = (): number => {
    const short = (header[1] ?? 0) & 0x7f;
    if (short < 126) return short;
    return short === 126 ? header.readUInt16BE(2) : Number(header.readBigUInt64BE(2));
  };
  return {
    /** Begins at most `most` frames. */
    scan: (bytes: Buffer, most: number, maxBytes: number): Scanned => {
      let at = 0;
      let begun = 0;
      let units = 0;
      let beginsAt = 0;
      while (at < bytes.length) {
        if (payloadLeft > 0) {
          const step = Math.min(payloadLeft, bytes.length - at);
          payloadLeft -= step;
          at += step;
          continue;
        }
        if (headerBytes === 0) {
          if (begun >= most) break;
          begun += 1;
          units += 1;
          beginsAt = at;
        }
        header[headerBytes++] = bytes[at++] ?? 0;
        if (headerBytes < headerLength()) continue;
        payloadLeft = payloadLength();
        const opcode = (header[0] ?? 0) & 0x0f;
        if (opcode < CONTROL_FROM) {
          messageBytes = (opcode === 0 ? messageBytes : 0) + payloadLeft;
          if (messageBytes > maxBytes) return { end: beginsAt, units, isTooLarge: true };
        }
        units += Math.floor(payloadLeft / BYTES_PER_UNIT);
        headerBytes = 0;
      }
      return { end: at, units, isTooLarge: false };
    },
  };
};
