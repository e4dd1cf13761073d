/** Files piece by piece: one piece is in memory at a time, and the handle is closed however the reading ends. */
import type { FileHandle } from 'node:fs/promises';
import { filesErrors } from '../errors.js';

const PIECE_BYTES = 64 * 1_024;

interface PieceOptions {
  readonly start?: number;
  /** Not included. */
  readonly end?: number;
  readonly maxBytes?: number;
}

/** Opens with the first piece that is asked for. */
export async function* piecesOf(
  open: () => Promise<{ handle: FileHandle; sizeBytes: number }>,
  asked: string,
  { start = 0, end = Number.MAX_SAFE_INTEGER, maxBytes }: PieceOptions,
): AsyncGenerator<Uint8Array> {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start) throw filesErrors.bad_range(asked);
  const { handle, sizeBytes } = await open();
  try {
    const wanted = Math.min(end, sizeBytes) - start;
    if (maxBytes !== undefined && wanted > maxBytes) throw filesErrors.too_large(asked, wanted, maxBytes);
    for (let at = start; at < end; ) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - at));
      const { bytesRead } = await handle.read(piece, 0, piece.length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      // It may have grown since it was measured.
      if (maxBytes !== undefined && at - start > maxBytes) throw filesErrors.too_large(asked, at - start, maxBytes);
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** The same pieces, refused beyond `maxBytes`; `bytes` says how many there were. */
export const countedPieces = (source: AsyncIterable<Uint8Array>, asked: string, maxBytes: number): { readonly pieces: AsyncIterable<Uint8Array>; bytes(): number } => {
  let bytes = 0;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) throw filesErrors.too_much(asked, maxBytes);
      yield piece;
    }
  }
  return { pieces: pieces(), bytes: () => bytes };
};
