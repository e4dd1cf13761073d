/**
 * Messages on a stream of bytes: the length of all, the length of the JSON, the JSON, the bytes that stand beside it.
 *
 * F1  A length beyond the limit is refused when its four bytes have come, before anything of the message is kept.
 */
import { isolationErrors } from '../errors.js';

/** Bytes of one message, at most. */
export const MAX_FRAME_BYTES = 4 * 1024 * 1024;

const LENGTH_BYTES = 4;

export interface Framed {
  readonly head: unknown;
  readonly parts: readonly Uint8Array[];
}

/** Throws `isolation_frame_size`. `head` is what JSON.stringify takes; the sizes of the parts are added to it. */
export const encodeFrame = (head: readonly unknown[], parts: readonly Uint8Array[]): Buffer => {
  const json = Buffer.from(JSON.stringify(parts.length === 0 ? head : [...head, parts.map(({ byteLength }) => byteLength)]), 'utf8');
  const size = LENGTH_BYTES + json.byteLength + parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (size > MAX_FRAME_BYTES) throw isolationErrors.frame_size(size, MAX_FRAME_BYTES);
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + size);
  frame.writeUInt32BE(size, 0);
  frame.writeUInt32BE(json.byteLength, LENGTH_BYTES);
  frame.set(json, 2 * LENGTH_BYTES);
  let at = 2 * LENGTH_BYTES + json.byteLength;
  for (const part of parts) {
    frame.set(part, at);
    at += part.byteLength;
  }
  return frame;
};

/** Puts pieces together as they come. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #size = 0;
  #wanted: number | undefined;

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#size += piece.byteLength;
  }

  /** The next whole message; undefined until it is there. Throws `isolation_frame_size` and `isolation_frame_broken`. */
  next(): Framed | undefined {
    if (this.#wanted === undefined) {
      if (this.#size < LENGTH_BYTES) return undefined;
      const size = this.#take(LENGTH_BYTES).readUInt32BE(0);
      if (size > MAX_FRAME_BYTES) throw isolationErrors.frame_size(size, MAX_FRAME_BYTES);
      this.#wanted = size;
    }
    if (this.#size < this.#wanted) return undefined;
    const frame = this.#take(this.#wanted);
    this.#wanted = undefined;
    return decoded(frame);
  }

  #take(bytes: number): Buffer {
    const [first] = this.#pieces;
    const whole = first && first.byteLength >= bytes ? first : Buffer.concat(this.#pieces);
    const rest = whole.subarray(bytes);
    this.#pieces = whole === first ? [rest, ...this.#pieces.slice(1)] : [rest];
    if (rest.byteLength === 0) this.#pieces.shift();
    this.#size -= bytes;
    return whole.subarray(0, bytes);
  }
}

const decoded = (frame: Buffer): Framed => {
  if (frame.byteLength < LENGTH_BYTES) throw isolationErrors.frame_broken('it is too short');
  const jsonBytes = frame.readUInt32BE(0);
  const end = LENGTH_BYTES + jsonBytes;
  if (end > frame.byteLength) throw isolationErrors.frame_broken('its parts are longer than the whole');
  const head = parsed(frame.toString('utf8', LENGTH_BYTES, end));
  if (end === frame.byteLength) return { head, parts: [] };
  const sizes: unknown = head.at(-1);
  if (!Array.isArray(sizes)) throw isolationErrors.frame_broken('it is followed by unexpected bytes');
  const parts: Uint8Array[] = [];
  let at = end;
  for (const size of sizes) {
    if (!Number.isInteger(size) || size < 0 || at + size > frame.byteLength) throw isolationErrors.frame_broken('a part has no size');
    // A copy of its own: a view would keep all that came with it.
    parts.push(Uint8Array.prototype.slice.call(frame, at, at + size));
    at += size;
  }
  if (at !== frame.byteLength) throw isolationErrors.frame_broken('it is followed by unexpected bytes');
  return { head: head.slice(0, -1), parts };
};

const parsed = (text: string): unknown[] => {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    throw isolationErrors.frame_broken('it is not JSON');
  }
  throw isolationErrors.frame_broken('it is not a list');
};
