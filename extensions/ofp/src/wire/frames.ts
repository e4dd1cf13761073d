/** Frames: four bytes of length, big-endian, then JSON; after the handshake 64 characters of HMAC follow it and count with it. */
import type { TcpConnection } from '@svc/api';
import { mac, sameText } from './crypto.js';
import type { Outgoing } from './messages.js';

const HEADER_BYTES = 4;
const MAC_CHARS = 64;
const LEAST_SEALED = MAC_CHARS + 2;
export const MAX_HANDSHAKE_BYTES = 65_536;
export const MAX_FRAME_BYTES = 16_777_216;
/** The TCP adapter takes a megabyte that waits, and no more. */
const PIECE_BYTES = 262_144;
/** Frames longer than this share a budget. */
const SMALL_BYTES = 1_048_576;

/** Why a connection ends: for the log, and for whoever waits for its answer. */
export class WireFault extends Error {}

/** What long frames of all connections may hold at once. */
export interface FrameBudget {
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export const createFrameBudget = (most: number): FrameBudget => {
  let held = 0;
  return {
    take: (bytes) => {
      if (bytes <= SMALL_BYTES) return true;
      if (held + bytes > most) return false;
      held += bytes;
      return true;
    },
    give: (bytes) => {
      if (bytes > SMALL_BYTES) held -= bytes;
    },
  };
};

export interface FrameReader {
  /** Undefined at a clean end, which may lie within a header. Throws `WireFault`. */
  plain(): Promise<string | undefined>;
  sealed(key: string): Promise<string | undefined>;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const textOf = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new WireFault('A frame is not UTF-8');
  }
};

export const createReader = (source: AsyncIterable<Uint8Array>, budget: FrameBudget): FrameReader => {
  const pieces = source[Symbol.asyncIterator]();
  let waiting: Uint8Array[] = [];
  let length = 0;
  const take = async (count: number): Promise<Buffer | undefined> => {
    while (length < count) {
      const { done, value } = await pieces.next();
      if (done) return undefined;
      waiting.push(value);
      length += value.length;
    }
    const whole = Buffer.concat(waiting);
    waiting = [whole.subarray(count)];
    length -= count;
    return whole.subarray(0, count);
  };
  /** The body, given to `use` while it counts. */
  const body = async (least: number, most: number, use: (bytes: Buffer) => string): Promise<string | undefined> => {
    const header = await take(HEADER_BYTES);
    if (!header) return undefined;
    const size = header.readUInt32BE();
    if (size > most) throw new WireFault(`Message too large: ${size} bytes (max ${most})`);
    if (size < least) throw new WireFault('Message too short for authenticated frame');
    if (!budget.take(size)) throw new WireFault('Too many long messages at once');
    try {
      const bytes = await take(size);
      if (!bytes) throw new WireFault('Connection closed');
      return use(bytes);
    } finally {
      budget.give(size);
    }
  };
  return {
    plain: () => body(0, MAX_HANDSHAKE_BYTES, textOf),
    sealed: (key) =>
      body(LEAST_SEALED, MAX_FRAME_BYTES, (bytes) => {
        const json = bytes.subarray(0, bytes.length - MAC_CHARS);
        const given = textOf(bytes.subarray(bytes.length - MAC_CHARS));
        const text = textOf(json);
        if (!sameText(mac(key, json), given)) throw new WireFault('Per-message HMAC verification failed');
        return text;
      }),
  };
};

const framed = (...parts: readonly Buffer[]): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(parts.reduce((sum, { length }) => sum + length, 0));
  return Buffer.concat([header, ...parts]);
};

export const plainFrame = (message: Outgoing): Buffer => framed(Buffer.from(JSON.stringify(message)));
export const sealedFrame = (message: Outgoing, key: string): Buffer => {
  const json = Buffer.from(JSON.stringify(message));
  return framed(json, Buffer.from(mac(key, json)));
};

/** A long frame goes out piece by piece. */
export const writeFrame = async (connection: Pick<TcpConnection, 'write'>, frame: Buffer): Promise<void> => {
  if (frame.length - HEADER_BYTES > MAX_FRAME_BYTES) throw new WireFault(`Message too large: ${frame.length - HEADER_BYTES} bytes (max ${MAX_FRAME_BYTES})`);
  for (let at = 0; at < frame.length; at += PIECE_BYTES) await connection.write(frame.subarray(at, at + PIECE_BYTES));
};
