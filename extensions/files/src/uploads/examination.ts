/** Looks at a file while it passes: how long it is, what it is, and its hash. Nothing of it is kept but its first bytes. */
import { createHash } from 'node:crypto';
import { encodingOf } from '@svc/api';
import { uploadErrors } from '../errors.js';
import { HEAD_BYTES, validateHead, typeOfBytes } from './content-type.js';

/** A file on its way in. */
export interface Incoming {
  readonly name: string;
  /** The content type that it was sent with. */
  readonly declared: string | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface Examined {
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface Examination {
  /** The same bytes. Throws `upload_too_large`, and as soon as it shows `upload_type_unsupported` or `upload_type_mismatch`. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** When the last piece has passed. Throws `upload_empty`, `upload_type_unsupported`, `upload_type_mismatch`. */
  result(): Examined;
}

export const examine = ({ name, declared, bytes }: Incoming, maxBytes: number): Examination => {
  const hash = createHash('sha256');
  const text = textProbe();
  let head = new Uint8Array();
  let isValidated = false;
  let sizeBytes = 0;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      sizeBytes += piece.byteLength;
      if (sizeBytes > maxBytes) throw uploadErrors.too_large(maxBytes);
      if (head.byteLength < HEAD_BYTES) head = Buffer.concat([head, piece.subarray(0, HEAD_BYTES - head.byteLength)]);
      if (!isValidated && head.byteLength >= HEAD_BYTES) {
        isValidated = true;
        validateHead(declared, head);
      }
      hash.update(piece);
      text.add(piece);
      yield piece;
    }
  }
  return {
    pieces: pieces(),
    result: () => {
      if (sizeBytes === 0) throw uploadErrors.empty();
      return { contentType: typeOfBytes({ declared, name, head, isText: text.isText() }), sizeBytes, sha256: hash.digest('hex') };
    },
  };
};

/** Of a file that is stored as it is: of any type, and also an empty one. */
export const measure = ({ bytes }: Incoming, maxBytes: number): Examination => {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      sizeBytes += piece.byteLength;
      if (sizeBytes > maxBytes) throw uploadErrors.too_large(maxBytes);
      hash.update(piece);
      yield piece;
    }
  }
  return { pieces: pieces(), result: () => ({ contentType: 'application/octet-stream', sizeBytes, sha256: hash.digest('hex') }) };
};

/** UTF-8, or UTF-16 by its byte order mark, without a zero. */
const textProbe = () => {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let first: Uint8Array = new Uint8Array();
  let isSoFar = true;
  const decode = (piece: Uint8Array, stream: boolean): void => {
    try {
      decoder ??= new TextDecoder(encodingOf(first), { fatal: true });
      if (decoder.decode(piece, { stream }).includes('\0')) isSoFar = false;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      isSoFar = false;
    }
  };
  return {
    add: (piece: Uint8Array): void => {
      if (!isSoFar) return;
      // The mark may come in two pieces.
      const held = decoder === undefined && first.byteLength > 0 ? Buffer.concat([first, piece]) : piece;
      if (decoder === undefined) first = held.subarray(0, 2);
      if (first.byteLength === 2) decode(held, true);
    },
    isText: (): boolean => {
      if (isSoFar) decode(decoder === undefined ? first : new Uint8Array(), false);
      return isSoFar;
    },
  };
};
