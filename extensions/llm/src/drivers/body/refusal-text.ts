/** The beginning of what came with a refusal: its size is the server's choice. */
import { brotliDecompressSync, constants, unzipSync } from 'node:zlib';
import type { FetchResponse } from '@svc/api';

const MAX_REFUSAL_BYTES = 65_536;

export const refusalText = async (response: FetchResponse, signal: AbortSignal): Promise<string> => {
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
    if (signal.aborted) throw error;
  }
  return unpacked(Buffer.concat(pieces), response.headers['content-encoding']).toString('utf8', 0, MAX_REFUSAL_BYTES);
};

/** What cannot be unpacked stays as it is. */
const unpacked = (bytes: Buffer, encoding: string | undefined): Buffer => {
  try {
    if (encoding === 'br') return brotliDecompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength: 64 * MAX_REFUSAL_BYTES });
    return bytes[0] === 0x1f && bytes[1] === 0x8b ? unzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * MAX_REFUSAL_BYTES }) : bytes;
  } catch {
    return bytes;
  }
};
